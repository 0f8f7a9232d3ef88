package backends

import (
	"os"
	"path/filepath"
	"strings"
)

// Program describes a program of the user's own that is no agent: it gets nothing
// to read, and what it prints has no meaning here (Spec.Raw). A relative path
// starts from dir.
func Program(argv []string, dir string) Backend {
	command := argv[0]
	if strings.ContainsAny(command, `/\`) && !filepath.IsAbs(command) {
		command = filepath.Join(dir, command)
	}
	return Backend{
		Name: argv[0], Command: command, Args: argv[1:], Prompt: PromptStdin, Transport: TransportPipes,
		Stop: []os.Signal{terminate}, Install: "install it, or check its name and PATH",
	}
}
