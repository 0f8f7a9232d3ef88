package engine

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// talker is an agent that may be told something while it works (*backends.Process).
// None of it waits for the agent.
type talker interface {
	Steer(name, text string) bool
	TakeBack()
	aborter
}

// aborter is an agent that can be asked to end.
type aborter interface{ Abort(grace time.Duration) }

// conversation is what the running agents are told.
type conversation struct {
	partners []*partner
	skip     bool // they were asked to end
	told     []told
	heard    []loop.Guidance // and not written down yet
	listened bool            // some was heard since the run began
}

// partner is one of the agents that work and can be talked to. The loop's progress guards it.
type partner struct {
	talker
	fulfils  func(text string) bool // whether a message of its says that all is done; nil: none does
	promised bool                   // its last message does; then it is told nothing more
}

// told is a piece of guidance that was handed to agents, and that none has read.
type told struct {
	loop.Guidance
	to   []*partner // but those from whom it was taken back, and those who are gone
	sent bool       // the user knows
}

// fulfils says of a message whether it is what an agent has to say.
func fulfils(wanted promises.Completion) func(text string) bool {
	return func(text string) bool { return wanted.Judge(stream.Result{Text: text}).Matched }
}

// meet lets an agent that works be told what the user says meanwhile, with whatever waits
// for it. Nothing happens with one that can't be talked to.
func (l *talks) meet(p *partner, agent Agent, backend backends.Backend) {
	t, ok := agent.(talker)
	if !ok || backend.Prompt != backends.PromptLive {
		return
	}
	l.change(func(now *progress) { p.talker, now.partners = t, append(now.partners, p) })
	l.setOwner()
	l.tellAgents()
	l.poke() // who wants the next iteration may have said so before
}

// part is meet's end: the agent is gone.
func (l *talks) part(p *partner) {
	isIt := func(other *partner) bool { return other == p }
	l.change(func(now *progress) {
		now.partners = slices.DeleteFunc(now.partners, isIt)
		for i := range now.told {
			now.told[i].to = slices.DeleteFunc(now.told[i].to, isIt)
		}
	})
}

// isLive says whether some agent can be told something now.
func (p *progress) isLive() bool {
	return !p.skip && p.cause == "" && slices.ContainsFunc(p.partners, func(a *partner) bool { return !a.promised })
}

// IsLive says whether an agent runs that can be told something now.
func (l *ground) IsLive() (live bool) {
	l.look(func(p *progress) { live = p.isLive() })
	return live
}

// words are a piece of guidance on its way to an agent.
type words struct {
	loop.Guidance
	to *partner
}

// address says which agent is to be told what of what is queued: each all of it that it
// hasn't been told, unless it is done.
func (p *progress) address() (all []words) {
	if p.skip || p.cause != "" {
		return nil
	}
	for _, g := range p.queued {
		if g.Next {
			continue
		}
		for _, a := range p.partners {
			i := p.indexTold(g.ID)
			if a.promised || i >= 0 && slices.Contains(p.told[i].to, a) {
				continue
			}
			if i < 0 {
				i, p.told = len(p.told), append(p.told, told{Guidance: g})
			}
			p.told[i].to = append(p.told[i].to, a)
			all = append(all, words{g, a})
		}
	}
	return all
}

// indexTold is the place of a piece among those that were handed over, -1 for none.
func (c *conversation) indexTold(id string) int {
	return slices.IndexFunc(c.told, func(t told) bool { return t.ID == id })
}

// tellAgents hands the running agents what is queued for them. Whatever one has read, it
// says; what none has read at the end stays in the queue, for the next run.
func (l *talks) tellAgents() {
	var all []words
	l.change(func(p *progress) { all = p.address() })
	l.hand(all)
}

// hand hands words over, and says so once for each piece. It returns which were taken.
func (l *talks) hand(all []words) (taken []string) {
	for _, w := range all {
		took := w.to.Steer(w.ID, rules.Guidance([]loop.Guidance{w.Guidance}))
		if took {
			taken = append(taken, w.ID)
		}
		var isNews bool
		l.change(func(p *progress) { isNews = p.handed(w, took) })
		if isNews {
			w.State = loop.GuidanceSent
			l.emit(w.Guidance)
		}
	}
	return taken
}

// handed takes note of whether an agent took a piece. The first that did is news.
func (c *conversation) handed(w words, took bool) (isNews bool) {
	i := c.indexTold(w.ID)
	if i < 0 { // it was read already
		return false
	}
	t := &c.told[i]
	if isNews = took && !t.sent; took {
		t.sent = true
		return isNews
	}
	t.to = slices.DeleteFunc(t.to, func(a *partner) bool { return a == w.to })
	if len(t.to) == 0 && !t.sent {
		c.told = slices.Delete(c.told, i, i+1)
	}
	return false
}

