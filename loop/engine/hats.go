package engine

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// nextTurn chooses the hat of the coming run in its state.
func (l *engine) nextTurn(s *loopstate.State) (turn hats.Turn, warnings []string) {
	if l.hats.Hats == nil {
		own, _ := l.cfg.Roles.Named(l.cfg.Hat)
		return hats.Turn{Hat: own.Hat}, nil
	}
	s.Queue, turn, warnings = l.hats.Take(s.Queue)
	s.Turn = turn.Hat.Name
	return turn, warnings
}

// handOver takes down what a run published, and keeps its promise from counting that comes too early. In the same step it
// takes down what of its work is to be verified.
func (l *engine) handOver(turn hats.Turn, r *judge.Report) {
	if l.hats.Hats == nil || len(r.Ended) == 0 && !r.Verdict.Matched { // one that was ended at a limit may promise
		return
	}
	before, said := l.state.Verification, r.Verdict
	var came hats.Settled
	judged := func() {
		if r.Verdict = said; said.Matched && came.NotYet != "" {
			r.Verdict = promises.Verdict{}
		}
	}
	l.files.save(func(s *loopstate.State) {
		came = l.hats.Settle(s.Queue, turn.Hat, r.Ended)
		judged()
		l.state.Verification.After(r)
		l.state.Verification.Keep(s)
		s.Queue = came.Queue
	}, func(err error) {
		if l.hats.Stored(&came, turn.Hat, r.Ended, err); err != nil { // it shows at the next iteration
			l.state.Verification = before
			judged()
		}
	})
	for _, t := range came.Handed {
		l.events.emit(loop.Published{Topic: t.Name, Target: t.For, Payload: t.Payload})
	}
	if l.events.warn(came.Warnings); said.Matched && came.NotYet != "" {
		l.events.warn([]string{came.NotYet})
	}
	for _, m := range r.TopicMisses {
		if l.goal.IsNew("topic_"+m.Kind, l.state.Status.Promise) {
			l.events.emit(loop.Warning{Message: m.Why})
		}
	}
}

func (l *events) warnf(format string, args ...any) {
	l.emit(loop.Warning{Message: fmt.Sprintf(format, args...)})
}

func (l *events) warn(messages []string) {
	for _, m := range messages {
		l.emit(loop.Warning{Message: loop.OneLine(m)})
	}
}
