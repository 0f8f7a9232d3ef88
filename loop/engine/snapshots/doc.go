// Package snapshots is how a loop knows what changed in its folder, and whether that is anything new.
//
// A Taker takes a snapshot before and after each iteration, by changes.Store, or looks at the folder
// where none can be made. From them it says what an iteration changed, what the loop did to the files
// that its work is verified by (guard.go), what an editor is to be asked about (diagnostics.go) and a
// reviewer is shown (review.go). It undoes what a run changed that was to read only (reading.go), and
// commits what an iteration left uncommitted where that is wanted (commit.go).
//
// What can't be known is no reason to stop: the user is warned once for each reason. Only the
// goroutine of the loop's engine uses a Taker, but for Hurry, which lets no snapshot keep a loop from
// its end.
package snapshots
