package backends

import "os"

// Run runs the session to its end, in this process's console: there is no
// pseudo-terminal to be had.
func (p Plan) Run(_, _ *os.File) (PlanExit, error) {
	cmd := p.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := startRegistered(cmd); err != nil {
		return PlanExit{}, p.failed(err)
	}
	cmd.Wait()
	forget(cmd.Process.Pid)
	return PlanExit{Code: cmd.ProcessState.ExitCode()}, nil
}

// SeatMain does nothing: a console has no jobs.
func SeatMain([]string) {}
