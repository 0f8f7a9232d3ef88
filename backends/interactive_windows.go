package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"

	"errors"
	"os"
	"os/exec"
)

// Run runs the session to its end, in this process's console: there is no
// pseudo-terminal to be had.
func (i Interactive) Run(_, _ *os.File) (InteractiveExit, error) {
	cmd := i.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	agent, err := i.Scope.start(cmd, sandbox.Run{Agent: i.Backend.inside()}, false)
	if err != nil {
		return InteractiveExit{}, i.failed(err)
	}
	<-agent.exited
	_, survivor := agent.sweep(strayGrace) // its remaining processes
	agent.settle()
	status, _ := agent.status()
	return InteractiveExit{Code: status.ExitStatus(), Survivor: survivor}, nil
}

// takeSeat is for systems whose terminals have jobs.
func takeSeat(*exec.Cmd) (*child, error) { return nil, errors.ErrUnsupported }
