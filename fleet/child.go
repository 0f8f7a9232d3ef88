package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/fleet/child"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// runChild has a child run the next iteration, and returns what it ended with. say gets each line that it prints.
func (w *Worker) runChild(ctx context.Context, a *attempt, tree, promptFile string, say func(line []byte)) (exit, err error) {
	for {
		wasLeft, err := w.startChild(a, tree, promptFile, say)
		if err != nil {
			return nil, err
		}
		a.beats(a.child.Renew)
		exit = a.child.Wait(ctx)
		last, begun := a.child.Said()
		if !wasLeft || begun || ctx.Err() != nil || last.Reason != "" && !child.GoesOn(last) {
			return exit, nil
		}
		a.child.End() // it was about to when it was asked
	}
}

// startChild starts the child of an iteration, with walls around it or as its flags say, unless that of the one before was
// left for it.
func (w *Worker) startChild(a *attempt, tree, promptFile string, say func(line []byte)) (wasLeft bool, err error) {
	args := []string{"--once", "--lease", a.lease.String(), "--output", "json", "-C", tree}
	if w.Walls {
		args = append(args, inWalls)
	}
	args = slices.Concat(args, a.Flags, a.Changed)
	if limit := a.Limits().MaxCostUSD; limit > 0 && a.LostUSD+a.Forgotten > 0 { // it doesn't know of that
		args = append(args, fmt.Sprintf("--max-cost=%.4f", limit-a.LostUSD-a.Forgotten))
	}
	if a.child = w.checkouts.left.Take(a.ID); a.child != nil {
		if len(a.Guidance) == 0 && a.child.Fits(args, a.lease) { // else guidance would be told to the iteration behind this one
			a.listens.begin(tree)
			a.child.Again(say)
			return true, nil
		}
		a.child.End()
	}
	a.listens.enter(tree, a.Guidance)
	a.listens.begin(tree)
	first := []string{"run", "--continue"}
	if !a.HasState {
		first = []string{"run", "--prompt-file", promptFile}
	}
	a.child, err = child.Start(w.Program, environ(tree), first, args, say)
	return false, err
}

// endChild ends the attempt's child, unless that is left for another attempt.
func (a *attempt) endChild() {
	if a.child != nil {
		a.child.End()
	}
}

// outcome says what a child of an attempt came to: by its exit, its last words, and the state that it left. What it
// has cost is said with an error too.
func outcome(r Record, c *child.Child, exit error, tree string) (o Outcome, limited bool, err error) {
	said, begun := c.Said()
	if o.CostOpen = begun; said.Reason == "" {
		return o, false, fmt.Errorf("%s (it ended with %w, and didn't say how its loop stands)",
			cmp.Or(c.Words(), "ralph-lsp said nothing"), cmp.Or(exit, errors.New("success")))
	}
	o.CostOpen, o.Unknown = !said.Cost.Known || said.Unknown > r.Unknown, max(said.Unknown, r.Unknown)
	// Its sum is of all iterations that its state knows. An older version may have written that state, and had its sums
	// elsewhere: what the record has beyond the child's sum counts besides. It gets no less when the sum has more than the
	// iteration, as the reviews.
	if o.Forgotten = r.CostUSD + c.Spent() - said.Cost.USD; o.Forgotten < 1e-9 {
		o.Forgotten = 0
	} else {
		o.Forgotten = max(o.Forgotten, r.Forgotten)
	}
	o.CostUSD = said.Cost.USD + o.Forgotten
	if said.Reason.Ending().OfMachine {
		return o, false, errors.New(cmp.Or(said.Text, string(said.Reason)))
	}
	o.Iterations, o.Text = said.Iterations, said.Text
	state, err := readState(tree)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it is over, or never began
		if said.Reason != loop.StopInterrupted {
			o.StopReason = string(said.Reason)
		}
		return o, false, nil
	case err != nil:
		return o, false, err
	}
	o.HasState, o.Agent = true, state.Backend
	switch {
	case child.GoesOn(said):
		o.Paused, o.ResumeAt = !state.Active, state.ResumeAt
		limited = state.InARow.RateLimits > 0
	case said.Reason == loop.StopInterrupted:
	default: // it failed: who mends that can go on with its state
		o.StopReason = string(said.Reason)
	}
	return o, limited, nil
}

func readState(tree string) (loopstate.State, error) {
	file, err := loopstate.Open(tree)
	if err != nil {
		return loopstate.State{}, err
	}
	return file.Load()
}

// listener tells the loop in a checkout what its user wants it to know, in the
// order in which it was said.
type listener struct {
	mu     sync.Mutex
	tree   string // "": no time to tell it
	wanted []string
	told   int // pieces of wanted that its state has
}

// enter has the state in a checkout, in which no loop runs, know what it is to be told.
func (l *listener) enter(tree string, wanted []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(wanted) > len(l.wanted) {
		l.wanted = wanted
	}
	if l.told >= len(l.wanted) {
		return
	}
	file, err := loopstate.Open(tree)
	if err != nil {
		return
	}
	_, err = file.Transfer(func(s *loopstate.State) error {
		s.Queued = append(s.Queued, l.wanted[l.told:]...)
		return nil
	})
	if err == nil {
		l.told = len(l.wanted)
	}
}

// begin lets the loop in a checkout be told things.
func (l *listener) begin(tree string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tree = tree
}

// hear takes note of what it is to know; the first pieces are those that it has been told.
func (l *listener) hear(wanted []string) {
	l.mu.Lock()
	l.wanted = wanted
	l.mu.Unlock()
	l.tell()
}

// tell tells the loop what it doesn't know yet, aside. One that doesn't run will hear of it when it
// prints something, or is over.
func (l *listener) tell() {
	if !l.mu.TryLock() {
		return // it is being told
	}
	if l.tree == "" || l.told >= len(l.wanted) {
		l.mu.Unlock()
		return
	}
	go func() {
		defer l.mu.Unlock()
		for l.told < len(l.wanted) {
			if _, err := (loop.Other{Folder: l.tree}).Steer(loop.Steering{Text: l.wanted[l.told], Once: true}); err != nil {
				return
			}
			l.told++
		}
	}()
}

// end ends that, and says how many pieces the loop's state has.
func (l *listener) end() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tree = ""
	return l.told
}
