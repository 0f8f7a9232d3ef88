package executor

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// A cost cap is looked at after each answer of a model. Several agents may each have one under way, so the price of
// the dearest answer so far is reserved for each of the others: together they go beyond the cap by one answer, as one
// agent does.

// firstAnswer is how long other agents wait for the first answer, which tells what one costs.
const firstAnswer = 2 * time.Minute

// money is what may be spent, in US dollars; +Inf for no limit.
func (c *Execution) money() float64 { return c.x.State.Left() }

// outOf says which limit of money is reached if so many US dollars more are spent, "" for none.
func (c *Execution) outOf(reserved float64) loop.StopReason { return c.x.State.OutOf(reserved) }

// awaitRoom waits until an agent may begin beside the others, and the cap has room for an answer of m and of each
// other one. While the price of an answer is unknown, it waits for the first answer, up to a bound.
func (c *Execution) awaitRoom(m *agentRun) {
	room, isCapped := cmp.Or(c.Config.Roles.AtOnce, setup.MaxAtOnce), !math.IsInf(c.money(), 1) && m.role.Backend.HasCost()
	var late time.Time // for the first answer
	c.serve(func() (hasRoom bool, due time.Time) {
		switch {
		case c.isEnding():
			return true, due
		case c.atWork() >= room:
			return false, due
		case !isCapped || len(c.owing) == 0:
			return true, due
		case !c.isKnown && late.IsZero():
			late = time.Now().Add(firstAnswer)
		}
		if c.isKnown = c.isKnown || !time.Now().Before(late); !c.isKnown {
			return false, late
		}
		return c.outOf(c.reserved(m)) == "", due
	})
}

// reserved is what the answers of the others than m may cost that are under way.
func (c *Execution) reserved(m *agentRun) float64 {
	n := len(c.owing)
	if c.owing[m] {
		n--
	}
	return float64(n) * c.most
}

// answered takes note of an answer of m's, by what m has cost so far. goesOn: another one follows.
func (c *Execution) answered(m *agentRun, goesOn bool) {
	usd := m.usage.Cost.USD
	c.isKnown = true
	c.most = c.x.State.Answered(usd - m.paid)
	if m.paid = usd; !goesOn {
		delete(c.owing, m)
	}
}

// budgetOf is what m may spend, as agents are told that count it themselves: +Inf for no limit.
func (c *Execution) budgetOf(m *agentRun) float64 { return max(c.money()-c.reserved(m), 0) }

// runsShort returns the limit of money that leaves no room for another answer of m beside the others, "" for none. m
// owes nothing then.
func (c *Execution) runsShort(m *agentRun) (why loop.StopReason, text string) {
	reserved := c.reserved(m)
	if reserved == 0 {
		return "", ""
	}
	if why = c.outOf(reserved); why == "" {
		return "", ""
	}
	delete(c.owing, m)
	return why, fmt.Sprintf("%s are left, and an answer has cost up to %s: too little for another one beside %s under way",
		format.USD(c.money()), format.USD(c.most), format.Counted(int(math.Round(reserved/c.most)), "answer"))
}

// lookAtCap ends what goes on although the money is spent: all of them, or m where that is enough.
func (m *agentRun) lookAtCap() {
	c := m.of
	if !m.goesOn {
		return
	}
	if c.outOf(0) != "" {
		c.x.Inbox.Wake()
		return
	}
	why, text := c.runsShort(m)
	if why == "" {
		return
	}
	isFirst := m.lack == "" && c.short == ""
	m.lack = text
	if c.Apart == nil { // a step isn't whole without it
		c.short = why
	}
	switch {
	case !isFirst:
	case c.Apart == nil:
		c.x.warn(text)
		c.Stop(backends.Grace)
	case m.agent != nil:
		m.agent.Stop(backends.Grace)
	}
}
