// Package steering is the policy of a user's messages to the agents of a loop: which agent gets which message, and
// which have been read.
//
// A message is queued until an agent has read it, or until a run begins that is given it (Take). Agents that can be
// talked to get it while they work (Tell); a message that none has read when their run is over stays in the queue.
// Messages that a run was given or has read are told again when that run doesn't count, so they are stored until one
// does (Counted).
//
// A Policy returns what the user is to hear as events, and writes nothing itself.
package steering

import (
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Agent may be told something while it works (*backends.Process). None of it waits for the agent.
type Agent interface {
	Steer(name, text string) bool
	TakeBack()
}

// Listener is one of the agents that work, which can be talked to from Join to Leave.
type Listener struct {
	Fulfils  func(text string) bool // whether a message of its says that all is done; nil: none does
	agent    Agent                  // nil: it can't be talked to
	promised bool                   // its last message says that all is done; then it is told nothing more
}

// Fulfils says of a message whether it is what an agent has to say.
func Fulfils(wanted promises.Completion) func(text string) bool {
	return func(text string) bool { return wanted.Judge(stream.Result{Text: text}).Matched }
}

// Policy has the messages of one loop. Its zero value belongs to a loop that begins. It is for one goroutine.
type Policy struct {
	queued []loop.SteeringMessage // not yet delivered, in the order of the state file
	fresh  []loop.SteeringMessage // of which the user doesn't know that the loop has it
	given  []loop.SteeringMessage // messages that the run was given; told again if it doesn't count
	heard  []loop.SteeringMessage // messages that agents have read, and the record doesn't have yet
	count  int                    // pieces so far, for their ids
	isTold bool                   // the user has told the run something, before it or since

	listeners []*Listener
	sent      []sent
}

// sent is a piece that agents were told, and that none has read.
type sent struct {
	loop.SteeringMessage
	to []*Listener // except listeners from whom it was withdrawn, and those that are gone
}

// Resume is the policy of a loop that goes on as its state file says. Its next run is told what the one before it was told, and
// what its user says besides, "" for nothing.
func Resume(s loopstate.State, say string) (p Policy) {
	for _, text := range s.Guided {
		p.given = append(p.given, p.new(text))
	}
	if say != "" {
		p.given = append(p.given, p.new(say))
	}
	return p
}

// new gives a piece its id.
func (p *Policy) new(text string) loop.SteeringMessage {
	p.count++
	return loop.SteeringMessage{ID: fmt.Sprintf("g%d", p.count), Text: text, State: loop.SteeringQueued}
}

// Learn takes over what a state file says, after another one: known pieces keep their ids, and what the user took out is gone.
func (p *Policy) Learn(was, now loopstate.State) {
	p.given = slices.DeleteFunc(p.given, func(g loop.SteeringMessage) bool {
		return slices.Contains(was.Standing, g.Text) && !slices.Contains(now.Standing, g.Text)
	})
	p.queue(now.Queued, now.QueuedNext)
}

// queue makes the queue what is listed.
func (p *Policy) queue(texts, next []string) {
	texts = without(texts, p.heard)
	known := p.queued
	p.queued = nil
	for i, text := range slices.Concat(texts, next) {
		later := i >= len(texts)
		if i := slices.IndexFunc(known, func(g loop.SteeringMessage) bool { return g.Text == text && g.Next == later }); i >= 0 {
			p.queued = append(p.queued, known[i])
			known = slices.Delete(known, i, i+1)
			continue
		}
		g := p.new(text)
		g.Next = later
		p.queued, p.fresh = append(p.queued, g), append(p.fresh, g)
	}
}

// Move moves in a state what is queued there to what the coming run is told. It is moved and not removed: a run that doesn't
// count, or a crash, has it told again.
func Move(s *loopstate.State) (texts, next []string) {
	texts, s.Queued = s.Queued, nil
	next, s.QueuedNext = s.QueuedNext, nil
	s.Guided = slices.Concat(s.Guided, texts, next)
	return texts, next
}

// Take gives the coming run what was moved, once that is kept, besides what the run before was told in vain.
func (p *Policy) Take(texts, next []string) {
	p.queue(texts, next)
	p.given, p.queued = append(p.given, p.queued...), nil
	p.isTold = len(p.given) > 0
}

// Counted says that the run that was given it counts.
func (p *Policy) Counted() { p.given = nil }

// Given is what the run under way was told, and what its agents have heard since.
func (p *Policy) Given() []loop.SteeringMessage { return slices.Concat(p.given, p.heard) }

// Delivered tells that the run's first agent, which works now, was told it.
func (p *Policy) Delivered() (news []loop.Event) {
	for _, g := range p.Given() {
		g.State = loop.SteeringDelivered
		news = append(news, g)
	}
	return news
}

// IsTold says whether the user told the run something, before it began or since.
func (p *Policy) IsTold() bool { return p.isTold }

// ID returns the id of a message with this text that isn't delivered yet, "" for none.
func (p *Policy) ID(text string) (id string) {
	for _, g := range slices.Concat(p.Given(), p.queued) {
		if g.Text == text {
			id = g.ID
		}
	}
	return id
}

// Join takes an agent in that works and can be told something.
func (p *Policy) Join(l *Listener, agent Agent) {
	l.agent, p.listeners = agent, append(p.listeners, l)
}

// Leave is Join's end: the agent is gone.
func (p *Policy) Leave(l *Listener) {
	p.listeners = remove(p.listeners, l)
	p.takeBackFrom(l)
}

func (p *Policy) takeBackFrom(l *Listener) {
	for i := range p.sent {
		p.sent[i].to = remove(p.sent[i].to, l)
	}
}

func remove(all []*Listener, l *Listener) []*Listener {
	return slices.DeleteFunc(all, func(other *Listener) bool { return other == l })
}

// IsLive says whether some agent can be told something now.
func (p *Policy) IsLive() bool {
	return slices.ContainsFunc(p.listeners, func(l *Listener) bool { return !l.promised })
}

// Tell tells each agent what is queued and it wasn't told, unless it is done. Agents that are to end are told nothing.
// The first that takes a piece is news, and so is a new piece that none takes.
func (p *Policy) Tell(isEnding bool) (news []loop.Event) {
	for _, g := range p.queued {
		if isEnding || g.Next {
			continue
		}
		for _, l := range p.listeners {
			if !l.promised && p.tell(l, g) {
				p.fresh = slices.DeleteFunc(p.fresh, func(f loop.SteeringMessage) bool { return f.ID == g.ID })
				g.State = loop.SteeringSent
				news = append(news, g)
			}
		}
	}
	for _, g := range p.fresh {
		news = append(news, g)
	}
	p.fresh = nil
	return news
}

// tell tells one agent a piece, and says whether it is the first that takes it.
func (p *Policy) tell(l *Listener, g loop.SteeringMessage) (isFirst bool) {
	i := p.index(g.ID)
	if i >= 0 && slices.Contains(p.sent[i].to, l) || !l.agent.Steer(g.ID, rules.Steering([]loop.SteeringMessage{g})) {
		return false
	}
	if isFirst = i < 0; isFirst {
		i, p.sent = len(p.sent), append(p.sent, sent{SteeringMessage: g})
	}
	p.sent[i].to = append(p.sent[i].to, l)
	return isFirst
}

// index is the place of a piece among those that were sent, -1 for none.
func (p *Policy) index(id string) int {
	return slices.IndexFunc(p.sent, func(it sent) bool { return it.ID == id })
}

// Heard takes note of what an agent has read. The first that does counts for all, and is news.
func (p *Policy) Heard(id string) (news []loop.Event) {
	i := p.index(id)
	if i < 0 {
		return nil
	}
	g := p.sent[i].SteeringMessage
	g.State = loop.SteeringDelivered
	p.sent = slices.Delete(p.sent, i, i+1)
	p.queued = slices.DeleteFunc(p.queued, func(q loop.SteeringMessage) bool { return q.ID == id })
	p.heard, p.isTold = append(p.heard, g), true
	return []loop.Event{loop.Told{Text: g.Text}, g}
}

// Said looks whether an agent says that all is done. Then its unread messages are withdrawn: it would go on to work
// because of them. hasChanged: whether it can be told something has changed.
func (p *Policy) Said(l *Listener, text string) (hasChanged bool) {
	if l == nil || l.agent == nil || l.Fulfils == nil || text == "" {
		return false
	}
	was := l.promised
	if l.promised = l.Fulfils(text); l.promised {
		p.takeBackFrom(l)
		if !was {
			l.agent.TakeBack()
		}
	}
	return l.promised != was
}

// End ends the talk with the agents of a run that is over, and tells what comes too late for them.
func (p *Policy) End() (news []loop.Event) {
	for _, it := range p.sent {
		if slices.ContainsFunc(p.queued, func(q loop.SteeringMessage) bool { return q.ID == it.ID }) {
			it.State = loop.SteeringLate
			news = append(news, it.SteeringMessage)
		}
	}
	p.listeners, p.sent = nil, nil
	return news
}

// Keep writes into a state what the run was given, and behind that what agents have read: it isn't told again, unless their run
// doesn't count.
func (p *Policy) Keep(s *loopstate.State) {
	s.Queued, s.Guided = without(s.Queued, p.heard), nil
	for _, g := range p.Given() {
		s.Guided = append(s.Guided, g.Text)
	}
}

// Unkept is how much agents have read that isn't known to be in the record.
func (p *Policy) Unkept() int { return len(p.heard) }

// Kept takes note that so much of what agents have read is in the record, and told again by that.
func (p *Policy) Kept(heard int) {
	p.given = append(p.given, p.heard[:heard]...)
	p.heard = p.heard[heard:]
}

// without is a list of guidance without what agents have read by now.
func without(texts []string, heard []loop.SteeringMessage) []string {
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
