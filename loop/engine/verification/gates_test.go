package verification

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

func TestMain(m *testing.M) { testhome.Main(m, "NO_ROLE", nil) }

// begun is a loop's folder with some files, of which its snapshots know; without any where keep is false.
func begun(t *testing.T, keep bool, files ...string) *snapshots.Taker {
	var options = setup.Storage{}.Changes
	if options.Dir = t.TempDir(); keep {
		options.Keep = time.Hour
	}
	s, folder := &snapshots.Taker{Survey: func(string) {}}, t.TempDir()
	for _, name := range files {
		write(t, folder, name, "as it was\n")
	}
	s.Open(folder, func(text string) { t.Log("warned of " + text) })
	s.Begin("ralph-a", options, nil, func() {}, func() {})
	s.Before(0, snapshots.Previous{})
	t.Cleanup(func() { s.Close() })
	return s
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAnEditorIsAskedOf(t *testing.T) {
	many := func(n int) func(*testing.T, string) {
		return func(t *testing.T, folder string) {
			for i := range n {
				write(t, folder, fmt.Sprintf("f%03d.go", i), "package f\n")
			}
		}
	}
	for name, tt := range map[string]struct {
		noSnapshots bool
		change      func(t *testing.T, folder string)
		err         error
		asked       int
		want        string
	}{
		"nothing was changed": {change: func(*testing.T, string) {}, want: "verified show no new error: the loop changed no file"},
		"a file is gone": {change: func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, "a.go")); err != nil {
				t.Error(err)
			}
		}, want: "unchecked can't be told: the loop only deleted files"},
		"a file is new":       {change: many(1), asked: 1, want: "verified show no new error in 1 file"},
		"as many as it opens": {change: many(maxDiagnosed), asked: maxDiagnosed, want: "verified show no new error in "},
		"one more": {change: many(maxDiagnosed + 1),
			want: "unchecked can't be told: the loop changed 201 files, and an editor is asked of 200 at most"},
		"it doesn't answer": {change: many(1), asked: 1, err: context.DeadlineExceeded,
			want: "unchecked could not be asked for: the editor doesn't answer"},
		"it can't":          {change: many(1), asked: 1, err: errors.New("gone"), want: "unchecked could not be asked for: gone"},
		"without snapshots": {noSnapshots: true, change: many(1), want: "unchecked can't be compared with the loop's start: there are no snapshots (changes.keep is 0)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, !tt.noSnapshots, "a.go")
			tt.change(t, s.Folder)
			var asked []string
			r := Diagnostics(s, func(paths []string) (verify.Diagnosis, error) {
				asked = paths
				return verify.Diagnosis{Seen: paths, Settled: true}, tt.err
			})
			if got := string(r.State) + " " + r.Why; !strings.HasPrefix(got, tt.want) || len(asked) != tt.asked || slices.Contains(asked, "") {
				t.Errorf("asked of %d files: %s, want %s", len(asked), got, tt.want)
			}
		})
	}
}

func TestWhatIsProtected(t *testing.T) {
	check := verify.Check{Protect: []string{"guard.go"}}
	for name, tt := range map[string]struct{ file, want string }{
		"it is as it was":    {"other.go", "verified are as they were"},
		"it was changed":     {"guard.go", "unchecked were changed by the loop: guard.go"},
		"nobody can tell it": {"", "unchecked can't be told from others: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, tt.file != "", "guard.go")
			if tt.file != "" {
				write(t, s.Folder, tt.file, "otherwise\n")
				s.After(1)
			}
			r := Protected(s, check, "ralph.toml")
			if got := string(r.State) + " " + r.Why; !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
