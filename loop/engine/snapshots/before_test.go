package snapshots

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes"
)

// A loop that goes on may be slow to begin its first run. What the run that was cut off changed is in its
// first snapshot then, and not in the one that is made because that is old.
func TestACutOffReaderIsToldOfAfterASlowStart(t *testing.T) {
	folder, options := t.TempDir(), changes.Options{Keep: time.Hour, Dir: t.TempDir()}
	var warned []string
	begin := func() *Taker {
		s := &Taker{}
		s.Open(folder, func(message string) { warned = append(warned, message) })
		s.Begin("ralph-a", options, func() {}, func() {})
		<-s.begun
		t.Cleanup(func() { <-s.pruned })
		return s
	}
	begin().Before(0, "")
	if err := os.WriteFile(filepath.Join(folder, "b"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := begin()
	s.CutOff = true
	s.Last = time.Now().Add(-time.Hour)
	s.Before(1, "planner")
	if len(warned) != 1 || !strings.Contains(warned[0], "planner is read_only, and its run was cut off: 1 file changed") {
		t.Errorf("warned of %q", warned)
	}
}
