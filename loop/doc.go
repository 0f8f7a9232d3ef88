// Package loop is a loop for everybody who doesn't drive it: how it stands (Status), what happens to it (Event), why
// it ended, and the commands that it takes. The engine, which drives it, is in loop/engine and builds on this.
//
// reason.go is the table of the reasons for which a loop ends: how each is meant, what stays, its words and its
// remedies. A Handle commands a loop, here or in another process, which is asked on its socket (control.go).
// folder.go tells how a folder's loop stands, from its files and from its owner's record (owner.go), and ends it;
// last.go says how a loop that has ended can go on, keeper.go whether one lives in a process of its own, kept.go
// which loops there were. land.go keeps loops out while their work lands.
package loop
