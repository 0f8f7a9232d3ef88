package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// queueOf is how far the hats have come, as the state says. What was published is
// what this process knows.
func (l *turns) queueOf(s loopstate.State) (hats.Queue, []string) {
	q, problems := s.Queue.Checked()
	q.Seen = slices.Clone(l.published)
	return q, problems
}

// nextTurn chooses the hat of the coming run in its state. ok is false when no hat is left that may run.
func (l *turns) nextTurn(s *loopstate.State) (turn hats.Turn, warnings []string, ok bool) {
	ring := l.cfg.Ring()
	if ring == nil {
		own, _ := l.cfg.Role(l.cfg.Hat)
		turn.Hat = own.Hat
		return turn, nil, true
	}
	q, problems := l.queueOf(*s)
	turn, warnings, ok = ring.Next(&q)
	for _, why := range problems {
		warnings = append(warnings, why+"; it is left out")
	}
	s.Queue = q
	s.Turn = turn.Hat.Name
	return turn, warnings, ok
}

// nobodysTurn says why no hat may run; "" when one may.
func (l *turns) nobodysTurn() string {
	ring := l.cfg.Ring()
	if ring == nil {
		return ""
	}
	q, _ := l.queueOf(l.state.Known)
	if _, warnings, ok := ring.Next(&q); !ok {
		return "no hat is left that may run: " + strings.Join(warnings, "; ")
	}
	return ""
}

// countHanded says how many of a run's topics are handed over, by what the state file
// said last.
func (l *turns) countHanded(turn hats.Turn, r judge.Report) int {
	ring := l.cfg.Ring()
	published := slices.DeleteFunc(slices.Clone(r.Ended), func(run hats.Ended) bool { return len(run.Published) == 0 })
	if ring == nil {
		return 0
	}
	q, _ := l.queueOf(l.state.Known)
	handed, _ := ring.Done(&q, turn.Hat, published...)
	return len(handed)
}

// handOver takes down what a run published, and says what keeps its promise from
// counting. In the same step it takes down what of its work is to be verified.
func (l *turns) handOver(turn hats.Turn, r *judge.Report) {
	ring := l.cfg.Ring()
	if ring == nil || len(r.Ended) == 0 && !r.Verdict.Matched { // one that was ended at a limit may promise
		return
	}
	var warnings []string
	var q hats.Queue
	var handed []hats.Topic
	before, said := l.state.Proof, r.Verdict
	revoke := func(why string) {
		r.Verdict = promises.Verdict{}
		warnings = append(warnings, why)
	}
	var failed error
	l.files.save(func(s *loopstate.State) {
		q, _ = l.queueOf(*s)
		handed, warnings = ring.Done(&q, turn.Hat, r.Ended...)
		why := ring.NotYet(turn.Hat, q.Missing(l.cfg.Required), r.Ended)
		if r.Verdict = said; said.Matched && why != "" {
			revoke(why)
		}
		l.verification.mustVerify(r)
		l.state.Proof.Enter(s)
		s.Queue = q
	}, func(err error) {
		if failed = err; err == nil {
			l.published = q.Seen
		}
	})
	if failed != nil { // it shows at the next iteration, which is then this hat's again
		handed, warnings, r.Verdict = nil, nil, said
		l.state.Proof = before
		why := ring.NotYet(turn.Hat, nil, r.Ended)
		if why == "" && len(l.cfg.Required) > 0 {
			why = fmt.Sprintf("%s says that all is done, but the topics that it published can't be read: %v", turn.Hat.Name, failed)
		}
		if said.Matched && why != "" {
			revoke(why)
		}
	}
	for _, t := range handed {
		l.events.emit(loop.Published{Topic: t.Name, Target: t.For, Payload: t.Payload})
	}
	l.events.warn(warnings)
	for _, m := range r.TopicMisses {
		if l.goals.isNew("topic_" + m.Kind) {
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
