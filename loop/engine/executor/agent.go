package executor

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// agentRun is the run of one agent.
type agentRun struct {
	Subagent // how it is shown, unless it is the only one
	of       *Execution
	role     setup.Role
	slot     setup.Slot
	run      setup.Run
	outbox   string // where its programs publish topics, "" for none
	prompt   string // its prompt, with all additions

	steering.Listener
	activity Activity
	tools    tooluse.Log
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
func (m *agentRun) over(err error) {
	c := m.of
	m.err = err
	if m.isOver = true; c.Solo {
		return
	}
	if err != nil {
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
		m.Problem = m.slot.String() + ": " + judge.SilentText(m.Exit.Result)
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
}

func (m *agentRun) wasStopped() bool { return m.Exit.Stopped && !m.Exit.Result.Terminal }

// isWell says whether the agent came to its end by itself, and well.
func (m *agentRun) isWell() bool { return m.Outcome == loop.OutcomeOK && !m.wasStopped() }

// begin has the agent run.
func (m *agentRun) begin() {
	c := m.of
	m.run.Budget, m.run.Steering = c.budgetOf(m), c.guidance()
	p := Part{
		Role: m.role, Record: fmt.Sprintf("%03d", c.Run.Iteration),
		Spec: backends.Spec{Dir: m.run.Dir, Own: m.run.Own, Iteration: c.Run.Iteration, Handler: stream.HandlerFunc(m.follow), OnOutput: m.touch},
		Open: m.open, Began: m.begun, Ended: m.endedBy, Close: m.closeScope, Over: m.over,
	}
	if !c.Solo {
		m.Begin()
		p.Below, p.As, p.Handler = m.Call.ID, m.slot.Name, &m.Subagent
		p.Record += fmt.Sprintf("-step-%d-%d", m.slot.Step, m.slot.K)
	}
	c.x.launch(p)
}

// open fills in how it is started.
func (m *agentRun) open(spec *backends.Spec, sync func(func())) error {
	c := m.of
	spec.Scope = c.x.Scope
	if m.slot.K > 1 || m.run.Dir != "" { // the end of one sweeps what is in its scope
		scope, err := c.x.OpenScope()
		if err != nil {
			return err
		}
		spec.Scope = scope
		sync(func() { m.scope = scope; c.tellLeft() }) // its mark is known before anything bears it
	}
	m.outbox = c.Config.Roles.HatSet().OpenOutbox(spec.Scope.TempDir, m.role.Hat)
	if spec.Outbox = m.outbox; m.outbox != "" {
		m.run.Emit = m.config().EmitCommand(spec.Scope.TempDir)
	}
	if c.Solo {
		m.prompt, spec.Ours = c.Config.Instruct(m.run)
	} else {
		m.prompt, spec.Ours = c.Config.InstructStep(m.role, m.slot, m.run)
	}
	spec.Prompt = m.prompt
	return nil
}

func (m *agentRun) begun(agent progress.Agent) {
	if m.slot.IsLast() { // nobody else can end the loop
		m.Fulfils = steering.Fulfils(m.completion())
	}
	m.of.join(m, agent)
}

func (m *agentRun) endedBy(exit backends.Exit) {
	m.working, m.usage = false, exit.Result.Usage
	m.of.x.Left(&m.Listener)
	m.Report = judge.Assess(exit, "", m.completion(), time.Now())
	m.TakeTopics(m.run.Turn.Topics, m.completion(), m.outbox)
}

// config is by which it is run.
func (m *agentRun) config() setup.Config {
	if m.of.Solo {
		return *m.of.Config
	}
	return m.of.Config.As(m.role)
}

// follow hands on what the only agent does.
func (m *agentRun) follow(e stream.Event) {
	m.tools.Follow(e, time.Now())
	switch it := e.(type) {
	case stream.MessageEnd:
		if it.ParentToolCallID == "" {
			m.of.x.Said(&m.Listener, it.Text)
		}
	case stream.Withdrawn:
		m.of.x.Pending.TakeBack("", it.ID)
		return
	}
	m.of.x.Handle(e)
}

// guidance is what an agent that begins is told.
func (c *Execution) guidance() []loop.SteeringMessage {
	return c.x.State.Steering.Given()
}

// touch takes note of a sign of life.
func (m *agentRun) touch() {
	m.activity.Touch()
	m.of.x.Activity.Touch()
}

// completion is what the agent has to say to end the loop.
func (m *agentRun) completion() promises.Completion {
	return m.config().Completion(m.of.x.State.Status.Promise, m.prompt, m.run)
}

// closeScope ends what the agent had for itself alone.
func (m *agentRun) closeScope(sync func(func())) {
	if m.scope == m.of.x.Scope {
		return
	}
	err := m.scope.Close()
	sync(func() {
		if err != nil {
			m.of.x.warn("the temporary folder could not be removed: " + err.Error())
		}
		m.scope, m.agent = m.of.x.Scope, nil
		m.of.tellLeft()
	})
}

// told hands on what the agent does.
func (m *agentRun) told(e stream.Event) {
	m.tools.Follow(e, time.Now())
	if call, ok := e.(stream.ToolCall); ok && call.ParentToolCallID == m.Call.ID { // its result will be answered
		m.goesOn = true
		m.of.answered(m, true)
		defer m.lookAtCap()
	}
	m.of.x.Handle(e)
}

// own takes what is about the agent's run. Its end is told by End.
func (m *agentRun) own(e stream.Event) {
	c := m.of
	switch e := e.(type) {
	case stream.SessionStart:
		who := e
		who.SessionID = ""
		if c.session != who {
			c.session = who
			c.x.Handle(e)
		}
	case stream.Usage:
		m.count(e)
		m.lookAtCap()
	case stream.TurnEnd:
		m.goesOn = strings.HasPrefix(e.StopReason, "tool")
		c.answered(m, m.goesOn)
		m.lookAtCap()
	case stream.Retry:
		m.patience = time.Now().Add(time.Duration(e.Delay))
		c.x.Handle(e)
	case stream.Withdrawn:
		c.x.Pending.TakeBack(m.Call.ID, e.ID)
	case stream.Quota, stream.Compaction, stream.Error, stream.Heard:
		c.x.Handle(e)
	}
}

// count adds what the agent has used so far to what the others have.
func (m *agentRun) count(e stream.Usage) {
	c := m.of
	if !m.slot.Alone { // several contexts are none
		e.Context, e.ContextSize = 0, 0
	}
	m.usage = e
	sum := c.used(e)
	warning := c.x.State.CountUsage(sum)
	c.x.Tell(sum)
	c.x.Spent(warning)
}
