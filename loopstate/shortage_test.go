package loopstate

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestShortagesOfTheMachineHaveAdvice(t *testing.T) {
	f := open(t, t.TempDir())
	seen := map[string]bool{}
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.EIO} {
		wrapped := f.notWritable(&fs.PathError{Op: "open", Path: "x", Err: err})
		advice := Shortage(wrapped)
		if advice == "" || seen[advice] || strings.Contains(wrapped.Error(), "not writable") {
			t.Errorf("%v: %q", wrapped, advice)
		}
		seen[advice] = true
	}
	for _, err := range []error{nil, fs.ErrNotExist, syscall.EACCES, errors.New("x"), &SyntaxError{Msg: "x"}} {
		if advice := Shortage(err); advice != "" {
			t.Errorf("%v: %q", err, advice)
		}
	}
}
