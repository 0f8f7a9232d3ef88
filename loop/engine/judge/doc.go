// Package judge says how a run went (Assess, a Report), what that means after those before it (a Tally,
// what is Spent), whether the loop ends (Decide), and how long it waits before the next run
// (PauseAfter).
//
// It has no clocks, no files and no state: what it says follows from its arguments alone. A reason for
// an end that a loop can't have (StopSlow, StopSpent, Skipped) is why a run was ended while its loop
// goes on.
package judge
