package engine

import (
	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// meet lets an agent that works be told what the user says meanwhile, with whatever waits
// for it. Nothing more happens with one that can't be talked to. isFirst: it was given what the run is told.
func (l *steering) meet(p *guidance.Partner, agent progress.Agent, backend backends.Backend, isFirst bool) {
	if isFirst {
		for _, g := range l.state.Talk.SoFar() {
			g.State = loop.GuidanceDelivered
			l.events.emit(g)
		}
	}
	t, ok := agent.(guidance.Talker)
	if !ok || backend.Prompt != backends.PromptLive {
		return
	}
	l.state.Talk.Meet(p, t)
	l.record.setOwner()
	l.tellAgents()
	l.ending.poke() // who wants the next iteration may have said so before
}

// part is meet's end: the agent is gone.
func (l *steering) part(p *guidance.Partner) {
	l.state.Talk.Part(p)
}

// tellAgents hands the running agents what is queued for them. Whatever one has read, it
// says; what none has read at the end stays in the queue, for the next run.
func (l *steering) tellAgents() {
	l.hand(l.state.Address())
}

// hand hands words over, and says so once for each piece. It returns which were taken.
func (l *steering) hand(all []guidance.Words) (taken []string) {
	for _, w := range all {
		took := w.To.Steer(w.ID, rules.Guidance([]loop.Guidance{w.Guidance}))
		if took {
			taken = append(taken, w.ID)
		}
		if l.state.Talk.Handed(w, took) { // the first time
			w.State = loop.GuidanceSent
			l.events.emit(w.Guidance)
		}
	}
	return taken
}

// hasRead tells what an agent has read of what it was told.
func (l *steering) hasRead(e stream.Heard) {
	if g, ok := l.state.Talk.Read(e.ID); ok {
		l.events.emit(loop.Told{Text: g.Text})
		l.events.emit(g)
		l.files.noteSpending()
	}
}

// hasSaid does what follows when an agent has said something, which may be a promise.
func (l *steering) hasSaid(a *guidance.Partner, text string) {
	isNew, goesOn := l.state.Talk.Message(a, text)
	if isNew {
		a.TakeBack()
	}
	if isNew || goesOn {
		l.record.setOwner()
	}
	if goesOn {
		l.tellAgents()
	}
}

// endConversation tells what comes too late for the run that is over, and writes down what it
// has read.
func (l *steering) endConversation() {
	late, listened, owes := l.state.Talk.End()
	l.state.Wanted.Skip = false
	if listened {
		l.stagnation.Heard()
	}
	for _, g := range late {
		g.State = loop.GuidanceLate
		l.events.emit(g)
	}
	if owes {
		l.files.writeSpending()
		l.files.queue.Rest()
	}
}

// skip ends the iteration under way, and the next one begins.
func (l *engine) skip() (iteration int, err error) {
	if !l.state.UnderWay {
		return 0, loop.ErrNoRun
	}
	l.state.Wanted.Skip = true
	l.ending.poke()
	return l.state.Status.Iteration, nil
}
