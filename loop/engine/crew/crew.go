package crew

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Crew are the agents of an iteration that has several. To whoever waits for the run, or
// ends it, they are one agent.
type Crew struct {
	Host
	Config    *setup.Config
	Run       setup.Run
	Again     string // sets its calls apart from those of an iteration of this number before
	Snapshots *snapshots.Taker
	Scope     *backends.Scope
	Activity  *Activity   // of all of them
	Apart     []setup.Run // of agents of the only step that work apart: each has its own work, and none ends another

	began    time.Time
	members  []*member       // of the step under way
	ended    []*member       // in the order of their slots
	last     []*member       // of the step that was begun last
	whole    bool            // all agents of the last step have run
	broke    loop.StopReason // which limit, if the money was spent before all could begin
	short    loop.StopReason // which limit has no room for all of a step
	stopping bool
	guided   bool // an agent of the first step has the guidance
	grace    time.Duration
	failed   *member // the first one that did
	silent   *member // who was silent for longest when they were ended, or is
	session  stream.SessionStart

	owing   map[*member]bool // of whom an answer is under way
	isKnown bool             // what an answer costs, as far as anybody tells
	most    float64          // that one has cost, in US dollars
	partial bool             // somebody didn't tell what it has cost
}

// IsPartial says whether what they have cost is known in part only, once all are gone.
func (c *Crew) IsPartial() bool { return c.partial }

// Report is what their run came to, that ended so. cause is why it was ended, "" when it ended by
// itself. An error means that the first could not be started.
func (c *Crew) Report(exit backends.Exit, cause loop.StopReason) (judge.Report, error) {
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
		r.Problem = fmt.Sprintf("%s: %s", c.silent.slot, r.Problem)
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
	if f := c.failed; cause == "" && f != nil && f.Nobody { // whoever worked before it
		r.Nobody, r.NeverBegan = true, true
	}
	return r, nil
}

// agreed is what the agents of a last step promise together: what each of them does.
func (c *Crew) agreed(outcome loop.Outcome) promises.Verdict {
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
		c.Warn(fmt.Sprintf("%s: done; %s: not done. The loop ends when all agents of the last step say that all is done", strings.Join(yes, ", "), strings.Join(no, ", ")))
	}
	return promises.Verdict{}
}

