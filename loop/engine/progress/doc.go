// Package progress is how a loop stands: all that changes about it while it runs, and what follows from
// that alone.
//
// A State has what the loop has used and from which budget (money.go), what its run is doing (follow.go), what its
// user wants (learn.go), its terms (terms.go), and the state of the policies, which are packages of their own. It
// says how the loop ends (end.go) and what is stored of it (Enter).
//
// It has no clock, file or lock of its own: the goroutine of the engine alone uses it, and acts.
package progress