// read takes note of what an agent has read. The first that does counts for all.
func (p *progress) read(id string) (g loop.Guidance, ok bool) {
	i := p.indexTold(id)
	if i < 0 {
		return g, false
	}
	g = p.told[i].Guidance
	g.State = loop.GuidanceDelivered
	p.told = slices.Delete(p.told, i, i+1)
	p.queued = slices.DeleteFunc(p.queued, func(q loop.Guidance) bool { return q.ID == id })
	p.heard, p.listened = append(p.heard, g), true
	return g, true
}

// message looks whether an agent says that all is done. Then what it hasn't read is to be
// taken back: it would go on to work because of that.
func (p *progress) message(a *partner, text string) (isNew, goesOn bool) {
	if a == nil || a.talker == nil || a.fulfils == nil || text == "" {
		return false, false
	}
	was := a.promised
	if a.promised = a.fulfils(text); !a.promised {
		return false, was
	}
	for i := range p.told {
		p.told[i].to = slices.DeleteFunc(p.told[i].to, func(other *partner) bool { return other == a })
	}
	return !was, false
}

// hasRead tells what an agent has read of what it was told.
func (l *talks) hasRead(e stream.Heard) {
	var g loop.Guidance
	var ok bool
	if l.change(func(p *progress) { g, ok = p.read(e.ID) }); ok {
		l.emit(loop.Told{Text: g.Text})
		l.emit(g)
		l.noteSpending()
	}
}

// saidSoFar is what the run under way was told, and what its agents have heard since.
func (l *ground) saidSoFar() (said []loop.Guidance) {
	l.look(func(p *progress) { said = slices.Concat(p.guiding, p.heard) })
	return said
}

// hasSaid does what follows when an agent has said something, which may be a promise.
func (l *talks) hasSaid(a *partner, text string) {
	var isNew, goesOn bool
	l.change(func(p *progress) { isNew, goesOn = p.message(a, text) })
	if isNew {
		a.TakeBack()
	}
	if isNew || goesOn {
		l.setOwner()
	}
	if goesOn {
		l.tellAgents()
	}
}

// endConversation tells what comes too late for the run that is over, and writes down what it
// has read.
func (l *runs) endConversation() {
	var late []loop.Guidance
	var heard int
	l.change(func(p *progress) {
		for _, t := range p.told {
			if slices.ContainsFunc(p.queued, func(q loop.Guidance) bool { return q.ID == t.ID }) {
				late = append(late, t.Guidance)
			}
		}
		heard = len(p.heard)
		l.snapshots.Circles.ByUser = l.snapshots.Circles.ByUser || p.listened
		p.conversation = conversation{heard: p.heard}
	})
	for _, g := range late {
		g.State = loop.GuidanceLate
		l.emit(g)
	}
	if heard > 0 {
		l.writeSpending()
	}
}

// enterHeard writes into a state what the agent has read: it isn't told again, unless
// its run doesn't count.
func (p *progress) enterHeard(s *loopstate.State) (written []loop.Guidance) {
	written = slices.Clone(p.heard)
	s.Guidance = withoutHeard(s.Guidance, written)
	for _, g := range written {
		s.Guided = append(s.Guided, g.Text)
	}
	return written
}

// wroteHeard takes note that it stands there.
func (p *progress) wroteHeard(written []loop.Guidance) {
	p.heard = p.heard[len(written):]
	p.guiding = append(p.guiding, written...)
}

// withoutHeard is a list of guidance without what the agent has read by now.
func withoutHeard(texts []string, heard []loop.Guidance) []string {
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

// endRun ends an agent whose iteration the user wants to be over.
func endRun(agent Agent) {
	if a, ok := agent.(aborter); ok {
		a.Abort(backends.Grace)
		return
	}
	agent.Stop(backends.Grace)
}

// Next ends the running iteration as its agent does it best, and the next one begins.
// What it has cost counts. It is ErrNoRun when none is under way.
func (l *Loop) Next() (iteration int, err error) {
	var isRunning bool
	l.change(func(p *progress) {
		isRunning, iteration = p.underWay, p.status.Iteration
		p.skip = p.skip || isRunning
	})
	if !isRunning {
		return 0, loop.ErrNoRun
	}
	l.poke()
	return iteration, nil
}

// tellDelivered says that an agent was given the user's guidance.
func (l *talks) tellDelivered(guidance []loop.Guidance) {
	for _, g := range guidance {
		g.State = loop.GuidanceDelivered
		l.emit(g)
	}
}
