// Package ask is between the agents of a loop, which ask, and its user, who answers.
//
// Pending has a loop's open questions, the rules that the user has allowed for the loop, the denied calls, and how
// long agents have waited. It answers each question once: by the user's word, by a rule (rule.go), or when the time
// is up. words.go turns a request of an agent into the question that its user reads: what and where, the whole
// command or a diff, and the rule of a yes "in this loop". diff.go compares the new text of a file with the old one.
//
// The loop makes one Pending and passes it to the starters of agents (For); the driver of the loop answers (Answer). A
// Host tells it whether the run that asks is over, and gets the news of questions.
//
// It never starts or ends anything, writes no file, and decides nothing for the user but what a rule of the user's
// permits. A rule permits only what it understands for sure; everything else is asked.
package ask
