// Package notify calls a user who isn't looking: a loop is over, asks, or can't go on. It is one of the loop's
// observers, and calls in every way that the user has chosen, beside the loop: nothing that fails or hangs there
// slows the loop.
//
// A Teller follows a loop's journal, makes Notes of the few events that a user is called for, in wire's words without
// other people's, and sends each in the ways that are on (way.go), on goroutines of their own and with deadlines. A
// command of the user's that prints an answer is asked each question (reply.go), as long as that is open. Programs
// run like a check, so nothing of them is left. The driver of the loop says what it has (At): a terminal (terminal.go
// knows which codes it takes), the desktop, or nothing, as an editor has its own notices. No other package of
// ralph-lsp has an HTTP client, which is 0.3 ms of a start and 3.5 MB of the program.
package notify
