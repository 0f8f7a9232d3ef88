package filelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestWait(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		must.OK(t, err)
		t.Cleanup(func() { file.Close() })
		return file
	}
	holder, other := open(), open()
	must.OK(t, Wait(t.Context(), holder))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error)
		go func() { got <- Wait(ctx, other) }()
		synctest.Wait() // it waits
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("given up with %v", err)
		}
		go func() { got <- Wait(t.Context(), other) }()
		synctest.Wait()
		must.OK(t, Unlock(holder))
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
	if locked, err := Try(open(), true); locked || err != nil {
		t.Errorf("a third one has it: %v, %v", locked, err)
	}
}
