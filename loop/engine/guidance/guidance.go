// Package guidance is the talk between a loop's user and its agents: what the user has said, which agent
// is told what of it, and what of that has been read.
//
// A piece is queued until an agent has read it, or until a run begins that is given it (Give). To agents
// that can be talked to it is handed while they work (Address, Handed); what none has read when their
// run is over stays in the queue, for the next. What a run was given or has read is told again when
// that run doesn't count, so it is kept until one does (Enter, Counted).
//
// A Talk speaks to nobody and keeps nothing itself. Its loop guards it, as that changes it together with
// what else it knows.
package guidance

import (
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Talker is an agent that may be told something while it works (*backends.Process).
// None of it waits for the agent.
type Talker interface {
	Steer(name, text string) bool
	TakeBack()
}

// Partner is one of the agents that work and can be talked to. Whoever guards the Talk guards it.
type Partner struct {
	Talker
	Fulfils  func(text string) bool // whether a message of its says that all is done; nil: none does
	promised bool                   // its last message does; then it is told nothing more
}

// Fulfils says of a message whether it is what an agent has to say.
func Fulfils(wanted promises.Completion) func(text string) bool {
	return func(text string) bool { return wanted.Judge(stream.Result{Text: text}).Matched }
}

// Talk is that of a loop. Its zero value is that of one that begins.
type Talk struct {
	queued []loop.Guidance // not yet delivered, in the order of the state file
	given  []loop.Guidance // what the run was told; told again if it doesn't count
	count  int             // pieces so far, for their ids

	partners []*Partner
	told     []told
	heard    []loop.Guidance // and not written down yet
	listened bool            // some was heard since the run began
}

// told is a piece that was handed to agents, and that none has read.
type told struct {
	loop.Guidance
	to   []*Partner // but those from whom it was taken back, and those who are gone
	sent bool       // the user knows
}

// Words are a piece on its way to an agent.
type Words struct {
	loop.Guidance
	To *Partner
}

// new gives a piece its id.
func (t *Talk) new(text string) loop.Guidance {
	t.count++
	return loop.Guidance{ID: fmt.Sprintf("g%d", t.count), Text: text, State: loop.GuidanceQueued}
}

// Queue makes the queue what the state file lists: known pieces keep their ids,
// and what the user took out is gone. It returns the new ones.
func (t *Talk) Queue(texts, next []string) (fresh []loop.Guidance) {
	texts = without(texts, t.heard)
	known := t.queued
	t.queued = nil
	for i, text := range slices.Concat(texts, next) {
		later := i >= len(texts)
		if i := slices.IndexFunc(known, func(g loop.Guidance) bool { return g.Text == text && g.Next == later }); i >= 0 {
			t.queued = append(t.queued, known[i])
			known = slices.Delete(known, i, i+1)
			continue
		}
		g := t.new(text)
		g.Next = later
		t.queued, fresh = append(t.queued, g), append(fresh, g)
	}
	return fresh
}

// Owe has the coming run given texts besides what is queued.
func (t *Talk) Owe(texts ...string) {
	for _, text := range texts {
		t.given = append(t.given, t.new(text))
	}
}

// Take takes out what is queued.
func (t *Talk) Take() (taken []loop.Guidance) {
	taken, t.queued = t.queued, nil
	return taken
}

// Give is all that a run that begins is given: what was taken for it, and what is owed.
func (t *Talk) Give(taken []loop.Guidance) []loop.Guidance {
	t.given = append(t.given, taken...)
	return slices.Clone(t.given)
}

// Counted says that the run that was given it counts.
func (t *Talk) Counted() { t.given = nil }

// TakeBack takes out of what a run is given what the user takes back.
func (t *Talk) TakeBack(is func(text string) bool) {
	t.given = slices.DeleteFunc(t.given, func(g loop.Guidance) bool { return is(g.Text) })
}

// SoFar is what the run under way was given, and what its agents have heard since.
func (t *Talk) SoFar() []loop.Guidance { return slices.Concat(t.given, t.heard) }

// ID is that of a piece that isn't done with, "" for none.
func (t *Talk) ID(text string) (id string) {
	for _, g := range slices.Concat(t.given, t.heard, t.queued) {
		if g.Text == text {
			id = g.ID
		}
	}
	return id
}

// Meet takes an agent in that works and can be told something.
func (t *Talk) Meet(p *Partner, agent Talker) {
	p.Talker, t.partners = agent, append(t.partners, p)
}

// Part is Meet's end: the agent is gone.
func (t *Talk) Part(p *Partner) {
	isIt := func(other *Partner) bool { return other == p }
	t.partners = slices.DeleteFunc(t.partners, isIt)
	t.takeBackFrom(isIt)
}

func (t *Talk) takeBackFrom(isIt func(*Partner) bool) {
	for i := range t.told {
		t.told[i].to = slices.DeleteFunc(t.told[i].to, isIt)
	}
}

// IsLive says whether some agent can be told something now.
func (t *Talk) IsLive() bool {
	return slices.ContainsFunc(t.partners, func(a *Partner) bool { return !a.promised })
}

// Address says which agent is to be told what of what is queued: each all of it that it
// hasn't been told, unless it is done.
func (t *Talk) Address() (all []Words) {
	for _, g := range t.queued {
		if g.Next {
			continue
		}
		for _, a := range t.partners {
			i := t.index(g.ID)
			if a.promised || i >= 0 && slices.Contains(t.told[i].to, a) {
				continue
			}
			if i < 0 {
				i, t.told = len(t.told), append(t.told, told{Guidance: g})
			}
			t.told[i].to = append(t.told[i].to, a)
			all = append(all, Words{g, a})
		}
	}
	return all
}

// index is the place of a piece among those that were handed over, -1 for none.
func (t *Talk) index(id string) int {
	return slices.IndexFunc(t.told, func(it told) bool { return it.ID == id })
}

// Handed takes note of whether an agent took a piece. The first that did is news.
func (t *Talk) Handed(w Words, took bool) (isNews bool) {
	i := t.index(w.ID)
	if i < 0 { // it was read already
		return false
	}
	it := &t.told[i]
	if isNews = took && !it.sent; took {
		it.sent = true
		return isNews
	}
	it.to = slices.DeleteFunc(it.to, func(a *Partner) bool { return a == w.To })
	if len(it.to) == 0 && !it.sent {
		t.told = slices.Delete(t.told, i, i+1)
	}
	return false
}

// Read takes note of what an agent has read. The first that does counts for all.
func (t *Talk) Read(id string) (g loop.Guidance, ok bool) {
	i := t.index(id)
	if i < 0 {
		return g, false
	}
	g = t.told[i].Guidance
	g.State = loop.GuidanceDelivered
	t.told = slices.Delete(t.told, i, i+1)
	t.queued = slices.DeleteFunc(t.queued, func(q loop.Guidance) bool { return q.ID == id })
	t.heard, t.listened = append(t.heard, g), true
	return g, true
}

// Message looks whether an agent says that all is done. Then what it hasn't read is to be
// taken back: it would go on to work because of that.
func (t *Talk) Message(a *Partner, text string) (isNew, goesOn bool) {
	if a == nil || a.Talker == nil || a.Fulfils == nil || text == "" {
		return false, false
	}
	was := a.promised
	if a.promised = a.Fulfils(text); !a.promised {
		return false, was
	}
	t.takeBackFrom(func(other *Partner) bool { return other == a })
	return !was, false
}

// End ends the talk with the agents of a run that is over. It returns what comes too late for
// them, whether they have heard something, and whether some of that isn't written down.
func (t *Talk) End() (late []loop.Guidance, listened, owes bool) {
	for _, it := range t.told {
		if slices.ContainsFunc(t.queued, func(q loop.Guidance) bool { return q.ID == it.ID }) {
			late = append(late, it.Guidance)
		}
	}
	listened = t.listened
	t.partners, t.told, t.listened = nil, nil, false
	return late, listened, len(t.heard) > 0
}

// Enter writes into a state what the run was given.
func (t *Talk) Enter(s *loopstate.State) {
	s.Guided = nil
	for _, g := range t.given {
		s.Guided = append(s.Guided, g.Text)
	}
}

// EnterHeard writes behind that what agents have read: it isn't told again, unless their run doesn't
// count. Wrote takes note that so many of it stand there.
func (t *Talk) EnterHeard(s *loopstate.State) (heard int) {
	s.Guidance = without(s.Guidance, t.heard)
	for _, g := range t.heard {
		s.Guided = append(s.Guided, g.Text)
	}
	return len(t.heard)
}

// Wrote takes note that what EnterHeard wrote is kept.
func (t *Talk) Wrote(heard int) {
	t.given = append(t.given, t.heard[:heard]...)
	t.heard = t.heard[heard:]
}

// without is a list of guidance without what the agent has read by now.
func without(texts []string, heard []loop.Guidance) []string {
	texts = slices.Clone(texts)
	for _, g := range heard {
		if i := slices.Index(texts, g.Text); i >= 0 {
			texts = slices.Delete(texts, i, i+1)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return texts
}
