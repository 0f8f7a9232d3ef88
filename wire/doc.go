// Package wire has the shapes of everything that clients hear and say, the projection of a loop's events to them, and
// the words for people. It knows no transport: the server sends the shapes; the terminal's --output json and decode
// print them.
//
// Updates are made of events, with the words that say what happened, in loopevents.go and agentevents.go. Other words
// say how a loop stands (states.go, words.go), how it ended (receipt.go) and what can be done about it (offers.go).
// Clients show these words; they have none of their own. Package answers has the answers to commands.
package wire
