package loop

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// HatCost is what the runs of a hat have cost, where hats hand over.
type HatCost struct {
	Hat        string
	Runs       int         // that ended well
	Cost       stream.Cost // of all its runs
	Incomplete bool        // that of some is unknown
}

// hatCosts are what the hats have cost so far, in the order in which they first did.
// Nothing in one is changed in place: copies of progress share it.
type HatCosts []HatCost

func (h HatCosts) find(hat string) HatCost {
	if i := slices.IndexFunc(h, func(c HatCost) bool { return c.Hat == hat }); i >= 0 {
		return h[i]
	}
	return HatCost{Hat: hat}
}

// with returns the costs with those of a hat instead of what they have for it.
func (h HatCosts) with(cost HatCost) HatCosts {
	h = slices.Clone(h)
	if i := slices.IndexFunc(h, func(c HatCost) bool { return c.Hat == cost.Hat }); i >= 0 {
		h[i] = cost
		return h
	}
	return append(h, cost)
}

// plus adds what a run of a hat has cost; no hat is "".
func (h HatCosts) Plus(hat string, cost stream.Cost, unknown bool) HatCosts {
	if hat == "" || !cost.Known && !unknown {
		return h
	}
	sum := h.find(hat)
	sum.Cost, sum.Incomplete = sum.Cost.Plus(cost), sum.Incomplete || unknown
	return h.with(sum)
}

// texts are the costs as the state file has them: "builder 1.2", "builder 1.2+" where
// that of some runs is unknown, "builder ?" where that of all is.
func (h HatCosts) Texts() (texts []string) {
	for _, c := range h {
		amount := "?"
		if c.Cost.Known {
			amount = limits.FormatUSD(math.Round(max(c.Cost.USD, 0)*1e6) / 1e6)
			if c.Incomplete {
				amount += "+"
			}
		}
		texts = append(texts, c.Hat+" "+amount)
	}
	return texts
}

// hatCostsOf reads what texts writes. What can't be read counts for nothing.
func HatCostsOf(texts []string) (h HatCosts) {
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) != 2 {
			continue
		}
		c := HatCost{Hat: words[0], Incomplete: words[1] == "?" || strings.HasSuffix(words[1], "+")}
		usd, err := limits.ParseUSD(strings.TrimSuffix(words[1], "+"))
		if err != nil && words[1] != "?" {
			continue
		}
		if err == nil {
			c.Cost = stream.USD(usd)
		}
		h = h.with(c)
	}
	return h
}

// hatsOf are the hats of a loop as its status has them.
func HatsOf(costs HatCosts, s loopstate.State) []HatCost {
	hats := slices.Clone(costs)
	for _, text := range s.HatRuns {
		name, count, _ := strings.Cut(text, " ")
		if runs, err := strconv.Atoi(strings.TrimSpace(count)); err == nil && runs > 0 {
			c := hats.find(name)
			c.Runs = runs
			hats = hats.with(c)
		}
	}
	return hats
}
