//go:build unix

package keeper

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

const toldEnv, wordEnv = "RALPH_KEEPER_TEST_TOLD", "RALPH_KEEPER_TEST_WORD"

// TestMain lets the tests' program be one that starts a keeper. A terminal that closes ends the first
// before it has done so.
func TestMain(m *testing.M) {
	told := os.Getenv(toldEnv)
	if told == "" {
		os.Exit(m.Run())
	}
	if f, err := os.OpenFile(told, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
		_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
		time.Sleep(time.Hour) // it ends before
	}
	fmt.Println(cmp.Or(os.Getenv(wordEnv), begun))
}

// A terminal that closes tells all that stand in its foreground, at any moment.
func TestAKeeperComesAlthoughASignalMeetsItsStart(t *testing.T) {
	for word, want := range map[string]string{"": "", "the folder is gone": "the folder is gone"} {
		t.Setenv(toldEnv, filepath.Join(t.TempDir(), "told"))
		t.Setenv(wordEnv, word)
		if err := Start(t.TempDir(), "x", true); loop.ErrText(err) != want {
			t.Errorf("it says %q: %v", word, err)
		}
	}
}
