// Package judge says how a run went (Assess, a Report), what that means after those before it (a Tally,
// what is Spent), whether the loop ends (Decide), and how long it waits before the next run
// (PauseAfter).
//
// It has no clocks, no files and no state: its answers follow from their arguments alone. StopSlow, StopSpent and
// Skipped are reasons for which a run ends while its loop goes on; a loop never ends for them.
package judge
