package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
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
	q, _ := l.queueOf(l.now().Known)
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
	q, _ := l.queueOf(l.now().Known)
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
	before, said := l.now().Proof, r.Verdict
	revoke := func(why string) {
		r.Verdict = promises.Verdict{}
		warnings = append(warnings, why)
	}
	l.fileMu.Lock()
	err := l.save(func(s *loopstate.State) {
		q, _ = l.queueOf(*s)
		handed, warnings = ring.Done(&q, turn.Hat, r.Ended...)
		if r.Verdict = said; said.Matched && l.notYet(ring, turn, q) != "" {
			revoke(l.notYet(ring, turn, q))
		}
		l.mustVerify(r)
		l.now().Proof.Enter(s)
		s.Queue = q
	})
	if err == nil {
		l.published = q.Seen
	}
	l.fileMu.Unlock()
	if err != nil { // it shows at the next iteration, which is then this hat's again
		handed, warnings, r.Verdict = nil, nil, said
		l.change(func(p *progress.State) { p.Proof = before })
		switch why := l.notYet(ring, turn, q); {
		case !said.Matched:
		case !ring.MayFinish(turn.Hat):
			revoke(why)
		case len(l.cfg.Required) > 0:
			revoke(fmt.Sprintf("%s says that all is done, but the topics that it published can't be read: %v", turn.Hat.Name, err))
		}
	}
	for _, t := range handed {
		l.emit(loop.Published{Topic: t.Name, Target: t.For, Payload: t.Payload})
	}
	l.warn(warnings)
	for _, m := range r.TopicMisses {
		if l.isNew("topic_" + m.Kind) {
			l.emit(loop.Warning{Message: m.Why})
		}
	}
}

// notYet says why a hat's promise doesn't count; "" when it does.
func (l *turns) notYet(ring hats.Ring, turn hats.Turn, q hats.Queue) string {
	begin := turn.Hat.Name + " says that all is done, but "
	if !ring.MayFinish(turn.Hat) {
		return begin + "that hat may not finish the loop"
	}
	if missing := q.Missing(l.cfg.Required); len(missing) > 0 {
		return begin + "nobody has published " + strings.Join(missing, ", ")
	}
	return ""
}

func (l *ground) warn(messages []string) {
	for _, m := range messages {
		l.emit(loop.Warning{Message: loop.OneLine(m)})
	}
}
