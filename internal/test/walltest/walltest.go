// Package walltest lets tests of walls fail where they must be had, and say so where they can't be.
package walltest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Required is the variable with which no test may do without walls, as in make ci.
const Required = "RALPH_TEST_SANDBOX"

var check = sync.OnceValue(func() error { return sandbox.Check(context.Background(), sandbox.Bubblewrap) })

// Had says whether walls can be raised. It is an error where they are required and can't.
func Had() (bool, error) {
	err := check()
	if err != nil && os.Getenv(Required) == "" {
		return false, nil
	}
	return err == nil, err
}

// Need ends the test where walls can't be raised: it fails if they are required, else it is skipped.
func Need(t testing.TB) {
	t.Helper()
	err := check()
	switch {
	case err == nil:
	case os.Getenv(Required) != "":
		t.Fatalf("%s is set, and %v", Required, err)
	default:
		t.Skip(err)
	}
}
