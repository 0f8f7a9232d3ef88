// Package notify calls a user who isn't looking: a loop is over, asks, or can't go on. It
// joins the observers of a loop, and tells what it sees in every way that its user has chosen,
// beside the loop: nothing that fails or hangs there slows that.
//
// A Teller stands behind a loop's journal, makes Notes of the few events that a user is called for, in wire's words
// without those of others,
// and tells each in the ways that are on (way.go), on goroutines of their own and with deadlines. A
// command of the user's that prints an answer is asked each question (reply.go), as long as that is open.
// What it starts is run like a check, so nothing of it is left. Who drives the loop says what it
// has (At): a terminal (terminal.go knows which codes it takes), the desktop, or nothing, as an
// editor has its own notices. No other room of ralph-lsp has an HTTP client, which is 0.3 ms of a
// start and 3.5 MB of the program.
package notify
