// Package loop is what there is to know of a loop, and to ask of it, for whoever doesn't drive it:
// how it stands (Status), what happens to it (Event), why it ended, and the commands that it takes.
// The engine, which drives it, is below in loop/engine and builds on this.
//
// reason.go is the table of the reasons for which a loop ends: how each is meant, what stays, its
// words and what can be done about it. A Handle is a loop as whoever commands it sees it, here or
// in another process, which is asked on its socket (control.go). folder.go tells how a folder's
// loop stands, from its files and from what its owner's record says (owner.go), and ends it;
// last.go says how one goes on that has ended, keeper.go whether one lives in a process of its own,
// kept.go which loops there were. land.go keeps loops out while their work lands.
package loop
