package journal

import (
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Recorder writes down what a loop tells, in its journal, and its agents' conversation in its session
// file, and passes it on. It is the loop's observer.
type Recorder struct {
	next      loop.Observer
	log       *Log
	kept      *kept
	projector wire.Projector
}

// NewRecorder returns a Recorder. It collects what the loop tells until Open.
func NewRecorder(next loop.Observer) *Recorder {
	r := &Recorder{next: next, log: newLog(), kept: new(kept)}
	r.kept.first, r.kept.last = r.add, r.end
	return r
}

// Keep has the session file of a loop written, too, which host is to start.
func (r *Recorder) Keep(cfg setup.Config, host *setup.Host) { r.kept.cfg, host.Session = cfg, r.kept }

// Open begins to write the journal of a loop. It is kept as long as session files are, or removed at the
// loop's end.
func (r *Recorder) Open(loopID string, keep bool) *Log {
	r.log.open(r.kept.cfg.Folder, loopID, r.kept.cfg.Storage.History, keep)
	return r.log
}

// Handle takes an event of the agent's.
func (r *Recorder) Handle(e stream.Event) {
	r.warn()
	switch e.(type) {
	case stream.Text, stream.Thinking:
		r.log.change(func(l *unwritten) { l.addEvent(&r.projector, e) })
	default:
		if u := r.projector.Event(e); u != nil {
			r.add(u)
		}
	}
	switch e.(type) {
	case stream.MessageEnd, stream.ToolCall, stream.ToolResult: // a kill takes as much of the story as of the session file
		r.log.flush()
	}
	r.kept.writer.Handle(e)
	r.next.Handle(e)
}

// HandleLoop takes an event of the loop's own. Its end is the last.
func (r *Recorder) HandleLoop(e loop.Event) {
	r.warn()
	r.record(e)
	r.next.HandleLoop(e)
}

func (r *Recorder) record(e loop.Event) {
	for _, u := range r.projector.Unfinished(e) {
		r.add(u)
	}
	if begin, ok := e.(loop.IterationStart); ok {
		r.log.change(func(l *unwritten) {
			l.seal()
			l.iteration = begin.Iteration
		})
	}
	if u := r.projector.Loop(e); u != nil {
		r.add(u)
	}
	r.log.flush()
	r.kept.handleLoop(e)
	if _, isLast := e.(loop.End); isLast {
		r.log.Close()
	}
}

// end writes how the loop ends. It calls release, which frees the folder, when that is stored, and before anybody can
// read it here.
func (r *Recorder) end(end loop.End, release func()) {
	var last []wire.Update
	for _, e := range []loop.Event{loop.StateChanged{State: end.Status.State}, end} {
		last = append(last, r.projector.Unfinished(e)...)
		if u := r.projector.Loop(e); u != nil {
			last = append(last, u)
		}
	}
	<-r.log.opened // a loop may be shorter than its start
	r.log.finish(last, release)
}

// warn warns once when something can't be written. The loop goes on.
func (r *Recorder) warn() {
	if !r.log.fails.Load() && !r.kept.fails() { // each event asks
		return
	}
	for _, err := range []error{r.log.failure(), r.kept.failure()} {
		if err != nil {
			w := loop.Warning{Message: err.Error()}
			r.record(w)
			r.next.HandleLoop(w)
		}
	}
}

// add adds an update. Of what says how far something has come, the last is enough.
func (r *Recorder) add(u wire.Update) {
	switch u := u.(type) {
	case wire.ToolCallUpdate:
		if u.Status == wire.StatusInProgress {
			r.log.progress(u.ToolCallID, u)
			return
		}
		r.log.progress(u.ToolCallID, nil)
	case wire.Verify:
		gate := "verify " + string(u.Gate)
		if u.State == verify.Running && u.Output != "" {
			r.log.progress(gate, u)
			return
		}
		r.log.progress(gate, nil)
	}
	r.log.change(func(l *unwritten) { l.add(u) })
}
