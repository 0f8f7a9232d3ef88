package executor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Work is what an iteration consists of.
type Work struct {
	Config *setup.Config // by which its agents are run: its Steps, and how many of a step work AtOnce
	Run    setup.Run     // what the iteration is told
	Apart  []setup.Run   // of agents of the only step that work apart: each has its own work, and none ends another
	Solo   bool          // one agent does it, by Config; there are no steps
}

// Execution is work under way, or done: its agents. Callers wait for it and stop it like one agent.
type Execution struct {
	Work
	Report judge.Report // the result, once it is over

	x     *Executor
	it    running                                       // itself, once one of its agents runs
	serve func(until func() (isSo bool, due time.Time)) // serves the loop meanwhile
	again string                                        // tells its calls apart from those of an earlier iteration with this number
	ours  loop.StopReason                               // why the agents were ended, where that wasn't the loop's end

	began    time.Time
	runs     []*agentRun     // of the step under way
	ended    []*agentRun     // in the order of their slots
	last     []*agentRun     // of the step that was begun last
	whole    bool            // all agents of the last step have run
	broke    loop.StopReason // which limit, if the money was spent before all could begin
	short    loop.StopReason // which limit has no room for all of a step
	stopping bool
	by       func(progress.Agent) // ends one of them; nil: by Stop
	guided   bool                 // an agent of the first step has the guidance
	grace    time.Duration
	failed   *agentRun // the first one that did
	silent   *agentRun // the agent that was, or is, silent for longest
	session  stream.SessionStart

	owing   map[*agentRun]bool // agents with an answer under way
	isKnown bool               // the price of an answer is known
	most    float64            // that one has cost, in US dollars
	partial bool               // somebody didn't tell what it has cost
}

// Execute has agents do an iteration's work. An error means that the first could not be started.
func (x *Executor) Execute(work Work) (*Execution, error) {
	c := &Execution{x: x, Work: work}
	if !c.Solo {
		if x.last == c.Run.Iteration || x.last == 0 && c.Config.Continue { // maybe before we took it up
			c.again = "-" + strconv.FormatInt(time.Now().UnixMilli(), 36)
		}
		x.last = c.Run.Iteration
	}
	x.Activity.Touch()
	x.setRunning(c)
	c.serve = x.attend(c).serve
	exit := c.work()
	exit.Duration = max(exit.Duration-x.State.Idle(), 0)
	x.State.Run.PartUnknown = x.State.Run.PartUnknown || c.partial
	r, err := c.report(exit, cmp.Or(x.State.Wanted.Cause, c.ours))
	c.Report = r
	return c, err
}

// report is what their run came to, that ended so. cause is why it was ended, "" when it ended by
// itself. An error means that the first could not be started.
func (c *Execution) report(exit backends.Exit, cause loop.StopReason) (judge.Report, error) {
	if c.Solo {
		return c.soloReport(exit, cause)
	}
	if f := c.failed; f != nil && f.err != nil && f.slot.Step == 1 && f.slot.Alone {
		return judge.Report{}, errors.New(f.Problem)
	}
	switch {
	case cause != "" || c.failed != nil:
	case c.short != "":
		cause = c.short
	case !c.whole:
		cause = c.broke
	}
	var completion promises.Completion
	if c.whole {
		completion = c.last[0].completion()
	}
	r := judge.Assess(exit, cause, completion, time.Now())
	r.Promise = completion.Promise
	if cause == loop.StopStalled && c.silent != nil {
		r.Problem = fmt.Sprintf("%s: %s", c.silent.slot, judge.SilentText(c.silent.Exit.Result))
	}
	switch {
	case !c.whole || c.Apart != nil && !c.Run.Turn.IsWave():
		r.Verdict = promises.Verdict{}
	case len(c.last) > 1:
		r.Verdict = c.agreed(r.Outcome)
	}
	for _, m := range c.last {
		if r.TopicMisses = append(r.TopicMisses, m.TopicMisses...); m.isWell() {
			r.Ended = append(r.Ended, m.Ended...)
		}
	}
	if f := c.failed; cause == "" && f != nil && f.Nobody { // with any agent before it
		r.Nobody, r.NeverBegan = true, true
	}
	return r, nil
}

