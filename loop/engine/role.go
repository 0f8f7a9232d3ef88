package engine

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/crew"
)

// play starts a role and returns when it is over. An error means that it could not be started.
func (l *runs) play(r crew.Part) (exit backends.Exit, err error) {
	spec := r.Spec
	spec.Backend, spec.Args, spec.Dir, spec.Rest, spec.Ask = r.Role.Backend, r.Role.Args, l.cfg.Folder, l.rest, l.desk.For(r.Below, r.As)
	if r.Record != "" {
		file, err := l.recordFile(r.Record)
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
	exit = r.Watch(agent)
	l.desk.End(r.Below) // nobody is left to hear the answer
	exit.Result.Denials = l.desk.WithoutDenied(exit.Result.Denials)
	return exit, nil
}
