package start

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// maxInstructions bounds what a hat's file may tell an agent, in bytes.
const maxInstructions = 64 << 10

// base returns the agent of a loop, which hats wear that name none. Where nobody names
// one and each hat has its own, it is that of the first hat.
func (r Resolver) base(ctx context.Context) (chosen, error) {
	own, named := r.Settings.Hats, r.Start.Over(r.Editor).Agent
	if ring := r.Settings.Ring(); ring.HandsOver() && named.Name == "" && named.Hat == "" && r.Settings.Backend == config.Auto &&
		!slices.ContainsFunc(ring, func(h hats.Hat) bool { return own[h.Name].Backend == "" && own[h.Name].Command == "" }) {
		queue := hats.NewQueue()
		first, _, _ := ring.Next(&queue)
		agent, err := r.chooser().wear(ctx, first.Hat.Name, "")
		agent.hat = ""
		return agent, err
	}
	return r.chooser().choose(ctx, r.Start.Agent, r.Editor.Agent)
}

// role is a hat on its agent. own are arguments of the user's, behind the agent's.
func role(h config.Hat, on chosen, own ...string) (made engine.Role, err error) {
	if h.Instructions, err = instructionsOf(h); err != nil {
		return made, err
	}
	return engine.Role{Hat: h.Hat, Backend: on.backend, Args: onlyReading(h.Hat, on.backend, slices.Concat(on.args, own))}, nil
}

// Reviewer is the hat that a check names; the zero value for none.
//
// Errors: *UnknownHatError, and those of its backend.
func (r Resolver) Reviewer(ctx context.Context, check verify.Check) (engine.Role, error) {
	if !check.Has(verify.ReviewerGate) {
		return engine.Role{}, nil
	}
	agent, err := r.chooser().wear(ctx, check.Reviewer, "")
	if err != nil {
		return engine.Role{}, fmt.Errorf("the reviewer: %w", err)
	}
	hat := r.Settings.Hats[check.Reviewer]
	hat.ReadOnly = false // what it may run to review, its arguments say
	return role(hat, agent)
}

// roles are the hats that hand work over to each other, or the one that a start chose. A hat
// that names no backend wears base.
func (r Resolver) roles(ctx context.Context, base chosen) ([]engine.Role, error) {
	own := slices.Concat(r.Editor.Agent.Args, r.Start.Agent.Args)
	if hat, ok := r.Settings.Hats[base.hat]; ok {
		hat.Triggers = nil // it was called by its name
		alone, err := role(hat, base, own...)
		return []engine.Role{alone}, err
	}
	ring := r.Settings.Ring()
	if !ring.HandsOver() {
		return nil, nil
	}
	for _, p := range ring.Check() {
		if p.Fatal {
			return nil, fmt.Errorf("the hats of ralph.toml: %s", p.Message)
		}
	}
	roles := make([]engine.Role, len(ring))
	for i, h := range ring {
		hat, agent, args := r.Settings.Hats[h.Name], base, own
		var err error
		if hat.Backend != "" || hat.Command != "" {
			if agent, err = r.chooser().wear(ctx, h.Name, ""); err != nil {
				return nil, fmt.Errorf("the hat %s: %w", h.Name, err)
			}
		}
		if agent.backend.Name != base.backend.Name { // arguments are an agent's, not a hat's
			args = nil
		}
		if roles[i], err = role(hat, agent, args...); err != nil {
			return nil, err
		}
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
	file, err := os.Open(h.InstructionsFile)
	if err != nil {
		return "", fmt.Errorf("the instructions of the hat %s: %w", h.Name, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxInstructions+1))
	if err == nil && len(data) > maxInstructions {
		err = fmt.Errorf("%s is larger than %d KiB", h.InstructionsFile, maxInstructions>>10)
	}
	if err != nil {
		return "", fmt.Errorf("the instructions of the hat %s: %w", h.Name, err)
	}
	return string(data), nil
}
