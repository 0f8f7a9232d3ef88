package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/loopstate"
	"ralph-lsp/stream"
	"ralph-lsp/verify"
)

const (
	// tailInterval is how often the output of a check is shown while it grows.
	tailInterval = beatInterval
	// checkBookBeats is how many of them pass between two writes of the time that a
	// check takes.
	checkBookBeats = 10
)

// check runs the check once. ok is false when the loop is to end before that has
// told anything.
func (l *Loop) check(iteration int) (result verify.Result, ok bool) {
	began := time.Now()
	var isStopping bool
	l.change(func(p *progress) {
		if isStopping = p.cause != ""; isStopping {
			return
		}
		p.status.IterationStartedAt, p.stopped = began, 0
		p.status.Tool = &ToolStatus{Call: l.cfg.checkCall(), StartedAt: began}
	})
	if isStopping {
		return result, false
	}
	l.setState(StateChanged{State: StateRunning}, nil)
	l.fileMu.Lock()
	l.save(func(*loopstate.State) {}) // who is killed from here on goes on with it; a failure shows at the next iteration
	l.fileMu.Unlock()
	l.awaitUndo()
	l.emit(l.verification(verify.Running))
	out := &verify.Output{}
	exit := l.runCheck(iteration, out)
	var took time.Duration
	l.change(func(p *progress) {
		took = time.Since(began) - p.stopped
		p.running, p.status.Tool = nil, nil
		p.base.elapsed += took
		isStopping = p.cause != ""
	})
	l.setOwner()
	if isStopping {
		return result, false
	}
	result = out.Judge(exit)
	told := l.verification(result.State)
	told.Why, told.Code, told.Duration, told.Output, told.Problems = result.Why, exit.Code, took, result.Output, result.Problems
	l.emit(told)
	return result, true
}

// checkCall is the check as the tool that runs.
func (c Config) checkCall() stream.ToolCall {
	input, _ := json.Marshal(map[string]string{"command": c.Verify.String()}) // texts can always be encoded
	return stream.ToolCall{ID: "verify", Name: "verifying", Input: input}
}

// verification is what is told of the check that runs.
func (l *Loop) verification(state verify.State) Verify {
	v := Verify{State: state, Command: l.cfg.Verify.String()}
	l.look(func(p *progress) { v.Promised = p.proof.promised != "" })
	if state == verify.Unchecked && (v.Promised || l.cfg.Verify.When == verify.OnUntil) {
		v.Offer = Offer{LoopID: l.id, Folder: l.cfg.Folder, Unchecked: true}
	}
	return v
}

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
				v := l.verification(verify.Running)
				v.Output = out.Tail()
				l.emit(v)
			}
		}
	}
}

// ruleOf tells an agent how its word is checked; "" where it isn't.
func ruleOf(check verify.Check) string {
	switch {
	case !check.IsSet():
		return ""
	case check.When == verify.OnUntil:
		return fmt.Sprintf("The loop ends when this command passes, which is run in the folder after each iteration: `%s`. You needn't say that you are done.", check)
	}
	return fmt.Sprintf("When you say that you are done, this command is run in the folder, and only if it passes the loop ends: `%s`. Run it yourself before you say so.", check)
}
