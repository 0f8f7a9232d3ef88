package engine

import (
	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// join lets an agent that works be told what the user says meanwhile, with whatever waits
// for it. Nothing more happens with one that can't be talked to. isFirst: it was given what the run is told.
func (l *conversation) join(p *steering.Listener, agent progress.Agent, backend backends.Backend, isFirst bool) {
	if isFirst {
		l.events.emit(l.state.Steering.Delivered()...)
	}
	if a, ok := agent.(steering.Agent); ok && backend.Prompt == backends.PromptLive {
		l.state.Steering.Join(p, a)
		l.record.stands()
		l.tell()
		l.ending.wake() // the call for the next iteration may have come before
	}
}

// tell tells the running agents what is queued for them, and the user what is new of that.
func (l *conversation) tell() {
	l.events.emit(l.state.Steering.Tell(l.state.IsRunEnding())...)
}

// heard tells what an agent has read of what it was told.
func (l *conversation) heard(e stream.Heard) {
	if news := l.state.Steering.Heard(e.ID); len(news) > 0 {
		l.events.emit(news...)
		l.files.noteSpending()
	}
}

// said does what follows when an agent has said something, which may be a promise.
func (l *conversation) said(p *steering.Listener, text string) {
	if l.state.Steering.Said(p, text) {
		l.record.stands()
		l.tell()
	}
}

// end tells what comes too late for the run that is over, and writes down what it has read.
func (l *conversation) end() {
	l.state.Wanted.Skip = false
	l.events.emit(l.state.Steering.End()...)
	if l.state.Steering.Unkept() > 0 {
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
	l.ending.wake()
	return l.state.Status.Iteration, nil
}
