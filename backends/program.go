package backends

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// Program describes a program of the user's own that is no agent: it gets nothing
// to read, and what it prints has no meaning here: Spec.Raw has it, or Spec.Record
// what is on stdout alone. A relative path starts from dir.
func Program(argv []string, dir string) Backend {
	command := argv[0]
	if strings.ContainsAny(command, `/\`) && !filepath.IsAbs(command) {
		command = filepath.Join(dir, command)
	}
	return Backend{
		Name: argv[0], Command: command, Args: argv[1:], Prompt: PromptStdin, Output: decode.FormatText,
		Install: "install it, or check its name and PATH",
	}
}

// shimTarget is what a batch file runs that npm makes for a program: a file, relative to its folder.
// "" for any other batch file.
func shimTarget(text string) string {
	before, _, found := cutLast(text, `" %*`)
	_, target, quoted := cutLast(before, `"`)
	for _, folder := range []string{`%dp0%\`, `%~dp0\`, `%~dp0`} {
		if rest, ok := strings.CutPrefix(target, folder); ok && found && quoted {
			return rest
		}
	}
	return ""
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// commandLine is how the text is given to cmd that its options announce: it takes all
// between the outer quotes as it is typed. Escaped as other programs read their
// arguments, it would keep the backslashes. "" for any other program.
func commandLine(argv []string) string {
	if len(argv) != 5 || !slices.Equal(argv[1:4], []string{"/d", "/s", "/c"}) {
		return ""
	}
	return `"` + argv[0] + `" /d /s /c "` + argv[4] + `"`
}
