package engine

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// roleRun is one run of a role.
type roleRun struct {
	setup.Role
	below  string // the call under which its work is shown; "": it is the iteration's own
	as     string // its name where it asks the user something; "": the loop's own
	record string // how the file of what it prints is called; "": it isn't kept
	backends.Spec
	watch func(progress.Agent) backends.Exit // waits for its end
}

// play starts a role and returns when it is over. An error means that it could not be started.
func (l *runs) play(r roleRun) (exit backends.Exit, err error) {
	spec := r.Spec
	spec.Backend, spec.Args, spec.Dir, spec.Rest, spec.Ask = r.Role.Backend, r.Role.Args, l.cfg.Folder, l.rest, l.desk.For(r.below, r.as)
	if r.record != "" {
		file, err := l.recordFile(r.record)
		if err != nil {
			return exit, fmt.Errorf("recording: %w", err)
		}
		if file != nil {
			defer file.Close()
			spec.Record = file
		}
	}
	agent, err := l.start(spec)
	if err != nil {
		return exit, err
	}
	exit = r.watch(agent)
	l.desk.End(r.below) // nobody is left to hear the answer
	exit.Result.Denials = l.desk.WithoutDenied(exit.Result.Denials)
	return exit, nil
}
