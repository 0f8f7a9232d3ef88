package loop

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/loopstate"
	"ralph-lsp/stream"
)

// talker is an agent that may be told something while it works (*backends.Process).
// None of it waits for the agent.
type talker interface {
	Steer(name, text string) bool
	TakeBack()
	Abort(grace time.Duration)
}

// skipped is why a run is ended whose iteration the user wants to be over. The loop goes on.
const skipped StopReason = "next"

// ErrNoRun says that there is no run that could be ended.
var ErrNoRun = errors.New("no run is under way: the loop waits, is paused, or checks what the last one promised")

// conversation is what the running agent is told.
type conversation struct {
	fulfils  func(text string) bool // whether a message makes the loop's promise; nil: it can't be talked to
	promised bool                   // its last message does; then it is told nothing more
	skip     bool                   // it was asked to end
	told     []told
	heard    []Guidance // and not written down yet
}

// told is a piece of guidance that was handed to the agent.
type told struct {
	Guidance
	waits bool // it hasn't been read, and wasn't taken back
}

// converse lets the agent of a run be told what the user says meanwhile.
func (l *Loop) converse(backend backends.Backend, completion stream.Completion) {
	isLive := backend.Prompt == backends.PromptLive
	l.change(func(p *progress) {
		if !isLive {
			return
		}
		p.conversation.fulfils = func(text string) bool { return completion.Judge(stream.Result{Text: text}).Matched }
	})
	if isLive {
		l.setOwner()
	}
	l.tellAgent()
	l.poke() // who wants the next iteration may have said so before
}

// IsLive says whether an agent runs that can be told something now.
func (l *Loop) IsLive() (live bool) {
	l.look(func(p *progress) { live = p.fulfils != nil && !p.promised })
	return live
}

// IsLive is the same of a folder's loop, whoever drives it.
func IsLive(folder string) bool {
	file, err := loopstate.Open(folder)
	if err != nil {
		return false
	}
	owner, owned, err := file.Owner()
	return err == nil && owned && owner.Live
}

// tellAgent hands the running agent what is queued for it. Whatever it has read, it
// says; what it hasn't read at its end stays in the queue, for the next run.
func (l *Loop) tellAgent() {
	var agent talker
	var fresh, handed []Guidance
	l.change(func(p *progress) {
		c := &p.conversation
		if agent, _ = p.running.(talker); agent == nil || c.fulfils == nil || c.promised || c.skip || p.cause != "" {
			return
		}
		for _, g := range p.queued {
			if !g.Next && !slices.ContainsFunc(c.told, func(t told) bool { return t.ID == g.ID && t.waits }) {
				c.told = append(c.told, told{g, true})
				fresh = append(fresh, g)
			}
		}
	})
	for _, g := range fresh {
		if agent.Steer(g.ID, guidanceSection([]Guidance{g})) {
			g.State = GuidanceSent
			handed = append(handed, g)
			continue
		}
		l.change(func(p *progress) { p.conversation.forget(g.ID) })
	}
	for _, g := range handed {
		l.emit(g)
	}
}

func (c *conversation) forget(id string) {
	c.told = slices.DeleteFunc(c.told, func(t told) bool { return t.ID == id })
}

// read takes note of what the agent has read.
func (p *progress) read(id string) (g Guidance, ok bool) {
	c := &p.conversation
	i := slices.IndexFunc(c.told, func(t told) bool { return t.ID == id })
	if i < 0 {
		return g, false
	}
	g = c.told[i].Guidance
	g.State = GuidanceDelivered
	c.forget(id)
	p.queued = slices.DeleteFunc(p.queued, func(q Guidance) bool { return q.ID == id })
	c.heard = append(c.heard, g)
	return g, true
}

