// Package wire has the shapes of all that clients hear and say, the projection
// of a loop's events to them, and the words in which people are told. It knows
// no transport: server sends the shapes, the command line prints them.
//
// Updates are made of a loop's events in one place (project.go). Words say what happened (said.go),
// how a loop stands (states.go, words.go), how it ended (receipt.go) and what can be done about it
// (offers.go). Clients show these words; they have none of their own. What commands answer is in
// package answers. No transport is known here: the server sends what is made, the terminal's --output
// json and decode print the same.
package wire
