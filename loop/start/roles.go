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
	"github.com/ralph-lsp/ralph-lsp/loop"
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

// roles are the hats that hand work over to each other, each with its agent, or the
// one that a start chose. A hat that names no backend wears base.
func (r Resolver) roles(ctx context.Context, base chosen) ([]loop.Role, error) {
	if own, ok := r.Settings.Hats[base.hat]; ok {
		own.Triggers = nil // it was called by its name
		text, err := instructionsOf(own)
		own.Instructions = text
		args := slices.Concat(base.args, r.Editor.Agent.Args, r.Start.Agent.Args)
		return []loop.Role{{Hat: own.Hat, Backend: base.backend, Args: onlyReading(own.Hat, base.backend, args)}}, err
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
	roles := make([]loop.Role, len(ring))
	for i, h := range ring {
		own := r.Settings.Hats[h.Name]
		agent := base
		if own.Backend != "" || own.Command != "" {
			var err error
			if agent, err = r.chooser().wear(ctx, h.Name, ""); err != nil {
				return nil, fmt.Errorf("the hat %s: %w", h.Name, err)
			}
		}
		var err error
		if h.Instructions, err = instructionsOf(own); err != nil {
			return nil, err
		}
		roles[i] = loop.Role{Hat: h, Backend: agent.backend, Args: agent.args}
		if agent.backend.Name == base.backend.Name { // arguments are an agent's, not a hat's
			roles[i].Args = slices.Concat(agent.args, r.Editor.Agent.Args, r.Start.Agent.Args)
		}
		roles[i].Args = onlyReading(h, agent.backend, roles[i].Args)
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
