package start

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loop/agents"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// maxInstructions bounds what a hat's file may tell an agent, in bytes.
const maxInstructions = 64 << 10

// base returns the loop's own agent, which runs hats that name none. If nobody names one and each hat has its own, it is the
// first hat's.
func (r Resolver) base(ctx context.Context) (chosen, error) {
	own, named := r.Settings.Hats, r.Start.Over(r.Editor).Agent
	if ring := r.Settings.HatSet(); ring.Emits() && named.Name == "" && named.Hat == "" && r.Settings.Backend == config.Auto &&
		!slices.ContainsFunc(ring, func(h hats.Hat) bool { return own[h.Name].Backend == "" && own[h.Name].Command == "" }) {
		queue := hats.NewQueue()
		first, _, _ := ring.Next(&queue)
		agent, err := r.catalog().wear(ctx, first.Hat.Name, "")
		agent.hat = ""
		return agent, err
	}
	return r.catalog().choose(ctx, r.Start.Agent, r.Editor.Agent)
}

// assignment is a hat or an agent of a file that does a part of the loop's work.
type assignment struct {
	hats.Hat
	chosen              // what runs it
	file   agents.Agent // that describes it; the zero value for a hat of ralph.toml
	task   string
}

// role makes a setup.Role of an assignment. own are the user's arguments: they count only for agents of the base's backend.
func (r Resolver) role(s assignment, base chosen, own []string) (setup.Role, error) {
	isBases := s.backend.Name == base.backend.Name
	if !isBases {
		own = nil
	}
	args := onlyReading(s.Hat, s.backend, slices.Concat(s.args, own))
	if s.file.Name != "" {
		its, err := s.file.Args(s.backend, agents.Orders{ReadOnly: s.ReadOnly, NoModel: isBases && r.Start.Agent.Model != ""})
		if err != nil {
			return setup.Role{}, err
		}
		args = slices.Concat(s.args, its, own)
	}
	return setup.Role{Hat: s.Hat, Task: s.task, Backend: s.backend, Args: args}, nil
}

// Reviewer is the hat that a check names; the zero value for none.
//
// Errors: *UnknownHatError, and those of its backend.
func (r Resolver) Reviewer(ctx context.Context, check verify.Check) (setup.Role, error) {
	if !check.Has(verify.ReviewerGate) {
		return setup.Role{}, nil
	}
	agent, err := r.catalog().wear(ctx, check.Reviewer, "")
	if err != nil {
		return setup.Role{}, fmt.Errorf("the reviewer: %w", err)
	}
	hat := r.Settings.Hats[check.Reviewer].Hat
	hat.ReadOnly = false // what it may run to review, its arguments say
	return r.hatOn(hat, agent, agent, nil)
}

// hatOn is the role of a hat on its agent.
func (r Resolver) hatOn(h hats.Hat, on, base chosen, own []string) (made setup.Role, err error) {
	if h.Instructions, err = instructionsOf(r.Settings.Hats[h.Name]); err != nil {
		return made, err
	}
	return r.role(assignment{Hat: h, chosen: on}, base, own)
}

// hats are the roles of the hats that hand work over to each other, or of the one that a start
// chose. A hat that names no backend wears base.
func (r Resolver) hats(ctx context.Context, base chosen, own []string) (roles []setup.Role, err error) {
	ring := r.Settings.HatSet()
	if hat, ok := ring.Hat(base.hat); ok {
		hat.Triggers = nil // it was called by its name
		ring = hats.Set{hat}
	} else if !ring.Emits() {
		return nil, nil
	}
	for _, p := range ring.Check() {
		if p.Fatal {
			return nil, fmt.Errorf("the hats of ralph.toml: %s", p.Message)
		}
	}
	for _, h := range ring {
		if r.Settings.Source("iteration.parallel_at_once") != config.FromDefault {
			h.Concurrency = min(h.Concurrency, r.Settings.AtOnce)
		}
		on, named := base, r.Settings.Hats[h.Name]
		if h.Name != base.hat && (named.Backend != "" || named.Command != "") {
			if on, err = r.catalog().wear(ctx, h.Name, ""); err != nil {
				return nil, fmt.Errorf("the hat %s: %w", h.Name, err)
			}
		}
		role, err := r.hatOn(h, on, base, own)
		if err != nil {
			return nil, err
		}
		roles = append(roles, role)
	}
	return roles, nil
}

// onlyReading adds to an agent's arguments those with which it can change nothing, where
// its hat wants that and they don't say themselves what it can do.
func onlyReading(h hats.Hat, b backends.Backend, args []string) []string {
	more, err := b.ReadOnlyArgs(nil)
	if !h.ReadOnly || err != nil || len(more) == 0 || backends.HasFlag(args, more[0]) {
		return args
	}
	return slices.Concat(args, more)
}

// instructionsOf is what a hat tells its agent.
func instructionsOf(h config.Hat) (string, error) {
	if h.InstructionsFile == "" {
		return h.Instructions, nil
	}
	data, err := regular.Read(h.InstructionsFile, maxInstructions)
	if err != nil {
		return "", fmt.Errorf("the instructions of the hat %s: %w", h.Name, err)
	}
	return string(data), nil
}
