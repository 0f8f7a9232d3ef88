package loop

import (
	"fmt"
	"strconv"
	"time"

	"ralph-lsp/internal/tell"
)

// Limit names one of the limits that end a loop once they are reached.
type Limit string

// The limits that end a loop. They are said as in "the time limit".
const (
	LimitIterations Limit = "iteration"
	LimitCost       Limit = "cost"
	LimitTime       Limit = "time"
)

// Used is what a loop has used of its limits.
type Used struct {
	Iterations int
	CostUSD    float64
	Elapsed    time.Duration
}

// values writes what a limit is, and what was used of it.
func (l Limit) values(limits Limits, used Used) (limit, sofar string) {
	switch l {
	case LimitCost:
		return tell.USD(limits.MaxCostUSD), tell.USD(used.CostUSD)
	case LimitTime:
		return tell.Duration(limits.MaxDuration), tell.Elapsed(used.Elapsed)
	}
	return strconv.Itoa(limits.MaxIterations), strconv.Itoa(used.Iterations)
}

// Raise doubles a limit that was reached until there is room above what was
// used. It returns the change, and the new limit in words: "100 iterations".
func (l Limits) Raise(reached Limit, used Used) (change Patch, words string) {
	switch reached {
	case LimitCost:
		cost := above(l.MaxCostUSD, used.CostUSD)
		return Patch{MaxCostUSD: &cost}, tell.USD(cost)
	case LimitTime:
		limit := above(l.MaxDuration, used.Elapsed)
		return Patch{MaxDuration: &limit}, tell.Duration(limit)
	}
	n := above(l.MaxIterations, used.Iterations)
	return Patch{MaxIterations: &n}, tell.Counted(n, "iteration")
}

// above doubles a limit until it is above what was used. 0, which is none, stays.
func above[T int | float64 | time.Duration](limit, used T) T {
	for limit *= 2; limit > 0 && limit <= used; limit *= 2 {
	}
	return limit
}

// CapError says that a loop can't be continued, as a limit is reached already.
type CapError struct {
	Reason StopReason // which
	Used
	Limits Limits
}

func (e *CapError) Error() string {
	reached := e.Reason.Ending().Limit
	limit, sofar := reached.values(e.Limits, e.Used)
	return fmt.Sprintf("the %s limit of %s is reached, the loop has used %s: raise it to go on", reached, limit, sofar)
}
