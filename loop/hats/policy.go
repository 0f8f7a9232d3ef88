package hats

import (
	"fmt"
	"slices"
	"strings"
)

// Policy is what hats that hand over want of a loop: whose run comes next, and what keeps a promise from counting. Where
// none hands over, its zero value, it wants nothing. It is for one goroutine.
type Policy struct {
	Hats      Set
	Required  []string // topics without which no promise counts
	Published []Seen   // by this loop's hats; the stored part may be anybody's
}

// queue is the one that is stored, with the topics that can't be any left out, each with why.
func (p *Policy) queue(stored Queue) (Queue, []string) {
	q, problems := stored.Checked()
	q.Seen = slices.Clone(p.Published)
	return q, problems
}

// Before says why no hat may run; "" when one may.
func (p *Policy) Before(stored Queue) string {
	if p.Hats == nil {
		return ""
	}
	q, _ := p.queue(stored)
	if _, warnings, ok := p.Hats.Next(&q); !ok {
		return "no hat is left that may run: " + strings.Join(warnings, "; ")
	}
	return ""
}

// Take takes the turn of the coming run out of the queue, and warns of what is in it.
func (p *Policy) Take(stored Queue) (left Queue, turn Turn, warnings []string) {
	left, problems := p.queue(stored)
	turn, warnings, _ = p.Hats.Next(&left)
	for _, why := range problems {
		warnings = append(warnings, why+"; it is left out")
	}
	return left, turn, warnings
}

// After counts how many topics are handed over that runs of a hat published.
func (p *Policy) After(stored Queue, h Hat, runs []Ended) int {
	if p.Hats == nil {
		return 0
	}
	q, _ := p.queue(stored)
	published := slices.DeleteFunc(slices.Clone(runs), func(run Ended) bool { return len(run.Published) == 0 })
	handed, _ := p.Hats.Done(&q, h, published...)
	return len(handed)
}

// Settled is what runs of a hat came to.
type Settled struct {
	Queue    // as it is to be stored
	Handed   []Topic
	Warnings []string
	NotYet   string // why their promise doesn't count; "" when it does
}

// Settle puts what runs of a hat published into the queue. Stored says that this is stored.
func (p *Policy) Settle(stored Queue, h Hat, runs []Ended) (s Settled) {
	s.Queue, _ = p.queue(stored)
	s.Handed, s.Warnings = p.Hats.Done(&s.Queue, h, runs...)
	s.NotYet = p.Hats.NotYet(h, s.Missing(p.Required), runs)
	return s
}

// Stored takes down whether what was settled is stored. Where it isn't, the next turn is this hat's again, and what it
// published is unknown.
func (p *Policy) Stored(s *Settled, h Hat, runs []Ended, failed error) {
	if failed == nil {
		p.Published = s.Seen
		return
	}
	*s = Settled{NotYet: p.Hats.NotYet(h, nil, runs)}
	if s.NotYet == "" && len(p.Required) > 0 {
		s.NotYet = fmt.Sprintf("%s says that all is done, but the topics that it published can't be read: %v", h.Name, failed)
	}
}
