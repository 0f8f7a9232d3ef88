package snapshots

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// A loop that goes on may be slow to begin its first run. What the run that was cut off changed is in its
// first snapshot then, and not in the one that is made because that is old.
func TestACutOffRunIsToldOfAfterASlowStart(t *testing.T) {
	for reader, want := range map[string]string{
		"":        "iteration 1 was cut off: what changed then or since (1 file) counts as its work",
		"planner": "planner is read_only, and its run was cut off: 1 file changed",
	} {
		t.Run(reader, func(t *testing.T) { cutOff(t, reader, want) })
	}
}

func cutOff(t *testing.T, reader, want string) {
	folder, options := t.TempDir(), changes.Options{Keep: time.Hour, Dir: t.TempDir()}
	var warned []string
	begin := func() *Taker {
		s := &Taker{Survey: func(string) {}}
		s.Open(folder, func(message string) { warned = append(warned, message) })
		s.Begin("ralph-a", options, nil, func() {}, func() {})
		<-s.begun
		t.Cleanup(func() { <-s.pruned })
		return s
	}
	begin().Before(0, Previous{})
	must.OK(t, os.WriteFile(filepath.Join(folder, "b"), []byte("1\n"), 0o600))
	s := begin()
	s.Last = time.Now().Add(-time.Hour)
	s.Before(1, Previous{reader, true})
	if len(warned) != 1 || !strings.Contains(warned[0], want) {
		t.Errorf("warned of %q", warned)
	}
}

// It reads the records of all past loops: those that start one after another would read them again and again.
func TestWhatIsKeptTooLongIsLookedForOnceAnHour(t *testing.T) {
	state := t.TempDir()
	t.Setenv(paths.EnvState, state)
	pruned := 0
	begin := func() {
		s := &Taker{Survey: func(string) {}}
		s.Open(t.TempDir(), func(string) {})
		s.Begin("ralph-a", changes.Options{Dir: t.TempDir()}, nil, func() {}, func() { pruned++ })
		<-s.pruned
	}
	for range 3 {
		begin()
	}
	longAgo := time.Now().Add(-pruneEvery)
	must.OK(t, os.Chtimes(filepath.Join(state, "pruned"), longAgo, longAgo))
	if begin(); pruned != 2 {
		t.Errorf("3 loops and, an hour later, one: looked %d times", pruned)
	}
}
