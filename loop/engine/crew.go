package engine

import (
	"strconv"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/crew"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// runSteps runs the agents of an iteration that has steps.
func (l *runs) runSteps(run setup.Run) (judge.Report, error) {
	c := l.crewOf(run)
	l.snapshotBefore()
	return l.runCrew(c)
}

// runWave runs the agents of a hat that works on several topics, one each.
func (l *runs) runWave(cfg setup.Config, run setup.Run) (judge.Report, error) {
	c := l.crewOf(run)
	c.Config, c.Apart = cfg.WaveOf(run.Turn), run.EachTopic()
	l.snapshotBefore()
	if err := l.snapshots.MayOnlyRead(run.Turn.Hat); err != nil {
		return judge.Report{}, err
	}
	return l.runCrew(c)
}

// crewOf is the crew of an iteration.
func (l *runs) crewOf(run setup.Run) *crew.Crew {
	c := &crew.Crew{Host: l.crewHost(run), Config: &l.cfg, Run: run, Snapshots: &l.snapshots, Scope: l.scope, Activity: &l.activity}
	if l.crewed == run.Iteration || l.crewed == 0 && l.cfg.Continue { // maybe before we took it up
		c.Again = "-" + strconv.FormatInt(time.Now().UnixMilli(), 36)
	}
	l.crewed = run.Iteration
	return c
}

// runCrew runs the agents of a crew to their end. An error means that the first could not be started.
func (l *runs) runCrew(c *crew.Crew) (judge.Report, error) {
	l.setRunning(c)
	it := &running{agent: c}
	w := l.attend(it)
	c.Serve = w.serve
	it.exit = c.Work()
	cause := w.end()
	l.endConversation()
	l.state.Change(func(p *progress.State) { p.PartUnknown = p.PartUnknown || c.IsPartial() })
	return c.Report(it.exit, cause)
}

// crewHost is the loop as its crew knows it.
func (l *runs) crewHost(run setup.Run) crew.Host {
	return crew.Host{
		Launch: func(p crew.Part) { l.launch(p) }, OpenScope: l.openScope, Change: l.state.Change,
		Handle: l.Handle, Tell: l.tellEvent,
		Changed: func(besides []backends.Remains, agents []progress.Agent) {
			l.state.Change(func(p *progress.State) { p.Besides, p.Agents = besides, agents })
			l.setOwner()
		},
		Warn: func(message string) { l.emit(loop.Warning{Message: message}) },
		Met: func(p *guidance.Partner, agent progress.Agent, backend backends.Backend, isFirst bool) {
			if isFirst {
				l.tellDelivered(run.Guidance)
			}
			l.meet(p, agent, backend)
		},
		Parted: l.part, Said: l.hasSaid, TakeBack: l.desk.TakeBack,
		Spent: func(sum stream.Usage) {
			var warning string
			l.state.Change(func(p *progress.State) { warning = p.CountUsage(sum) })
			l.tellEvent(sum)
			l.hasSpent(warning)
		},
		Poke: l.poke,
	}
}

// tellEvent hands an event on that is about no run of the iteration's own.
func (l *ground) tellEvent(e stream.Event) {
	switch e.(type) {
	case stream.ToolCall, stream.ToolResult:
		l.state.Change(func(p *progress.State) { p.Status.Agents.Follow(e, time.Now()) })
		if crew.IsOurs(e) {
			l.setOwner()
		}
	}
	l.emitMu.Lock()
	defer l.emitMu.Unlock()
	l.obs.Handle(e)
}