// message looks whether the agent promises. Then what it hasn't read is taken back: it would
// go on to work because of that.
func (p *progress) message(e stream.MessageEnd) (takeBack, push bool) {
	c := &p.conversation
	if c.fulfils == nil || e.ParentToolCallID != "" || e.Text == "" {
		return false, false
	}
	was := c.promised
	c.promised = c.fulfils(e.Text)
	if !c.promised {
		return false, was
	}
	for i := range c.told {
		takeBack = takeBack || c.told[i].waits
		c.told[i].waits = false
	}
	return takeBack, false
}

// hasRead tells what the agent has read of what it was told.
func (l *Loop) hasRead(e stream.Heard) {
	var g Guidance
	var ok bool
	if l.change(func(p *progress) { g, ok = p.read(e.ID) }); ok {
		l.emit(Told{g.Text})
		l.emit(g)
		l.noteSpending()
	}
}

// hasSaid does what follows when the agent has said something, which may be a promise.
func (l *Loop) hasSaid(e stream.MessageEnd) {
	var agent talker
	var takeBack, push bool
	l.change(func(p *progress) {
		takeBack, push = p.message(e)
		agent, _ = p.running.(talker)
	})
	if takeBack && agent != nil {
		agent.TakeBack()
	}
	if push {
		l.tellAgent()
	}
}

// endConversation tells what comes too late for the run that is over, and writes down what it
// has read.
func (l *Loop) endConversation() {
	var late []Guidance
	var heard int
	l.change(func(p *progress) {
		for _, t := range p.conversation.told {
			if slices.ContainsFunc(p.queued, func(q Guidance) bool { return q.ID == t.ID }) {
				late = append(late, t.Guidance)
			}
		}
		heard = len(p.conversation.heard)
		p.conversation = conversation{heard: p.conversation.heard}
	})
	for _, g := range late {
		g.State = GuidanceLate
		l.emit(g)
	}
	if heard > 0 {
		l.writeSpending()
	}
}

// enterHeard writes into a state what the agent has read: it isn't told again, unless
// its run doesn't count.
func (p *progress) enterHeard(s *loopstate.State) (written []Guidance) {
	written = slices.Clone(p.conversation.heard)
	s.Guidance = withoutHeard(s.Guidance, written)
	for _, g := range written {
		s.Guided = append(s.Guided, g.Text)
	}
	return written
}

// wroteHeard takes note that it stands there.
func (p *progress) wroteHeard(written []Guidance) {
	p.conversation.heard = p.conversation.heard[len(written):]
	p.guiding = append(p.guiding, written...)
}

// withoutHeard is a list of guidance without what the agent has read by now.
func withoutHeard(texts []string, heard []Guidance) []string {
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
	if t, ok := agent.(talker); ok {
		t.Abort(backends.Grace)
		return
	}
	agent.Stop(backends.Grace)
}

// askForNext is the edit that ends the iteration under way. Another one isn't meant.
func askForNext(s *loopstate.State) error {
	if !s.Begun {
		return ErrNoRun
	}
	s.EndIteration = s.Iteration
	return nil
}

// Next ends the running iteration as its agent does it best, and the next one begins.
// What it has cost counts. It is ErrNoRun when none is under way.
func (l *Loop) Next() error {
	var isRunning bool
	if l.look(func(p *progress) { isRunning = p.underWay }); !isRunning {
		return ErrNoRun
	}
	return l.edit(askForNext)
}

// NextFolder is Loop.Next for the loop of another process. It returns the iteration that ends.
func NextFolder(folder, loopID string) (iteration int, err error) {
	err = changeFolder(folder, loopID, func(s *loopstate.State) error {
		iteration = s.Iteration
		return askForNext(s)
	})
	return iteration, err
}

// learnNext takes over that the iteration under way is to be over.
func (p *progress) learnNext(s loopstate.State) (isNew bool) {
	isMeant := s.EndIteration != 0 && s.EndIteration == p.base.iterations+1
	isNew = isMeant && p.underWay && !p.conversation.skip
	p.conversation.skip = cmp.Or(p.conversation.skip, isNew)
	return isNew
}
