package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Handle is a loop of a bus for whoever commands it, for as long as Ctx. It is for one goroutine.
type Handle struct {
	Ctx    context.Context
	Bus    Bus
	Record Record          // as a command has left it, or as it was known before
	said   wire.LoopResult // what came of the last command
}

var _ loop.Handle = (*Handle)(nil)

// Result is where the last command has left the loop. Its text is what came of that, "" where its state says it.
func (h *Handle) Result() wire.LoopResult {
	now := h.Status()
	return wire.LoopResult{LoopID: now.LoopID, State: string(now.State), Iteration: cmp.Or(h.said.Iteration, now.Iteration), Text: h.said.Text}
}

// Status implements loop.Handle. What only an iteration knows isn't in it.
func (h *Handle) Status() loop.Status { return h.Record.status("", time.Now()) }

// Pause implements loop.Handle.
func (h *Handle) Pause() error {
	h.said = wire.LoopResult{}
	return h.change(func(r *Record) error { return r.Pause(time.Now().UTC()) })
}

// Next implements loop.Handle.
func (h *Handle) Next() (iteration int, err error) {
	said, err := h.ask(loop.Request{Do: caller.Next})
	h.said = wire.LoopResult{Iteration: said.Iteration, Text: wire.NextText(said.Iteration)}
	return said.Iteration, err
}

// Resume implements loop.Handle, see Record.Resume.
func (h *Handle) Resume(p loop.Patch) error {
	if p.Accept {
		return wire.Unable(h.Record.ID, wire.AsSubmitted)
	}
	enqueue := false
	err := h.change(func(r *Record) (err error) {
		enqueue, err = r.Resume(p, time.Now().UTC())
		return err
	})
	if err == nil && enqueue {
		err = h.Bus.Enqueue(h.Ctx, h.Record)
	}
	h.said = wire.LoopResult{Text: "the loop goes on"}
	return err
}

// cancelPatience is how long a cancel waits for a worker: longer than a lease.
const cancelPatience = 90 * time.Second

// Cancel ends the loop, and returns when its worker has ended all of it.
func (h *Handle) Cancel() error {
	ctx, stop := context.WithTimeout(h.Ctx, cancelPatience)
	defer stop()
	err := h.change(func(r *Record) error { return r.Cancel(time.Now().UTC()) })
	h.said = wire.LoopResult{Text: "the loop is cancelled"}
	r := &h.Record
	if err != nil || r.Phase == Ended { // it was nobody's, as nearly all of many are: to watch one takes ten times as long as to end it
		return err
	}
	changes, err := h.Bus.Watch(ctx, r.ID)
	if err != nil {
		return err
	}
	if _, _, err := h.Bus.Get(ctx, r.ID); errors.Is(err, ErrNotFound) { // it was removed before it was watched, which is no news
		r.Phase = Removed
	} else if err != nil {
		return err
	}
	for id, worker := r.ID, r.Worker; r.Phase != Ended && r.Phase != Removed; {
		var ok bool
		select {
		case *r, ok = <-changes:
		case <-ctx.Done():
		}
		if !ok {
			return fmt.Errorf("%s: its worker (%s) hasn't answered yet; it ends when that does, or its lease is over", id, worker)
		}
	}
	return nil
}

// Update implements loop.Handle, for good; the prompt can be changed while an iteration runs.
func (h *Handle) Update(p loop.Patch) error {
	bound := func(r *Record) error { return r.Bound(p) }
	tell := func() error {
		said, err := h.ask(loop.Request{Do: caller.Update, Patch: p})
		h.said = wire.LoopResult{Text: said.Bounds}
		return err
	}
	if h.Record.Phase == Ended {
		return h.change(bound) // and nobody is told
	}
	err := tell()
	isIdle := errors.Is(err, ErrNobody) || errors.Is(err, loop.ErrNotRunning)
	if err != nil && (!isIdle || p.Prompt != nil) {
		return err
	}
	err = h.change(bound)
	switch {
	case err != nil && !isIdle:
		return fmt.Errorf("the iteration that runs obeys, but the loop hasn't kept it for the next ones: %w; say it again", err)
	case err == nil && isIdle && tell() != nil: // an iteration may have begun meanwhile
		h.said.Text = h.Record.Limits().Line("")
	}
	return err
}

// Reserve changes what the loop's iterations to come reserve, in dollars.
func (h *Handle) Reserve(usd float64) error {
	return h.change(func(r *Record) error {
		r.Task.Reserve = usd
		return r.Fits()
	})
}

// Disallow implements loop.Handle, for the iteration that runs.
func (h *Handle) Disallow(rule string) error {
	_, err := h.ask(loop.Request{Do: loop.DoDisallow, Steering: loop.Steering{Text: rule}})
	h.said = wire.LoopResult{Text: wire.DisallowedText([]string{rule})}
	return err
}

// Steer implements loop.Handle. Each piece is told once.
func (h *Handle) Steer(q loop.Steering) (id string, err error) {
	if q.Forget > 0 {
		return "", &wire.Failure{Key: "text", Err: errors.New("a loop of a fleet is told each thing once, so there is nothing to take back")}
	}
	err = h.change(func(r *Record) error { return r.Steer(q.Text, time.Now().UTC()) })
	if h.said = (wire.LoopResult{Text: "the next iteration is told"}); h.IsLive() {
		h.said.Text = "the loop on " + h.Record.Worker + " is told"
	}
	return "", err
}

// IsLive implements loop.Handle.
func (h *Handle) IsLive() bool { return h.Record.Phase == Running }

// Answer implements loop.Handle.
func (h *Handle) Answer(id string, a ask.Answer) error {
	_, err := h.ask(loop.Request{Do: caller.Answer, ID: id, Answer: a})
	h.said = wire.LoopResult{}
	return err
}

// Saved implements loop.Handle.
func (h *Handle) Saved(loopstate.State) error {
	return wire.Unable(h.Record.ID, "its state file is with its worker")
}

// Detach implements loop.Handle.
func (h *Handle) Detach() (iteration int, err error) {
	return 0, wire.Unable(h.Record.ID, "a loop of a fleet goes on without this window as it is")
}

// change changes the record.
func (h *Handle) change(do func(*Record) error) error {
	r, err := Change(h.Ctx, h.Bus, h.Record.ID, do)
	if err == nil {
		h.Record = r
	}
	return err
}

// ask has the worker that runs an iteration bring a request to the loop.
func (h *Handle) ask(q loop.Request) (said answer, err error) {
	request, err := json.Marshal(q)
	if err != nil {
		return said, err
	}
	reply, err := h.Bus.Ask(h.Ctx, h.Record.ID, request)
	if err != nil {
		return said, err
	}
	if err := json.Unmarshal(reply, &said); err != nil {
		return said, fmt.Errorf("the worker's answer: %w", err)
	}
	return said, said.Err()
}
