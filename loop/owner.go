package loop

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// endRemains ends what a dead owner left running.
func endRemains(dead loopstate.Owner) error {
	if dead.Lives() { // elsewhere: this folder is a copy
		return nil
	}
	var remains []backends.Remains
	for _, r := range dead.Reapers {
		remains = append(remains, backends.Remains{Mark: r.Mark, Reaper: backends.Leftover{PID: r.PID, StartMark: r.ProcessStart}})
	}
	for _, a := range dead.Agents {
		remains = append(remains, backends.Remains{Agents: []backends.Leftover{{PID: a.PID, StartMark: a.ProcessStart}}})
	}
	var errs []error
	for _, r := range remains {
		errs = append(errs, r.End())
	}
	return errors.Join(errs...)
}

// workersOf are the agents that this loop has work, for the record.
func workersOf(agents AtWork) (workers []loopstate.Worker) {
	for _, t := range agents {
		if t.Call.ParentToolCallID == "" && (t.Call.Name == stepCall || t.Call.Name == reviewCall) {
			workers = append(workers, loopstate.Worker{Call: t.Call.ID, Name: t.Call.Name, Input: t.Call.Input, Since: t.StartedAt})
		}
	}
	return workers
}

// atWork is the reverse.
func atWork(workers []loopstate.Worker) (agents AtWork) {
	for _, w := range workers {
		agents.Follow(stream.ToolCall{ID: w.Call, Name: w.Name, Input: w.Input}, w.Since)
	}
	return agents
}

// toolOf is the tool that runs, for the record, which is small.
func toolOf(t *ToolStatus) *loopstate.Worker {
	const most = 1 << 10
	if t == nil {
		return nil
	}
	w := &loopstate.Worker{Call: t.Call.ID, Name: t.Call.Name, Input: t.Call.Input, Since: t.StartedAt}
	if len(w.Input) > most {
		w.Input = nil
	}
	return w
}

// show adds to what a state file tells of a loop what its owner does right now.
func (s *Status) show(owner loopstate.Owner) {
	s.Detached, s.Departing = owner.Detached, owner.Departing
	s.Allowed, s.Questions = owner.Allowed, questionsOf(owner)
	if s.State == StateRunning && slices.ContainsFunc(s.Questions, ask.Question.HoldsAgent) {
		s.State = StateWaiting
	}
	if s.State == StatePaused && s.Unchecked == "" && !owner.Since.IsZero() { // once this iteration has ended
		s.State, s.Pausing = StateRunning, true
	}
	if s.State != StateRunning {
		return
	}
	s.Agents, s.IterationStartedAt = atWork(owner.AtWork), owner.Since
	if t := owner.Tool; t != nil && s.Tool == nil {
		s.Tool = &ToolStatus{Call: stream.ToolCall{ID: t.Call, Name: t.Name, Input: t.Input}, StartedAt: t.Since}
	}
}

// questionsOf are the questions that an owner's record has. Anybody may have written them.
func questionsOf(owner loopstate.Owner) (all []ask.Question) {
	for _, text := range owner.Questions {
		var q ask.Question
		if len(all) == ask.MaxQuestions || json.Unmarshal([]byte(text), &q) != nil || q.ID == "" {
			continue
		}
		all = append(all, q.Bounded())
	}
	return all
}

// setOwner writes the lock's record, with what leads whoever has to end our
// agents if we can't to them.
func (l *ground) setOwner() {
	if l.lock == nil {
		return
	}
	l.noteMu.Lock()
	defer l.noteMu.Unlock()
	owner := l.owner
	var running Agent
	l.look(func(p *progress) {
		owner.Departing = l.departure.wanted.Load()
		running, owner.Leaving, owner.Live = p.running, p.concluded || p.cause != "", p.isLive()
		owner.AtWork = workersOf(p.status.Agents)
		if p.desk != nil { // it has begun
			owner.Allowed, owner.Questions = p.desk.Rules(), p.desk.ForFile()
		}
		if running != nil {
			owner.Since, owner.Tool = p.status.IterationStartedAt, toolOf(p.status.Tool)
		}
	})
	var remains []backends.Remains
	if l.scope != nil {
		remains = append(remains, l.scope.Remains())
	}
	agents := []Agent{running}
	if c, ok := running.(*crew); ok {
		var besides []backends.Remains
		besides, agents = c.left()
		remains = append(remains, besides...)
	}
	for _, r := range remains {
		if r.Mark > 0 {
			owner.Reapers = append(owner.Reapers, loopstate.Reaper{PID: r.Reaper.PID, ProcessStart: r.Reaper.StartMark, Mark: r.Mark})
		}
	}
	for _, a := range agents {
		if a != nil && len(owner.Reapers) == 0 {
			owner.Agents = append(owner.Agents, loopstate.Agent{PID: a.PID(), ProcessStart: a.StartMark()})
		}
	}
	l.lock.SetOwner(owner) // the record only helps; the lock is what counts
}
