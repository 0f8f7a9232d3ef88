// Package answers has what commands answer: the shapes of their results, and the words in which a
// person is told of them. Each file is about one thing: what a loop changed (changes.go, review.go),
// where its worktree went (landed.go), what ran before (past.go), what a start would do (preview.go,
// startoffers.go), how a question is read and answered in a terminal (asked.go), and the rest
// (result.go). AnswerOf (answer.go) makes one text of any of them, for editors that show no results.
//
// Package wire has what is sent unasked and what both need; it knows nothing of this one.
package answers
