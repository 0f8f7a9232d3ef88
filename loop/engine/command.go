package engine

import (
	"cmp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/crew"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/proof"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// checkBookBeats is how many beats pass between two writes of the time that a check
// takes.
const checkBookBeats = 10

// commandGate runs the command.
var commandGate = gate{proof.Gate{Name: verify.CommandGate, Each: true}, func(l *checks, done *checkedRun) verify.Result {
	out := &verify.Output{}
	result := out.Judge(l.runCheck(done, out))
	verify.Locate(cmp.Or(done.folder, l.cfg.Folder), result.Problems)
	return result
}}

// runCheck starts the command and waits until it and all that it started are gone.
func (l *runs) runCheck(done *checkedRun, out *verify.Output) verify.Exit {
	dir := cmp.Or(done.folder, l.cfg.Folder)
	it := l.launch(crew.Part{
		Role: setup.Role{Backend: backends.Program(done.Check.Argv(), dir)}, Began: func(command progress.Agent) { l.setRunning(command) },
		Spec: backends.Spec{Dir: dir, Own: done.own, Scope: l.scope, Iteration: done.iteration, Raw: out},
	})
	var shown int64
	late := l.attendGate(it, done.Check, false, func() {
		if size := out.Size(); size != shown {
			shown = size
			v := l.verification(done.Check, verify.CommandGate, verify.Running)
			v.Output = out.Tail()
			l.emit(v)
		}
	})
	if it.err != nil {
		return verify.Exit{Code: -1, Missing: loop.OneLine(it.err.Error())}
	}
	exit := it.exit
	if exit.Survivor != nil {
		l.emit(loop.Warning{Message: exit.Survivor.Error()})
	}
	told := verify.Exit{Code: exit.Code, Signal: exit.Signal}
	if late != "" {
		told.TimedOut = done.Check.Timeout
	}
	if f := exit.Result.Failure; f != nil {
		told.Missing = loop.OneLine(f.Message)
	}
	return told
}

// attendGate waits for what a gate has started. It ends that when it takes longer
// than a check may, or if it mayn't be silent for so long, and says why; and the loop
// when its time is up. beat is called each second.
func (l *runs) attendGate(it *running, check verify.Check, mustSpeak bool, beat func()) (late string) {
	began, n := time.Now(), 1
	w := &watch{
		l: l, it: it,
		until: func() (at time.Time) {
			if late == "" && l.causeOf(judge.Report{}) == "" {
				idle, slow, overtime := l.gateDeadlines(began, check, mustSpeak)
				at = progress.Earlier(idle, progress.Earlier(slow, overtime))
			}
			return at
		},
		late: func(now time.Time) {
			switch idle, slow, overtime := l.gateDeadlines(began, check, mustSpeak); {
			case !now.Before(overtime):
				l.requestStop(loop.StopMaxTime, backends.Grace)
			case !now.Before(slow):
				late = "took longer than " + tell.Duration(check.Timeout)
				it.agent.Stop(backends.Grace)
			case !now.Before(idle):
				late = "fell silent"
				it.agent.Stop(backends.Grace)
			}
		},
		beat: func() {
			if n++; n%checkBookBeats == 0 {
				l.noteSpending()
			}
			beat()
		},
		woken: func() {},
	}
	w.untilOver()
	return late
}

// gateDeadlines are the moments at which what a gate has started has been silent for
// too long, takes too long, and at which the loop's time is up. Time in which this
// process was stopped doesn't count.
func (l *runs) gateDeadlines(began time.Time, check verify.Check, mustSpeak bool) (idle, slow, overtime time.Time) {
	idle, overtime = l.deadlines()
	slow = overtime
	if limit := check.Timeout; limit > 0 {
		l.state.Look(func(p *progress.State) {
			if !p.Desk.HoldsAgent() {
				slow = began.Add(limit + p.Idle())
			}
		})
	}
	if !mustSpeak {
		idle = overtime
	}
	return idle, slow, overtime
}
