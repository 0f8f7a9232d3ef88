package keeper

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Whoever looks for a keeper locks its file for a moment, which may be the one in which the keeper comes.
func TestAKeeperHasItsPlaceAlthoughSomebodyLooks(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	looks, err := loop.KeeperLog("x")
	if err != nil {
		t.Fatal(err)
	}
	defer looks.Close()
	if ok, err := filelock.Try(looks, false); !ok || err != nil {
		t.Fatal(ok, err)
	}
	gone := make(chan error)
	time.AfterFunc(20*time.Millisecond, func() { gone <- filelock.Unlock(looks) })
	defer new(keeper).takePlace("x").Close()
	if err := <-gone; err != nil {
		t.Fatal(err)
	}
	if isFree, err := filelock.Try(looks, false); isFree || err != nil {
		t.Error("nobody has the place", err)
	}
}