// soloReport is report where one agent has done all.
func (c *Execution) soloReport(exit backends.Exit, cause loop.StopReason) (judge.Report, error) {
	if !c.whole { // it didn't even begin
		return judge.Assess(exit, cmp.Or(cause, c.broke), promises.Completion{}, time.Now()), nil
	}
	m := c.last[0]
	if m.err != nil {
		return judge.Report{}, m.err
	}
	if cause == "" && c.Run.IsUsers && judge.OverBudget(exit.Result) { // the agent knows one budget
		cause = judge.StopSpent
	}
	completion := m.completion()
	r := judge.Assess(exit, cause, completion, time.Now())
	r.Promise, r.TopicMisses = completion.Promise, m.TopicMisses
	if r.Outcome == loop.OutcomeOK {
		r.Ended = m.Ended
	}
	return r, nil
}

// agreed returns the promise that all agents of a last step share.
func (c *Execution) agreed(outcome loop.Outcome) promises.Verdict {
	var yes, no []string
	var verdict promises.Verdict
	for _, m := range c.last {
		v := m.completion().Judge(m.Exit.Result)
		if v.Matched {
			verdict, yes = v, append(yes, m.slot.Name)
		} else {
			no = append(no, m.slot.Name)
		}
	}
	if outcome == loop.OutcomeOK && len(no) == 0 {
		return verdict
	}
	if len(yes) > 0 && len(no) > 0 {
		c.x.warn(fmt.Sprintf("%s: done; %s: not done. The loop ends when all agents of the last step say that all is done",
			strings.Join(yes, ", "), strings.Join(no, ", ")))
	}
	return promises.Verdict{}
}

// work runs the steps, one after the other, and returns what they came to.
func (c *Execution) work() backends.Exit {
	c.began, c.owing, c.most = time.Now(), map[*agentRun]bool{}, c.x.State.DearestAnswer
	c.isKnown = c.most > 0
	if c.Solo {
		role := setup.Role{Hat: c.Run.Turn.Hat, Backend: c.Config.Backend, Args: c.Config.Args}
		if c.runStep([]setup.Role{role}, []setup.Slot{{}}, ""); len(c.last) > 0 {
			return c.last[0].Exit
		}
		return backends.Exit{}
	}
	var previous string
	isLooked := true // a snapshot has all that was changed so far
	for n, step := range c.Config.Roles.Steps {
		if !c.mayGoOn() {
			break
		}
		if onlyReads(step) && !isLooked {
			c.x.Inbox.Elsewhere(func() { c.x.Snapshots.AfterStep(c.Run.Iteration) })
		}
		slots := c.Config.Roles.Slots(n)
		c.runStep(step, slots, previous)
		c.x.Tell(stream.TurnEnd{})
		// The changes of a read-only hat are undone and told then.
		if isLooked = onlyReads(step); isLooked && c.mayGoOn() && !c.Run.Turn.IsWave() {
			c.x.Inbox.Elsewhere(func() { c.x.Snapshots.TellOfReaders(slots, c.Run.Iteration) })
		}
		var texts []string
		for _, m := range c.last {
			texts = append(texts, m.Exit.Result.Text)
		}
		previous = joinSteps(slots, texts)
	}
	return c.sum(previous)
}

// mayGoOn says whether nothing keeps the next agent from beginning.
func (c *Execution) mayGoOn() bool {
	c.broke = cmp.Or(c.broke, c.outOf(0))
	return !c.isEnding() && c.broke == ""
}

