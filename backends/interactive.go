package backends

import (
	"fmt"
	"os"
	"os/exec"
)

// Interactive is an agent's own terminal interface, run in the user's terminal.
type Interactive struct {
	Backend Backend
	Argv    []string // the program's path, and its arguments
	Dir     string   // working directory
	Scope   *Scope   // the agent's processes and files go with it
}

// InteractiveExit is how a session ended.
type InteractiveExit struct {
	Code     int    // exit code; -1 when a signal ended the agent
	Signal   string // the signal's name, or ""
	Number   int    // the signal's number, or 0
	Survivor error  // non-nil: something could not be ended
}

// command is the agent's process, not yet connected to a terminal.
func (i Interactive) command() *exec.Cmd {
	backend := i.Backend
	backend.PTY = false // TERM is the user's
	i.Scope.keepCaches(backend.Kept)
	cmd := exec.Command(i.Argv[0], i.Argv[1:]...)
	cmd.Dir = i.Dir
	cmd.Env = append(environ(os.Environ(), Spec{Backend: backend, Scope: i.Scope, Dir: i.Dir}), "PWD="+i.Dir)
	return cmd
}

func (i Interactive) failed(err error) error {
	return fmt.Errorf("starting %s in the terminal: %w", i.Backend.Name, err)
}

// leaveModes undoes what an agent that was killed had set in the terminal: the other screen, mouse reports, pasted
// text in brackets, key reports, a hidden cursor, colours. Other modes stay as they are.
const leaveModes = "\x1b[?1047l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l" +
	"\x1b[?2026l\x1b[<u\x1b[>4;0m\x1b[?25h\x1b[0m\r\n"
