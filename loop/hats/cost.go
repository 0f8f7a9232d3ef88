package hats

import (
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Cost is the cost of all runs of a hat, where hats hand over.
type Cost struct {
	Hat        string      `json:"hat"`
	Runs       int         `json:"runs,omitempty"`      // that ended well
	Cost       stream.Cost `json:"costUsd,omitzero"`    // of all its runs
	Incomplete bool        `json:"estimated,omitempty"` // the cost of some is unknown
}

// Costs are what the hats have cost so far, in the order in which they first did.
// Nothing in one is changed in place: copies of it share it.
type Costs []Cost

// change returns the costs with another one for a hat.
func (c Costs) change(hat string, change func(*Cost)) Costs {
	c = slices.Clone(c)
	i := slices.IndexFunc(c, func(c Cost) bool { return c.Hat == hat })
	if i < 0 {
		i, c = len(c), append(c, Cost{Hat: hat})
	}
	change(&c[i])
	return c
}

// Plus adds what a run of a hat has cost; no hat is "".
func (c Costs) Plus(hat string, cost stream.Cost, unknown bool) Costs {
	if hat == "" || !cost.Known && !unknown {
		return c
	}
	return c.change(hat, func(sum *Cost) {
		sum.Cost, sum.Incomplete = sum.Cost.Plus(cost), sum.Incomplete || unknown
	})
}

// WithRuns are the costs with how often each hat has run.
func (c Costs) WithRuns(runs map[string]int) Costs {
	for _, hat := range slices.Sorted(maps.Keys(runs)) {
		c = c.change(hat, func(of *Cost) { of.Runs = runs[hat] })
	}
	return c
}
