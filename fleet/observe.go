package fleet

import (
	"context"
	"errors"
	"time"
)

// Stage is a part of an attempt.
type Stage string

// The stages, in their order.
const (
	StageCheckout  Stage = "checkout"
	StageSetup     Stage = "setup"     // of a fresh checkout
	StageIteration Stage = "iteration" // the child
	StageUpload    Stage = "upload"
	StageCommit    Stage = "commit"
)

// Stages has them in their order.
var Stages = []Stage{StageCheckout, StageSetup, StageIteration, StageUpload, StageCommit}

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

// Attempted is an attempt that is over, for figures.
type Attempted struct {
	Timings []Timing
	Result  Result
	Left    Record  // the loop as it is now; an empty one where the bus hasn't taken that
	USD     float64 // that the attempt counts
}

// Timing is a stage of an attempt that is over.
type Timing struct {
	Stage Stage
	Took  time.Duration
}

type attemptedKey struct{}

// timed says that a stage of the attempt that ctx is of begins, and end that it is over.
func timed(ctx context.Context, s Stage) (end func()) {
	begun := time.Now()
	return func() {
		if a, ok := ctx.Value(attemptedKey{}).(*Attempted); ok {
			a.Timings = append(a.Timings, Timing{s, time.Since(begun)})
		}
	}
}

// resultOf says what became of an attempt: tried is why it came to nothing, err why that couldn't be put on the bus.
func resultOf(ctx context.Context, tried, err error, isLimited bool, r Record) Result {
	switch {
	case errors.Is(err, ErrNotOur), errors.Is(err, ErrNotFound):
		return Lost
	case tried != nil && ctx.Err() != nil:
		return GivenBack
	case tried != nil, err != nil:
		return Failed
	case r.Phase == Ended:
		return Ends
	case isLimited:
		return Limited
	case r.Phase == Paused:
		return Pauses
	}
	return GoesOn
}
