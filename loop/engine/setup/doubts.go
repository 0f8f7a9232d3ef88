package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Doubts are what the user wants of a loop with this configuration and can't have, or
// not yet, as far as that is known before it begins.
func (c Config) Doubts() (doubts []string) {
	if yet, err := c.Verification.Check.Find(c.Folder); yet != "" && err == nil && !c.SetUp {
		doubts = append(doubts, loop.OneLine(fmt.Sprintf("%s, which verifies, isn't in the folder or can't be executed: until "+
			"it can, no promise is verified", yet)))
	}
	if names := c.uncounted(); (c.Limits.MaxCostUSD > 0 || c.Budget.Limits.IsSet()) && len(names) > 0 {
		verb := "doesn't"
		if len(names) > 1 {
			verb = "don't"
		}
		what := "the cost cap"
		if c.Limits.MaxCostUSD == 0 {
			what = "your budget"
		}
		doubts = append(doubts, loop.OneLine(fmt.Sprintf("%s %s tell what a run costs, so %s can't be enforced",
			strings.Join(names, ", "), verb, what)))
	}
	if p, err := c.ReadPlan(); c.Values.Plan != "" && err == nil {
		faults := p.Faults()
		for _, fault := range faults[:min(len(faults), 5)] {
			doubts = append(doubts, loop.OneLine(fmt.Sprintf("the loop can't do all of its plan: %v", fault)))
		}
	}
	if c.Limits.MaxUnchanged > 0 && !c.SetUp && (c.Storage.Changes.Keep == 0 || c.Storage.Changes.Check() != nil) {
		if _, err := changes.Look(c.Folder, c.Storage.Changes, nil); err != nil {
			limit, _ := limits.ByName(limits.Progress)
			doubts = append(doubts, loop.OneLine(fmt.Sprintf("the limit of %s can't be kept: %v", limit.Words(c.Limits), err)))
		}
	}
	if open := sandbox.OpenSockets(c.Sandbox); open != "" {
		doubts = append(doubts, open)
	}
	return doubts
}

// uncounted are the agents of the loop of which it is known that they don't tell what they cost.
func (c Config) uncounted() (names []string) {
	add := func(b backends.Backend) {
		name := filepath.Base(b.Name)
		if b.Name != "" && !b.HasCost() && !slices.Contains(names, name) { // a start without an agent has other trouble
			names = append(names, name)
		}
	}
	if len(c.Roles.Steps) == 0 && !c.Roles.HatsEmit() {
		add(c.Backend)
	}
	for _, r := range c.Others() {
		add(r.Backend)
	}
	return names
}
