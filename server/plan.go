package server

import (
	"context"
	"fmt"

	"ralph-lsp/loop/start"
)

// PlanParams is the argument of ralph.plan.
type PlanParams struct {
	Folder  string `json:"folder,omitempty"` // file URI
	Prompt  string `json:"prompt,omitempty"`
	Backend string `json:"backend,omitempty"`
}

// PlanResult is the command line of an agent's own terminal interface, for the
// editor's terminal.
type PlanResult struct {
	Argv []string          `json:"argv"`
	Env  map[string]string `json:"env"` // beside the editor's own
	Cwd  string            `json:"cwd"`
}

// plan tells how to talk with an agent before a loop is started.
func (m *manager) plan(ctx context.Context, p PlanParams) (any, error) {
	cwd, err := m.folderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	b, err := m.backend(ctx, start.Agent{Name: p.Backend})
	if err != nil {
		return nil, err
	}
	program, err := b.Find()
	if err != nil {
		return nil, err
	}
	if start.IsPath(b.Name) {
		return nil, failed(ReasonBackendNotFound, fmt.Errorf("%s has no interface of its own that is known here", b.Name), nil)
	}
	argv := append([]string{program}, b.InteractiveArgs...)
	if p.Prompt != "" {
		argv = append(argv, p.Prompt)
	}
	return PlanResult{Argv: argv, Env: map[string]string{}, Cwd: cwd}, nil
}