// runStep runs the agents of a step to their end.
func (c *Execution) runStep(step []setup.Role, slots []setup.Slot, previous string) {
	c.runs, c.last = make([]*agentRun, len(step)), nil
	for k, w := range step {
		c.runs[k] = c.agentRun(w, slots[k], previous)
	}
	for _, m := range c.runs {
		if c.awaitRoom(m); !c.mayGoOn() {
			break
		}
		c.last = append(c.last, m)
		c.owing[m] = true
		m.begin()
	}
	c.serve(func() (bool, time.Time) { return c.atWork() == 0, time.Time{} })
	c.ended = append(c.ended, c.last...)
	c.whole = slots[0].IsLast() && len(c.last) == len(step)
}

// atWork is how many of a step aren't over.
func (c *Execution) atWork() (n int) {
	for _, m := range c.last {
		if !m.isOver {
			n++
		}
	}
	return n
}

// agentRun prepares the run of an agent.
func (c *Execution) agentRun(w setup.Role, at setup.Slot, previous string) *agentRun {
	m := &agentRun{of: c, role: w, slot: at, run: c.Run, scope: c.x.Scope}
	if c.Solo {
		return m
	}
	if c.Apart != nil {
		m.run = c.Apart[at.K-1]
	}
	m.run.Prompt = w.TaskOf(at, c.Run.Prompt, previous)
	shown := c.Run.Prompt
	if c.Apart != nil {
		shown = m.run.TaskText
	}
	id := fmt.Sprintf("step-%d-%d-%d%s", c.Run.Iteration, at.Step, at.K, c.again)
	m.Subagent = Subagent{
		Call: w.CallOf(at, id, shown), Show: c.x.Tell, Tell: m.told, Run: m.own, Says: func(text string) { c.x.Said(&m.Listener, text) },
	}
	return m
}

// join takes a running agent in.
func (c *Execution) join(m *agentRun, agent progress.Agent) {
	m.agent, m.working, c.it.agent = agent, true, c
	m.activity.Touch()
	switch {
	case c.stopping && c.by != nil:
		c.by(agent)
	case c.isEnding():
		agent.Stop(c.grace)
	}
	c.x.Activity.Touch()
	c.tellLeft()
	c.x.Joined(&m.Listener, agent, m.role.Backend, !c.guided)
	c.guided = true
}

// tellLeft tells what has to be ended if this process is killed.
func (c *Execution) tellLeft() {
	var besides []backends.Remains
	var agents []progress.Agent
	for _, m := range c.runs {
		if m.scope != c.x.Scope {
			besides = append(besides, m.scope.Remains())
		}
		if m.agent != nil {
			agents = append(agents, m.agent)
		}
	}
	c.x.State.Run.Besides, c.x.State.Run.Agents = besides, agents
	c.x.Note()
}

// isEnding says whether no other agent is to begin.
func (c *Execution) isEnding() bool { return c.isStopping() || c.failed != nil }

// isStopping says whether all of them are to end.
func (c *Execution) isStopping() bool { return c.stopping || c.x.State.Wanted.Cause != "" }

// HasEndedWell says of an agent of the last step, from 0, whether it came to its end by itself, and well.
func (c *Execution) HasEndedWell(k int) bool { return k < len(c.last) && c.last[k].isWell() }

// fail takes note of the first that fails, and ends those beside it.
func (c *Execution) fail(m *agentRun) {
	if c.Apart != nil {
		return
	}
	if c.failed == nil {
		if c.failed = m; !c.stopping {
			c.grace = backends.Grace
		}
		c.end(func(a progress.Agent) { a.Stop(backends.Grace) })
	}
}

// end ends the agents that run.
func (c *Execution) end(by func(progress.Agent)) {
	for _, m := range c.runs {
		if m.agent != nil {
			by(m.agent)
		}
	}
}

// Stop ends all of them, and lets no other begin.
func (c *Execution) Stop(grace time.Duration) {
	c.stop(grace, func(a progress.Agent) { a.Stop(grace) })
}

