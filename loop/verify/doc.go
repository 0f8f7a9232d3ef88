// Package verify knows the check that a user wants a promise to pass: the program, and the meaning of its end and its
// output. It starts nothing.
//
// Output reads a check's output and keeps the parts that count: whether any test ran (signs.go), what failed, and
// where (lines.go). suggest.go finds a folder's own check. diagnosis.go compares an editor's diagnostics.
package verify
