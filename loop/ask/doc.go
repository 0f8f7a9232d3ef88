// Package ask is the desk between the agents of a loop, which ask, and its user, who answers.
//
// It owns the questions that are open, the rules that the user has allowed for as long as the loop
// lasts, the calls that were denied, and for how long agents have waited. It makes of what an agent
// asks what its user is to read: what and where, the whole command or a diff, and the rule that a
// yes "in this loop" would be.
//
// The loop makes one Desk and hands it to whatever starts agents (For); whoever drives the loop
// answers (Answer). What the desk needs of the loop is in a Host: who is told, whether the run that
// asks is over, and who watches that somebody answers at all.
//
// It never starts or ends anything, writes no file, and decides nothing for the user but what a rule
// of the user's permits. What isn't understood for sure is asked.
//
// A Desk has the questions of a loop that are open, and answers them once: by the user's word, by a
// rule (rule.go, which permits only what it understands for sure), or when the time is up. words.go
// says what is asked, diff.go compares what would be written with what is there.
package ask
