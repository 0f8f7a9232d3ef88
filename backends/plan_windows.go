package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"

	"errors"
	"os"
	"os/exec"
)

// Run runs the session to its end, in this process's console: there is no
// pseudo-terminal to be had.
func (p Plan) Run(_, _ *os.File) (PlanExit, error) {
	cmd := p.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	agent, err := p.Scope.start(cmd, sandbox.Run{Agent: p.Backend.inside()}, false)
	if err != nil {
		return PlanExit{}, p.failed(err)
	}
	<-agent.exited
	_, survivor := agent.sweep(strayGrace) // what it left behind
	agent.settle()
	status, _ := agent.status()
	return PlanExit{Code: status.ExitStatus(), Survivor: survivor}, nil
}

// takeSeat is for systems whose terminals have jobs.
func takeSeat(*exec.Cmd) (*child, error) { return nil, errors.ErrUnsupported }
