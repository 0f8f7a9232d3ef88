// Package verify knows the check that a user wants a promise to pass: what runs,
// and what its end and its output mean. It starts nothing.
//
// It starts nothing. Output takes what a check prints and keeps what counts: was any test run
// (signs.go), what failed, and where (lines.go). suggest.go knows a folder's own check. What an
// editor's diagnostics prove is diagnosis.go's to say.
package verify
