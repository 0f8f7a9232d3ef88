// Package wire has the shapes of everything that clients hear and say, the projection of a loop's events to them, and
// the words for people. It knows no transport: the server sends the shapes; the terminal's --output json and decode
// print them.
//
// Updates are made of a loop's events in one place (project.go). Words say what happened (said.go), how a loop stands
// (states.go, words.go), how it ended (receipt.go) and what can be done about it (offers.go). Clients show these
// words; they have none of their own. Package answers has the answers to commands.
package wire
