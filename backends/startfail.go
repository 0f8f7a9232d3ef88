package backends

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// checkArgs finds arguments that the system would refuse with only "invalid argument".
func checkArgs(args []string) error {
	for _, arg := range args {
		if i := strings.IndexByte(arg, 0); i >= 0 {
			return fmt.Errorf("the argument %.40q has a NUL byte (at byte %d), which no argument can have: take it out", arg, i)
		}
	}
	return nil
}

// startProblem says what kept a command from starting. The system has the same
// error for a program that isn't there and for one that needs another that isn't.
func startProblem(cmd *exec.Cmd, err error) error {
	notFound := errors.Is(err, fs.ErrNotExist)
	if _, dirErr := os.Stat(cmd.Dir); notFound && cmd.Dir != "" && errors.Is(dirErr, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s to start it in: make it, or choose another", cmd.Dir)
	}
	if _, fileErr := os.Stat(cmd.Path); fileErr != nil {
		return err
	}
	interpreter := interpreterOf(cmd.Path)
	_, missing := os.Stat(interpreter)
	switch {
	case notFound && strings.HasSuffix(interpreter, "\r"):
		return fmt.Errorf("the first line of %s ends with CR LF, and no interpreter is called %q: save the file with line ends "+
			"of LF", cmd.Path, interpreter)
	case notFound && interpreter != "" && missing != nil:
		return fmt.Errorf("the interpreter of %s is missing: its first line names %s, which doesn't exist; install that, or "+
			"correct the line", cmd.Path, interpreter)
	case notFound:
		return fmt.Errorf("%s needs a program that is missing here (the loader that it was built for, or the interpreter of "+
			"its interpreter): install what fits this system", cmd.Path)
	case errors.Is(err, syscall.ENOEXEC) && interpreter == "":
		return fmt.Errorf("%s isn't a program that this system can run; a script needs a first line like #!/bin/sh", cmd.Path)
	}
	return err
}

// interpreterOf is the program that the first line of a script names, or "".
func interpreterOf(path string) string {
	const kernelReads = 256 // bytes
	head, err := regular.Head(path, kernelReads)
	line, isScript := bytes.CutPrefix(head, []byte("#!"))
	if err != nil || !isScript {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	interpreter, _, _ := strings.Cut(strings.Trim(string(line), " \t"), " ")
	interpreter, _, _ = strings.Cut(interpreter, "\t")
	return interpreter
}
