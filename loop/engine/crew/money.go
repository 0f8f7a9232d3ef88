package crew

import (
	"fmt"
	"math"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// A cost cap is looked at after each answer of a model. Of several agents each may have one under
// way, so for those of the others is reserved what an answer has cost at most so far: together
// they go beyond the cap by one answer, as one agent does.

// firstAnswer is how long other agents wait for the first answer, which tells what one costs.
const firstAnswer = 2 * time.Minute

// awaitRoom waits until the cap has room for an answer of m's, beside those of the others. While nobody
// knows what an answer costs, it waits for the first one, as far as that doesn't take too long.
func (c *Crew) awaitRoom(m *member) {
	isCapped := !math.IsInf(c.Money(), 1) && m.role.Backend.HasCost()
	c.paying.Lock()
	defer c.paying.Unlock()
	if isCapped && len(c.owing) > 0 && !c.isKnown {
		late := time.AfterFunc(firstAnswer, func() {
			c.paying.Lock()
			defer c.paying.Unlock()
			c.isKnown = true
			c.paid.Broadcast()
		})
		defer late.Stop()
	}
	for isCapped && len(c.owing) > 0 && !c.isEnding() && (!c.isKnown || c.OutOf(c.reserved(m)) != "") {
		c.paid.Wait()
	}
	c.owing[m] = true
}

// reserved is what the answers of the others than m may cost that are under way. The caller holds paying.
func (c *Crew) reserved(m *member) float64 {
	n := len(c.owing)
	if c.owing[m] {
		n--
	}
	return float64(n) * c.most
}

// answered takes note of an answer of m's, by what m has cost so far. goesOn: another one follows.
func (c *Crew) answered(m *member, usd float64, goesOn bool) {
	c.paying.Lock()
	defer c.paying.Unlock()
	c.isKnown, c.most = true, c.Answered(usd-m.paid)
	if m.paid = usd; !goesOn {
		delete(c.owing, m)
	}
	c.paid.Broadcast()
}

// settle is answered for an agent that is over, whatever became of it.
func (c *Crew) settle(m *member) {
	c.counting.Lock()
	usd := c.usages[m].Cost.USD
	c.counting.Unlock()
	c.answered(m, usd, false)
}

// stir has whoever waits for room look again.
func (c *Crew) stir() {
	c.paying.Lock()
	defer c.paying.Unlock()
	c.paid.Broadcast()
}

// budgetOf is what m may spend, as agents are told that count it themselves: +Inf for no limit.
func (c *Crew) budgetOf(m *member) float64 {
	c.paying.Lock()
	defer c.paying.Unlock()
	return max(c.Money()-c.reserved(m), 0)
}

// runsShort says which limit of money leaves no room for another answer of m's beside those of the others, "" for none.
// m owes nothing then.
func (c *Crew) runsShort(m *member) (why loop.StopReason, text string) {
	c.paying.Lock()
	defer c.paying.Unlock()
	reserved := c.reserved(m)
	if reserved == 0 {
		return "", ""
	}
	if why = c.OutOf(reserved); why == "" {
		return "", ""
	}
	delete(c.owing, m)
	c.paid.Broadcast()
	return why, fmt.Sprintf("%s are left, and an answer has cost up to %s: too little for another one beside %s under way",
		tell.USD(c.Money()), tell.USD(c.most), tell.Counted(int(math.Round(reserved/c.most)), "answer"))
}

// lookAtCap ends what goes on although the money is spent: all of them, or m where that is enough.
func (m *member) lookAtCap() {
	c := m.crew
	if !m.goesOn {
		return
	}
	if c.OutOf(0) != "" {
		c.Poke()
		return
	}
	why, text := c.runsShort(m)
	if why == "" {
		return
	}
	c.mu.Lock()
	isFirst := m.lack == "" && c.short == ""
	m.lack = text
	if c.Apart == nil { // a step isn't whole without it
		c.short = why
	}
	agent := m.agent
	c.mu.Unlock()
	switch {
	case !isFirst:
	case c.Apart == nil:
		c.Warn(text)
		c.Stop(backends.Grace)
	case agent != nil:
		agent.Stop(backends.Grace)
	}
}
