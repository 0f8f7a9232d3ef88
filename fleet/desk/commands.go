package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ralph-lsp/fleet"
	"ralph-lsp/loop"
	"ralph-lsp/wire"
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
		return d.cancel(ctx, bus, r, p)
	case wire.ResumeParams:
		if r.Phase == fleet.Running && r.Wish == "" {
			return d.ask(ctx, bus, r, command, p, new(wire.LoopResult))
		}
		if p.Accept || p.Backend != "" || p.Sandbox != "" {
			return nil, &wire.Failure{Reason: wire.ReasonElsewhere, Err: errors.New("a loop of a fleet goes on as it was submitted: say new limits as such, and leave the rest out")}
		}
		patch, err := r.PatchOf(p.LimitParams, p.Text)
		if err != nil {
			return nil, err
		}
		r, err := fleet.ResumeLoop(ctx, bus, r.ID, patch)
		return d.result(r, "the loop goes on"), err
	case wire.SteerParams:
		if strings.TrimSpace(p.Text) == "" {
			return nil, &wire.Failure{Key: "text", Err: errors.New("text is empty: say what the agent should know")}
		}
		r, err := fleet.Change(ctx, bus, r.ID, func(r *fleet.Record) error { return r.Steer(p.Text, now) })
		text := "the next iteration is told"
		if r.Phase == fleet.Running {
			text = "the loop on " + r.Worker + " is told"
		}
		return wire.SteerResult{Text: text}, err
	case wire.AnswerParams:
		return d.ask(ctx, bus, r, command, p, new(wire.AnswerResult))
	case wire.ChangeParams:
		p.LoopParams = wire.LoopParams{}
		result, err := fleet.UpdateLoop(ctx, bus, r.ID, "", p)
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
		return d.ask(ctx, bus, r, command, wire.LoopParams{}, new(wire.LoopResult))
	case wire.CommandFetch:
		return d.fetch(ctx, bus, r)
	}
	return nil, &wire.Failure{Reason: wire.ReasonElsewhere, Err: fmt.Errorf("%s can't be done with a loop of a fleet", command)}
}

// result is where a command left its loop.
func (d *Desk) result(r fleet.Record, text string) wire.LoopResult {
	s := d.stateOf(r)
	return wire.LoopResult{LoopID: r.ID, State: string(s.State), Iteration: s.Iteration, Text: text}
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

// cancelPatience is how long a cancel waits for a worker: longer than a lease.
const cancelPatience = 90 * time.Second

// cancel ends a loop. It answers when its worker has ended all of it.
func (d *Desk) cancel(ctx context.Context, bus fleet.Bus, r fleet.Record, p wire.CancelParams) (any, error) {
	switch p.When {
	case "", wire.WhenNow:
	default:
		return nil, &wire.Failure{Reason: wire.ReasonElsewhere, Err: errors.New("a loop of a fleet is cancelled at once; to end it behind its iteration, pause it and cancel it then")}
	}
	ctx, stop := context.WithTimeout(ctx, cancelPatience)
	defer stop()
	changes, err := bus.Watch(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if r, err = fleet.Change(ctx, bus, r.ID, func(r *fleet.Record) error { return r.Cancel(time.Now().UTC()) }); err != nil {
		return nil, err
	}
	for r.Phase != fleet.Ended {
		now, ok := <-changes
		if !ok {
			return nil, fmt.Errorf("the worker of the loop (%s) hasn't answered yet; it ends when that does, or its lease is over", r.Worker)
		}
		r = now
	}
	return d.result(r, "the loop is cancelled"), nil
}

// request is what a worker is asked.
type request struct {
	Command string `json:"command"`
	Params  any    `json:"params"`
}

// answer is what it says.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"error"`
}

// ask has the worker that runs an iteration carry out a command on its checkout.
func (d *Desk) ask(ctx context.Context, bus fleet.Bus, r fleet.Record, command string, params, result any) (any, error) {
	data, err := json.Marshal(request{command, withoutLoop(params)})
	if err != nil {
		return nil, err
	}
	said, err := bus.Ask(ctx, r.ID, data)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(said, &a); err != nil {
		return nil, fmt.Errorf("what the worker %s answers can't be read: %w", r.Worker, err)
	}
	if a.Error != nil {
		if a.Error.Reason == wire.ReasonNoQuestion {
			return nil, loop.ErrNoQuestion
		}
		if a.Error.Reason == "" {
			return nil, errors.New(a.Error.Message)
		}
		return nil, &wire.Failure{Reason: a.Error.Reason, Err: errors.New(a.Error.Message)}
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return nil, fmt.Errorf("what the worker %s answers can't be read: %w", r.Worker, err)
	}
	switch r2 := result.(type) {
	case *wire.LoopResult:
		r2.LoopID = r.ID
		return *r2, nil
	case *wire.AnswerResult:
		return *r2, nil
	}
	return result, nil
}

// withoutLoop takes the loop's name out of parameters: on its worker it has another one.
func withoutLoop(params any) any {
	switch p := params.(type) {
	case wire.AnswerParams:
		p.LoopParams = wire.LoopParams{}
		return p
	case wire.ResumeParams:
		p.LoopParams = wire.LoopParams{}
		return p
	}
	return params
}
