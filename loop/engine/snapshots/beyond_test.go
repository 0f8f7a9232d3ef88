package snapshots

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// What git ignores, and what lies elsewhere, is in no snapshot; where there are none, all that lies in the folder is seen.
func TestWhatIsBeyondSnapshots(t *testing.T) {
	folder, away := t.TempDir(), filepath.Join(t.TempDir(), "away")
	must.OK(t, os.WriteFile(filepath.Join(folder, ".gitignore"), []byte("local/\n"), 0o600))
	for name, tt := range map[string]struct {
		files           []string
		isBeyond, isOut bool // with snapshots, and without
	}{
		"none":                {nil, false, false},
		"a file":              {[]string{"a"}, false, false},
		"by its path":         {[]string{filepath.Join(folder, "a")}, false, false},
		"one that is ignored": {[]string{"a", "local/b"}, true, false},
		"elsewhere":           {[]string{"a", away}, true, true},
	} {
		for keep, want := range map[time.Duration]bool{time.Hour: tt.isBeyond, 0: tt.isOut} {
			s := &Taker{Survey: func(string) {}}
			s.Open(folder, func(string) {})
			s.Begin("ralph-a", changes.Options{Keep: keep, Dir: t.TempDir()}, nil, func() {}, func() {})
			<-s.begun
			if is := s.WroteBeyond(tt.files); is != want {
				t.Errorf("%s, kept for %v: %t, want %t", name, keep, is, want)
			}
			<-s.pruned
		}
	}
}
