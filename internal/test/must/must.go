// Package must ends a test where something that it only builds on fails.
package must

import (
	"os"
	"path/filepath"
	"testing"
)

// OK ends the test at once when err isn't nil.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Err is the error of a call whose value nobody needs.
func Err[T any](_ T, err error) error { return err }

// Read returns what a file has.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	OK(t, err)
	return data
}

// Write makes a file, and the folders that it is in.
func Write(t testing.TB, path, text string) {
	t.Helper()
	OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	OK(t, os.WriteFile(path, []byte(text), 0o644))
}
