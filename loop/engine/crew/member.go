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
	isOver   bool            // with all that it has started
	working  bool            // it runs
	isSilent bool            // it was ended as it was that for too long
	patience time.Time       // until then it has said that it will be silent
	scope    *backends.Scope // the loop's, or its own
	agent    progress.Agent  // nil until it runs
	goesOn   bool            // another turn follows
	usage    stream.Usage    // so far
	paid     float64         // of that what was of answers that are over, in US dollars
	lack     string          // it was ended as the money doesn't suffice for all
	judge.Report
	err error // it could not be started
}

// over tells how the agent went, which is gone.
func (m *member) over(err error) {
	c := m.crew
	if m.err = err; err != nil {
		m.Report = judge.Report{Outcome: loop.OutcomeError, Problem: loop.OneLine(err.Error())}
	}
	isOurs := c.isStopping() // it was ended, and nobody knows what it would have come to
	if m.Problem != "" && !isOurs {
		m.Problem = fmt.Sprintf("%s: %s", m.slot, m.Problem)
		c.fail(m)
	}
	first, wasStopped := c.failed, m.wasStopped()
	switch {
	case wasStopped && m.isSilent:
		m.Problem = m.slot.String() + ": no output for longer than the idle timeout"
		m.End(m.Problem, true)
	case wasStopped && m.lack != "":
		m.Problem = m.slot.String() + ": " + m.lack
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
	c.answered(m, false)
	m.isOver = true
}

func (m *member) wasStopped() bool { return m.Exit.Stopped && !m.Exit.Result.Terminal }

// isWell says whether the agent came to its end by itself, and well.
func (m *member) isWell() bool { return m.Outcome == loop.OutcomeOK && !m.wasStopped() }

// begin has the agent run.
func (m *member) begin() {
	c := m.crew
	m.Begin()
	m.run.Budget, m.run.Guidance = c.budgetOf(m), c.guidance()
	var spool string
	c.Launch(Part{
		Role: m.role, Below: m.Call.ID, As: m.slot.Name, Record: fmt.Sprintf("%03d-step-%d-%d", c.Run.Iteration, m.slot.Step, m.slot.K),
		Spec: backends.Spec{Dir: m.run.Dir, Own: m.run.Own, Iteration: c.Run.Iteration, Handler: &m.Below, OnOutput: m.touch},
		Open: func(spec *backends.Spec, sync func(func())) error {
			spec.Scope = c.Scope
			if m.slot.K > 1 || m.run.Dir != "" { // the end of one sweeps what is in its scope
				scope, err := c.OpenScope()
				if err != nil {
					return err
				}
				spec.Scope = scope
				sync(func() { m.scope = scope; c.tellLeft() }) // its mark is known before anything bears it
			}
			spool = c.Config.Ring().OpenSpool(spec.Scope.TempDir, m.role.Hat)
			if spec.Spool = spool; spool != "" {
				m.run.Emit = c.Config.As(m.role).EmitCommand(spec.Scope.TempDir)
			}
			m.prompt, spec.Ours = c.Config.BriefOf(m.role, m.slot, m.run)
			spec.Prompt = m.prompt
			return nil
		},
		Began: func(agent progress.Agent) {
			if m.slot.IsLast() { // nobody else can end the loop
				m.Fulfils = guidance.Fulfils(m.completion())
			}
			c.join(m, agent)
		},
		Ended: func(exit backends.Exit) {
			m.working, m.usage = false, exit.Result.Usage
			c.Parted(&m.Partner)
			m.Report = judge.Assess(exit, "", m.completion(), time.Now())
			m.TakeTopics(m.run.Turn.Topics, m.completion(), spool)
		},
		Close: m.closeScope, Over: m.over,
	})
}

// guidance is what a member that begins is told.
func (c *Crew) guidance() (said []loop.Guidance) {
	c.Change(func(p *progress.State) { said = p.Talk.SoFar() })
	return said
}

// touch takes note of a sign of life.
func (m *member) touch() {
	m.activity.Touch()
	m.crew.Activity.Touch()
}

// completion is what the agent has to say to end the loop.
func (m *member) completion() promises.Completion {
	return m.crew.Config.As(m.role).Completion(m.crew.now().Status.Promise, m.prompt, m.run)
}

// closeScope ends what the agent had for itself alone.
func (m *member) closeScope(sync func(func())) {
	if m.scope == m.crew.Scope {
		return
	}
	err := m.scope.Close()
	sync(func() {
		if err != nil {
			m.crew.Warn("the temporary folder could not be removed: " + err.Error())
		}
		m.scope, m.agent = m.crew.Scope, nil
		m.crew.tellLeft()
	})
}

// told hands on what the agent does.
func (m *member) told(e stream.Event) {
	if call, ok := e.(stream.ToolCall); ok && call.ParentToolCallID == m.Call.ID { // its result will be answered
		m.goesOn = true
		m.crew.answered(m, true)
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
		if c.session != who {
			c.session = who
			c.Handle(e)
		}
	case stream.Usage:
		m.count(e)
		m.lookAtCap()
	case stream.TurnEnd:
		m.goesOn = strings.HasPrefix(e.StopReason, "tool")
		c.answered(m, m.goesOn)
		m.lookAtCap()
	case stream.Retry:
		m.patience = time.Now().Add(e.Delay)
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
	m.usage = e
	c.Spent(c.used(e))
}
