package crew

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// member is one agent of a crew.
type member struct {
	Below
	crew   *Crew
	role   setup.Role
	slot   setup.Slot
	run    setup.Run
	prompt string // what it is given, with all that it is told besides

	guidance.Partner
	activity Activity
	working  bool            // guarded by the crew's lock
	isSilent bool            // it was ended as it was that for too long; the same
	patience time.Time       // until then it has said that it will be silent; the same
	scope    *backends.Scope // it and agent: only its own goroutine writes them, under the crew's lock
	agent    progress.Agent  // nil until it runs
	goesOn   bool            // another turn follows; only its reader uses it
	used     float64         // what it has cost, in US dollars; the same
	paid     float64         // of that what was of answers that are over; guarded by the crew's paying
	lack     string          // it was ended as the money doesn't suffice for all; guarded by the crew's lock
	judge.Report
	err error // it could not be started
}

// work runs the agent, and tells how that went.
func (m *member) work() {
	c := m.crew
	if m.err = m.play(); m.err != nil {
		m.Report = judge.Report{Outcome: loop.OutcomeError, Problem: loop.OneLine(m.err.Error())}
	}
	isOurs := c.isStopping() // it was ended, and nobody knows what it would have come to
	if m.Problem != "" && !isOurs {
		m.Problem = fmt.Sprintf("%s: %s", m.slot, m.Problem)
		c.fail(m)
	}
	c.mu.Lock()
	first, isSilent, lack := c.failed, m.isSilent, m.lack
	c.mu.Unlock()
	wasStopped := m.wasStopped()
	switch {
	case wasStopped && isSilent:
		m.Problem = m.slot.String() + ": no output for longer than the idle timeout"
		m.End(m.Problem, true)
	case wasStopped && lack != "":
		m.Problem = m.slot.String() + ": " + lack
		m.End(m.Problem, true)
	case wasStopped && first != nil && first != m:
		m.End("stopped, as "+first.slot.String()+" failed", true)
	case wasStopped || isOurs && m.Outcome != loop.OutcomeOK:
		m.End("stopped with its iteration", true)
	case m.Outcome == loop.OutcomeOK && m.Exit.Result.Text != "":
		m.End(m.Exit.Result.Text, false)
	case m.Outcome == loop.OutcomeOK:
		m.End("(it said nothing)", false)
	default:
		m.End(m.Problem, true)
	}
}

func (m *member) wasStopped() bool { return m.Exit.Stopped && !m.Exit.Result.Terminal }

// isWell says whether the agent came to its end by itself, and well.
func (m *member) isWell() bool { return m.Outcome == loop.OutcomeOK && !m.wasStopped() }

// play runs the agent to its end.
func (m *member) play() error {
	c := m.crew
	m.run.Budget, m.run.Guidance = c.budgetOf(m), c.Guidance()
	if m.slot.K > 1 || m.run.Dir != "" { // the end of one sweeps what is in its scope
		scope, err := c.OpenScope()
		if err != nil {
			return err
		}
		c.mu.Lock()
		m.scope = scope
		c.mu.Unlock()
		defer m.closeScope()
	}
	c.Changed() // with the mark of its scope, before anything bears it
	spool := c.Config.Ring().OpenSpool(m.scope.TempDir, m.role.Hat)
	if spool != "" {
		m.run.Emit = c.Config.As(m.role).EmitCommand(m.scope.TempDir)
	}
	prompt, args := c.Config.BriefOf(m.role, m.slot, m.run)
	m.prompt = prompt
	if m.slot.IsLast() { // nobody else can end the loop
		m.Fulfils = guidance.Fulfils(m.completion())
	}
	exit, err := c.Play(Part{
		Role: m.role, Below: m.Call.ID, As: m.slot.Name, Record: fmt.Sprintf("%03d-step-%d-%d", c.Run.Iteration, m.slot.Step, m.slot.K),
		Spec:  backends.Spec{Spool: spool, Dir: m.run.Dir, Own: m.run.Own, Ours: args, Prompt: prompt, Scope: m.scope, Iteration: c.Run.Iteration, Handler: &m.Below, OnOutput: m.touch},
		Began: func(agent progress.Agent) { c.join(m, agent) },
	})
	if err != nil {
		return err
	}
	c.leave(m)
	m.Report = judge.Assess(exit, "", m.completion(), time.Now())
	m.TakeTopics(m.run.Turn.Topics, m.completion(), spool)
	c.counting.Lock()
	defer c.counting.Unlock()
	c.usages[m] = exit.Result.Usage
	return nil
}

// touch takes note of a sign of life.
func (m *member) touch() {
	m.activity.Touch()
	m.crew.Activity.Touch()
}

// completion is what the agent has to say to end the loop.
func (m *member) completion() promises.Completion {
	return m.crew.Config.As(m.role).Completion(m.crew.Promise(), m.prompt, m.run)
}

// closeScope ends what the agent had for itself alone.
func (m *member) closeScope() {
	if err := m.scope.Close(); err != nil {
		m.crew.Warn("the temporary folder could not be removed: " + err.Error())
	}
	m.crew.mu.Lock()
	m.scope, m.agent = m.crew.Scope, nil
	m.crew.mu.Unlock()
	m.crew.Changed()
}

// told hands on what the agent does.
func (m *member) told(e stream.Event) {
	if call, ok := e.(stream.ToolCall); ok && call.ParentToolCallID == m.Call.ID { // its result will be answered
		m.goesOn = true
		m.crew.answered(m, m.used, true)
		defer m.lookAtCap()
	}
	m.crew.Handle(e)
}

// own takes what is about the agent's run. Its end is told by End.
func (m *member) own(e stream.Event) {
	c := m.crew
	switch e := e.(type) {
	case stream.SessionStart:
		who := e
		who.SessionID = ""
		c.mu.Lock()
		isKnown := c.session == who
		c.session = who
		c.mu.Unlock()
		if !isKnown {
			c.Handle(e)
		}
	case stream.Usage:
		m.count(e)
		m.lookAtCap()
	case stream.TurnEnd:
		m.goesOn = strings.HasPrefix(e.StopReason, "tool")
		c.answered(m, m.used, m.goesOn)
		m.lookAtCap()
	case stream.Retry:
		c.mu.Lock()
		m.patience = time.Now().Add(e.Delay)
		c.mu.Unlock()
		c.Handle(e)
	case stream.Moot:
		c.TakeBack(m.Call.ID, e.ID)
	case stream.Quota, stream.Compaction, stream.Error, stream.Heard:
		c.Handle(e)
	}
}

// count adds what the agent has used so far to what the others have.
func (m *member) count(e stream.Usage) {
	c := m.crew
	if !m.slot.Alone { // several contexts are none
		e.Context, e.ContextSize = 0, 0
	}
	m.used = e.Cost.USD
	c.counting.Lock()
	defer c.counting.Unlock()
	c.usages[m] = e
	c.Spent(c.used(e))
}
