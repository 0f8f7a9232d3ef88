package fleet

import (
	"context"
	"errors"
	"sync"
)

// Step is a part of an attempt.
type Step string

// The steps, in their order.
const (
	StepCheckout  Step = "checkout"
	StepSetup     Step = "setup"     // of a fresh checkout
	StepIteration Step = "iteration" // the child
	StepUpload    Step = "upload"
	StepCommit    Step = "commit"
)

// Steps has them in their order.
var Steps = []Step{StepCheckout, StepSetup, StepIteration, StepUpload, StepCommit}

// Result says in a word what became of an attempt.
type Result string

// The results.
const (
	GoesOn    Result = "goes_on"    // the loop wants another one
	Limited   Result = "limited"    // its provider refused it
	Pauses    Result = "paused"     // the loop waits for its user
	Ends      Result = "ended"      // the loop is over
	Failed    Result = "failed"     // it came to nothing
	GivenBack Result = "given_back" // the worker was stopped
	Lost      Result = "lost"       // another worker has the loop by now
)

// Results has all of them.
var Results = []Result{GoesOn, Limited, Pauses, Ends, Failed, GivenBack, Lost}

// Observer hears what a worker does, for figures and traces. It may slow nothing: each call returns at once.
type Observer interface {
	// Began says that an attempt began. What it returns hears the rest of it.
	Began(r Record) Watcher
}

// Watcher hears of one attempt. It is called from one goroutine.
type Watcher interface {
	// Step says that a part of the attempt began; what it returns is called at its end.
	Step(s Step) (end func(err error))
	// Ended says what became of it: the loop as it is now, and the dollars that the attempt counts.
	Ended(what Result, r Record, usd float64)
}

// watchers are those of an attempt.
type watchers []Watcher

func (w *Worker) began(r Record) (all watchers) {
	for _, o := range w.Observers {
		all = append(all, o.Began(r))
	}
	return all
}

type watchersKey struct{}

func (all watchers) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, watchersKey{}, all)
}

// step tells the watchers of the attempt that ctx is of that a part of it began. Only the first call of end counts.
func step(ctx context.Context, s Step) (end func(error)) {
	all, _ := ctx.Value(watchersKey{}).(watchers)
	var ends []func(error)
	for _, w := range all {
		ends = append(ends, w.Step(s))
	}
	var once sync.Once
	return func(err error) {
		once.Do(func() {
			for _, end := range ends {
				end(err)
			}
		})
	}
}

// ended tells them what became of it: tried is why it came to nothing, err why that couldn't be put on the bus.
func (all watchers) ended(ctx context.Context, tried, err error, isLimited bool, r Record, usd float64) {
	what := GoesOn
	switch {
	case errors.Is(err, ErrNotOur), errors.Is(err, ErrNotFound):
		what = Lost
	case tried != nil && ctx.Err() != nil:
		what = GivenBack
	case tried != nil, err != nil:
		what = Failed
	case r.Phase == Ended:
		what = Ends
	case isLimited:
		what = Limited
	case r.Phase == Paused:
		what = Pauses
	}
	for _, w := range all {
		w.Ended(what, r, usd)
	}
}
