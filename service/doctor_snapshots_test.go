package service

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

func TestHowMuchSnapshotsHave(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	dir := t.TempDir()
	var settings config.Settings
	settings.Changes.MaxMB = 300
	if got := snapshotChecks(dir, settings); got != nil {
		t.Errorf("without any: %+v", got)
	}
	data := make([]byte, 55e6)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "data"), data, 0o600))
	for n := range 2 {
		s, err := changes.Create(t.Context(), dir, fmt.Sprintf("ralph-%d", n), changes.Options{Keep: time.Hour, MaxKept: 300e6}, nil)
		must.OK(t, err)
		must.OK(t, must.Err(s.Snapshots.Start(t.Context())))
	}
	got := snapshotChecks(dir, settings)
	if want := "the snapshots of 2 loops here have 110.0 MB; the largest has 55.0 MB of at most 300.0 MB (changes.max_mb)"; len(got) != 1 || !got[0].OK || got[0].Message != want {
		t.Errorf("%+v", got)
	}
	if got := snapshotChecks(t.TempDir(), settings); got != nil {
		t.Errorf("of another folder: %+v", got)
	}
}