// Abort is Stop, for each as it does it best.
func (c *Execution) Abort(grace time.Duration) { c.stop(grace, func(a progress.Agent) { EndRun(a) }) }

func (c *Execution) stop(grace time.Duration, by func(progress.Agent)) {
	if c.grace = min(c.grace, grace); !c.stopping && c.failed == nil {
		c.grace = grace
	}
	c.stopping, c.by = true, by
	c.end(by)
}

// endSilent ends the agent that has been silent for longest, where the agents work apart. ok is false for the last
// one: then all of it is silent.
func (c *Execution) endSilent(grace time.Duration) (ok bool) {
	ok = c.Apart != nil && c.silent != nil && slices.ContainsFunc(c.runs, func(m *agentRun) bool { return m != c.silent && !m.isSilent })
	if ok {
		c.silent.isSilent = true
		c.silent.agent.Stop(grace)
		c.x.Activity.Touch() // it is looked at again when that is over
	}
	return ok
}

// sum is what all that ended came to, and text what the last step did.
func (c *Execution) sum(text string) (all backends.Exit) {
	if n := len(c.last); n > 0 {
		all = c.last[n-1].Exit
		all.Result.Text = text
	}
	if c.Apart != nil && len(c.last) > 0 { // it went as well as the best of them did
		if best := slices.IndexFunc(c.last, (*agentRun).isWell); best >= 0 {
			all = c.last[best].Exit
			all.Result.Text = text
		} else {
			c.failed = c.last[0]
		}
	}
	if f := c.failed; f != nil {
		all = f.Exit
		failure := stream.Error{}
		if known := all.Result.Failure; known != nil {
			failure = *known
		}
		failure.Message = f.Problem
		all.Result.Failure, all.Result.Terminal = &failure, true
	}
	res := &all.Result
	res.Turns, res.ToolCalls, res.Lines, res.SkippedLines, res.Denials, res.Ignored = 0, 0, 0, 0, nil, ""
	all.Strays, all.Survivor, all.Duration = 0, nil, time.Since(c.began)
	for _, m := range c.ended {
		its := m.Exit.Result
		res.Turns, res.ToolCalls = res.Turns+its.Turns, res.ToolCalls+its.ToolCalls
		res.Lines, res.SkippedLines = res.Lines+its.Lines, res.SkippedLines+its.SkippedLines
		res.Ignored = cmp.Or(res.Ignored, its.Ignored)
		if !m.role.ReadOnly { // it was to be refused
			res.Denials = append(res.Denials, its.Denials...)
		}
		c.partial = c.partial || its.Lines > 0 && !its.Usage.Cost.Known
		all.Strays, all.Survivor = all.Strays+m.Exit.Strays, errors.Join(all.Survivor, m.Exit.Survivor)
	}
	res.Usage = c.used(stream.Usage{})
	return all
}

// used is what all of them have used so far, with what else is in a usage.
func (c *Execution) used(sum stream.Usage) stream.Usage {
	sum.Tokens, sum.Cost = stream.Tokens{}, stream.Cost{}
	runs := slices.Clone(c.ended)
	if len(runs) == 0 || len(c.last) > 0 && runs[len(runs)-1] != c.last[len(c.last)-1] {
		runs = append(runs, c.last...)
	}
	for _, m := range runs {
		sum.Tokens, sum.Cost = sum.Tokens.Plus(m.usage.Tokens), sum.Cost.Plus(m.usage.Cost)
	}
	return sum
}

// joinSteps is what the agents of a step came to, for whoever comes behind them.
func joinSteps(slots []setup.Slot, texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for k, text := range texts {
		if k > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("## " + slots[k].Name + "\n\n" + strings.TrimSpace(text))
	}
	return b.String()
}

// onlyReads says whether nobody of a step may change a file.
func onlyReads(step []setup.Role) bool {
	return !slices.ContainsFunc(step, func(w setup.Role) bool { return !w.ReadOnly })
}
