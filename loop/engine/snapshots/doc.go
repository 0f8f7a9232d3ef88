// Package snapshots finds out what changed in a loop's folder, and whether that is anything new.
//
// A Taker takes a snapshot before and after each iteration, by changes.Store, or looks at the folder where none can
// be made. From them it says what an iteration changed, which files that verify the loop's work it changed
// (guard.go), which files an editor is asked about (diagnostics.go), and what a reviewer is shown (review.go). It
// undoes the changes of a read-only run (reading.go), and commits what an iteration left uncommitted where that is
// wanted (commit.go).
//
// A failure to know is no reason to stop: the user is warned once for each reason. Only the goroutine of the loop's
// engine uses a Taker, but for Hurry, which lets no snapshot keep a loop from its end.
package snapshots
