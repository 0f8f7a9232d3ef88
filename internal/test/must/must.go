// Package must ends a test where something that it only builds on fails.
package must

import "testing"

// OK ends the test at once when err isn't nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Err is the error of a call whose value nobody needs.
func Err[T any](_ T, err error) error { return err }
