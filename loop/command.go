package loop

import (
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/verify"
)

const (
	// tailInterval is how often the output of a check is shown while it grows.
	tailInterval = beatInterval
	// checkBookBeats is how many of them pass between two writes of the time that a
	// check takes.
	checkBookBeats = 10
)

// commandGate runs the command.
var commandGate = gate{verify.CommandGate, true, func(l *Loop, q *question) verify.Result {
	out := &verify.Output{}
	result := out.Judge(l.runCheck(q.iteration, out))
	verify.Locate(l.cfg.Folder, result.Problems)
	return result
}}

// runCheck starts the command and waits until it and all that it started are gone.
func (l *Loop) runCheck(iteration int, out *verify.Output) verify.Exit {
	agent, err := l.start(backends.Spec{
		Backend: backends.Program(l.cfg.Verify.Argv(), l.cfg.Folder), Dir: l.cfg.Folder,
		Scope: l.scope, Iteration: iteration, Raw: out,
	})
	if err != nil {
		return verify.Exit{Code: -1, Missing: oneLine(err.Error())}
	}
	l.setRunning(agent)
	exit, isLate := l.attendCheck(agent, out)
	if exit.Survivor != nil {
		l.emit(Warning{Message: exit.Survivor.Error()})
	}
	told := verify.Exit{Code: exit.Code, Signal: exit.Signal}
	if isLate {
		told.TimedOut = l.cfg.Verify.Timeout
	}
	if f := exit.Result.Failure; f != nil {
		told.Missing = oneLine(f.Message)
	}
	return told
}

// attendCheck waits for a running check, shows what it prints, and ends it when it
// takes too long.
func (l *Loop) attendCheck(agent Agent, out *verify.Output) (exit backends.Exit, isLate bool) {
	exited := make(chan backends.Exit, 1)
	go func() { exited <- agent.Wait() }()
	limit := l.cfg.Verify.Timeout
	worked := time.NewTimer(limit)
	defer worked.Stop()
	if limit == 0 {
		worked.Stop()
	}
	began := time.Now()
	last := began
	beats := time.NewTicker(tailInterval)
	defer beats.Stop()
	var shown int64
	for beat := 1; ; {
		select {
		case exit = <-exited:
			l.beat(last)
			return exit, isLate
		case <-worked.C:
			last = l.beat(last)
			var left time.Duration
			l.look(func(p *progress) { left = limit + p.stopped - time.Since(began) })
			if left > 0 { // this process was stopped for so long
				worked.Reset(left)
				continue
			}
			isLate = true
			agent.Stop(backends.Grace)
		case <-l.wake:
			l.showCancelling()
		case <-beats.C:
			last = l.beat(last)
			if beat++; beat%checkBookBeats == 0 {
				l.noteSpending()
			}
			if size := out.Size(); size != shown {
				shown = size
				v := l.verification(verify.CommandGate, verify.Running)
				v.Output = out.Tail()
				l.emit(v)
			}
		}
	}
}

// ruleOf tells an agent how its word is checked; "" where it isn't.
func ruleOf(check verify.Check) string {
	rule := "When you say that you are done, that is verified."
	switch {
	case !check.IsSet():
		return ""
	case check.When == verify.OnUntil:
		rule = "The loop ends when this command passes, which is run in the folder after each iteration: `" + check.String() + "`. You needn't say that you are done."
	case check.Has(verify.CommandGate):
		rule = "When you say that you are done, this command is run in the folder, and only if it passes the loop ends: `" + check.String() + "`. Run it yourself before you say so."
	}
	if besides := check.Besides(); besides != "" {
		rule += " What counts besides: " + besides + "."
	}
	return rule
}
