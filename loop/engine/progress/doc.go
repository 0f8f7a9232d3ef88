// Package progress is how a loop stands: all that changes about it while it runs, and what follows from
// that alone.
//
// A State has what the loop has used and of which money (money.go), what its run is doing (follow.go),
// what its user wants (learn.go), what it is bound by (terms.go), and how far the verification and the
// talk with its agents have come, which are rooms of their own. It says how it ends (end.go), and what
// of it is kept (Enter).
//
// It has no clock, file or lock of its own: the goroutine of the engine alone uses it, and acts.
package progress
