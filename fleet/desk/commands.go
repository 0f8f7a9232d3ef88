package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Do implements elsewhere.Place.
func (d *Desk) Do(ctx context.Context, command string, argument any) (any, error) {
	switch p := argument.(type) {
	case wire.ReadParams:
		return d.read(ctx, p)
	case wire.OutlineParams:
		return d.outline(ctx, p)
	case wire.OutputParams:
		return d.output(ctx, p)
	}
	about, ok := argument.(interface{ Target() wire.LoopParams })
	if !ok {
		return nil, fmt.Errorf("%s names no loop", command)
	}
	r, bus, err := d.record(about.Target())
	if err != nil {
		return nil, err
	}
	result, err := d.do(ctx, bus, r, command, argument)
	return result, d.plainly(err)
}

func (d *Desk) do(ctx context.Context, bus fleet.Bus, r fleet.Record, command string, argument any) (any, error) {
	now := time.Now().UTC()
	switch p := argument.(type) {
	case wire.CancelParams:
		if p.When != "" && p.When != wire.WhenNow {
			return nil, &wire.Failure{Reason: wire.ReasonElsewhere, Err: errors.New("a loop of a fleet is cancelled at once; to end it behind its iteration, pause it and cancel it then")}
		}
		r, err := fleet.CancelLoop(ctx, bus, r.ID)
		return d.result(r, "the loop is cancelled"), err
	case wire.ResumeParams:
		if p.Accept || p.Backend != "" || p.Said != (wire.ResumeParams{}).Said {
			return nil, &wire.Failure{Reason: wire.ReasonElsewhere, Err: errors.New("a loop of a fleet goes on as it was submitted: say new limits as such, and leave the rest out")}
		}
		patch, err := r.PatchOf(p.LimitParams, p.Text)
		if err != nil {
			return nil, err
		}
		r, err := fleet.ResumeLoop(ctx, bus, r.ID, patch)
		return d.result(r, "the loop goes on"), err
	case wire.SteerParams:
		said, err := loop.ParseSteering(p.Text)
		if err == nil && said.Forget > 0 {
			err = errors.New("a loop of a fleet is told each thing once, so there is nothing to take back")
		}
		if err != nil {
			return nil, &wire.Failure{Key: "text", Err: err}
		}
		r, err := fleet.Change(ctx, bus, r.ID, func(r *fleet.Record) error { return r.Steer(said.Text, now) })
		text := "the next iteration is told"
		if r.Phase == fleet.Running {
			text = "the loop on " + r.Worker + " is told"
		}
		return wire.SteerResult{Text: text}, err
	case wire.AnswerParams:
		var result wire.AnswerResult
		err := fleet.AskWorker(ctx, bus, r.ID, command, editor, p, &result)
		return result, err
	case wire.ChangeParams:
		result, err := fleet.UpdateLoop(ctx, bus, r.ID, editor, p)
		result.LoopID = r.ID
		return result, err
	}
	switch command {
	case wire.CommandPause:
		r, err := fleet.Change(ctx, bus, r.ID, func(r *fleet.Record) error { return r.Pause(now) })
		text := "the loop is paused"
		if r.Phase == fleet.Running {
			text = "the loop pauses after this iteration"
		}
		return d.result(r, text), err
	case wire.CommandNext:
		var result wire.LoopResult
		err := fleet.AskWorker(ctx, bus, r.ID, command, editor, wire.LoopParams{}, &result)
		result.LoopID = r.ID
		return result, err
	case wire.CommandFetch:
		return d.fetch(ctx, bus, r)
	}
	return nil, &wire.Failure{Reason: wire.ReasonElsewhere, Err: fmt.Errorf("%s can't be done with a loop of a fleet", command)}
}

// editor is who answers, for the agent.
const editor = "editor"

// result is where a command left its loop.
func (d *Desk) result(r fleet.Record, text string) wire.LoopResult {
	l := d.statusOf(r, fleet.Shown{}, false)
	return wire.LoopResult{LoopID: r.ID, State: l.State, Iteration: l.Iteration, Text: text}
}

// plainly gives the errors of a fleet their reasons.
func (d *Desk) plainly(err error) error {
	var known *wire.Failure
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, fleet.ErrEnded), errors.Is(err, fleet.ErrNotFound):
		return &wire.Failure{Reason: wire.ReasonNotRunning, Err: err}
	case errors.Is(err, fleet.ErrNobody):
		return &wire.Failure{Reason: wire.ReasonNoRun, Err: fmt.Errorf("%w: it can be told that while an iteration runs", err)}
	}
	return err
}