// Work runs the steps, one after the other, and returns what they came to.
func (c *Crew) Work() backends.Exit {
	c.began, c.owing, c.most = time.Now(), map[*member]bool{}, c.now().DearestAnswer
	c.isKnown = c.most > 0
	var previous string
	isLooked := true // a snapshot has all that was changed so far
	for n, step := range c.Config.Steps {
		if !c.mayGoOn() {
			break
		}
		if onlyReads(step) && !isLooked {
			c.Snapshots.AfterStep(c.Run.Iteration)
		}
		slots := c.Config.Slots(n)
		c.runStep(step, slots, previous)
		if isLooked = onlyReads(step); isLooked && c.mayGoOn() && !c.Run.Turn.IsWave() { // what a hat changes that only reads is undone, and told then
			c.Snapshots.TellOfReaders(slots, c.Run.Iteration)
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
func (c *Crew) mayGoOn() bool {
	c.broke = cmp.Or(c.broke, c.outOf(0))
	return !c.isEnding() && c.broke == ""
}

// runStep runs the agents of a step to their end.
func (c *Crew) runStep(step []setup.Role, slots []setup.Slot, previous string) {
	c.members, c.last = make([]*member, len(step)), nil
	for k, w := range step {
		c.members[k] = c.member(w, slots[k], previous)
	}
	for _, m := range c.members {
		if c.awaitRoom(m); !c.mayGoOn() {
			break
		}
		c.last = append(c.last, m)
		c.owing[m] = true
		m.begin()
	}
	c.Serve(func() (bool, time.Time) { return c.atWork() == 0, time.Time{} })
	c.ended = append(c.ended, c.last...)
	c.whole = slots[0].IsLast() && len(c.last) == len(step)
	c.Tell(stream.TurnEnd{})
}

// atWork is how many of a step aren't over.
func (c *Crew) atWork() (n int) {
	for _, m := range c.last {
		if !m.isOver {
			n++
		}
	}
	return n
}

// member prepares an agent.
func (c *Crew) member(w setup.Role, at setup.Slot, previous string) *member {
	m := &member{crew: c, role: w, slot: at, run: c.Run, scope: c.Scope}
	if c.Apart != nil {
		m.run = c.Apart[at.K-1]
	}
	m.run.Prompt = w.TaskOf(at, c.Run.Prompt, previous)
	shown := c.Run.Prompt
	if c.Apart != nil {
		shown = m.run.TaskText
	}
	id := fmt.Sprintf("step-%d-%d-%d%s", c.Run.Iteration, at.Step, at.K, c.Again)
	m.Below = Below{Call: w.CallOf(at, id, shown), Show: c.Tell, Tell: m.told, Run: m.own, Says: func(text string) { c.Said(&m.Partner, text) }}
	return m
}

// join takes a running agent in.
func (c *Crew) join(m *member, agent progress.Agent) {
	m.agent, m.working = agent, true
	m.activity.Touch()
	if c.isEnding() {
		agent.Stop(c.grace)
	}
	c.Activity.Touch()
	c.tellLeft()
	c.Met(&m.Partner, agent, m.role.Backend, !c.guided)
	c.guided = true
}

// tellLeft tells what has to be ended if this process is killed.
func (c *Crew) tellLeft() {
	var besides []backends.Remains
	var agents []progress.Agent
	for _, m := range c.members {
		if m.scope != c.Scope {
			besides = append(besides, m.scope.Remains())
		}
		if m.agent != nil {
			agents = append(agents, m.agent)
		}
	}
	c.Changed(besides, agents)
}

// isEnding says whether no other agent is to begin.
func (c *Crew) isEnding() bool { return c.isStopping() || c.failed != nil }

// isStopping says whether all of them are to end, whatever became of them.
func (c *Crew) isStopping() bool { return c.stopping || c.now().Cause != "" }

// HasEndedWell says of an agent of the last step, from 0, whether it came to its end by itself, and well.
func (c *Crew) HasEndedWell(k int) bool { return k < len(c.last) && c.last[k].isWell() }

// fail takes note of the first that fails, and ends those beside it.
func (c *Crew) fail(m *member) {
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
func (c *Crew) end(by func(progress.Agent)) {
	for _, m := range c.members {
		if m.agent != nil {
			by(m.agent)
		}
	}
}

// Stop ends all of them, and lets no other begin.
func (c *Crew) Stop(grace time.Duration) { c.stop(grace, func(a progress.Agent) { a.Stop(grace) }) }

// Abort is Stop, for each as it does it best.
func (c *Crew) Abort(grace time.Duration) { c.stop(grace, func(a progress.Agent) { EndRun(a) }) }

func (c *Crew) stop(grace time.Duration, by func(progress.Agent)) {
	if c.grace = min(c.grace, grace); !c.stopping && c.failed == nil {
		c.grace = grace
	}
	c.stopping = true
	c.end(by)
}

// EndSilent ends the agent that has been silent for longest, where the agents work apart. ok is false for the last
// one: then all of it is silent.
func (c *Crew) EndSilent(grace time.Duration) (ok bool) {
	ok = c.Apart != nil && c.silent != nil && slices.ContainsFunc(c.members, func(m *member) bool { return m != c.silent && !m.isSilent })
	if ok {
		c.silent.isSilent = true
		c.silent.agent.Stop(grace)
		c.Activity.Touch() // it is looked at again when that is over
	}
	return ok
}

// sum is what all that ended came to, and text what the last step did.
func (c *Crew) sum(text string) (all backends.Exit) {
	if n := len(c.last); n > 0 {
		all = c.last[n-1].Exit
		all.Result.Text = text
	}
	if c.Apart != nil && len(c.last) > 0 { // it went as well as the best of them did
		if best := slices.IndexFunc(c.last, (*member).isWell); best >= 0 {
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
func (c *Crew) used(sum stream.Usage) stream.Usage {
	sum.Tokens, sum.Cost = stream.Tokens{}, stream.Cost{}
	members := slices.Clone(c.ended)
	if len(members) == 0 || len(c.last) > 0 && members[len(members)-1] != c.last[len(c.last)-1] {
		members = append(members, c.last...)
	}
	for _, m := range members {
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
