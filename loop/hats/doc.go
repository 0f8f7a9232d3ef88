// Package hats knows which hat an agent wears next: hats hand work over to each
// other by topics. It starts nothing and reads no file.
//
// A Set has the hats (Next and Done turn a Queue, which is kept as it is), says what doesn't fit
// together, and draws itself (graph.go). outbox.go is where programs of a run publish.
package hats
