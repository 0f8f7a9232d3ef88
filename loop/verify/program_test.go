package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Only what surely isn't there is refused, however the shell would come to it.
func TestAProgramThatIsNotThereIsFound(t *testing.T) {
	folder, bin := t.TempDir(), t.TempDir()
	for path, mode := range map[string]os.FileMode{
		filepath.Join(bin, "make"): 0o755, filepath.Join(bin, "tee"): 0o755, filepath.Join(bin, "data"): 0o644,
		filepath.Join(folder, "check.sh"): 0o755, filepath.Join(folder, "plain.sh"): 0o644,
	} {
		must.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"), mode))
	}
	t.Setenv("PATH", bin)
	outside := filepath.Join(t.TempDir(), "gone")
	for _, tt := range []struct{ shell, missing, yet string }{
		{"nosuch --all", "nosuch", ""},
		{"make", "", ""},
		{"make && nosuch", "", ""},
		{"cd web && nosuch", "", ""},
		{"sub/gone && nosuch", "", "sub/gone"},
		{"nosuch | tee log", "nosuch", ""},
		{"CI=1 nosuch 2>&1 | tee log", "nosuch", ""},
		{"nosuch; make", "nosuch", ""},
		{"nosuch\nmake", "nosuch", ""},
		{"time nosuch", "", ""},
		{"data", "data", ""},
		{outside, outside, ""},
		{"./check.sh", "", ""},
		{"./gone.sh --all", "", "./gone.sh"},
		{"./plain.sh", "", "./plain.sh"},
		{filepath.Join(folder, "gone"), "", filepath.Join(folder, "gone")},
		{"cd web && ./gone.sh", "", ""},
		{"test -f out && [ -s out ]", "", ""},
		{"nosuch || true", "", ""},
		{"make & nosuch", "", ""},
		{"$TOOL --all", "", ""},
		{"~/bin/check", "", ""},
		{"'my check' --all", "", ""},
		{"command -v nosuch && nosuch", "", ""},
		{"PATH=/opt/bin:$PATH nosuch", "", ""},
		{"check() { make; }; check", "", ""},
		{"if nosuch; then make; fi", "", ""},
		{"(nosuch)", "", ""},
		{"! nosuch", "", ""},
		{">log nosuch", "", ""},
		{"# what counts\nnosuch", "", ""},
		{`nosuch\ thing`, "", ""},
		{"'nosuch", "", ""},
		{"&& nosuch", "", ""},
		{"", "", ""},
	} {
		yet, err := Check{Shell: tt.shell}.Find(folder)
		if yet != tt.yet || (err != nil) != (tt.missing != "") || err != nil && !strings.Contains(err.Error(), "can't be run: "+tt.missing+" ") {
			t.Errorf("%q: %v, yet %q; want %q, %q", tt.shell, err, yet, tt.missing, tt.yet)
		}
	}
	for program, want := range map[string]bool{"nosuch": true, "make": false, "a b": true, "sub/gone": false} {
		if _, err := (Check{Command: []string{program, "&&", "nosuch"}}).Find(folder); (err != nil) != want {
			t.Errorf("the list with %q: %v", program, err)
		}
	}
}

// A folder of PATH that is in the loop's may come to have it, as node_modules/.bin does.
func TestAFolderOfPathThatTheLoopFills(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", filepath.Join(folder, "node_modules", ".bin"))
	if yet, err := (Check{Shell: "nosuch --all"}).Find(folder); yet != "nosuch" || err != nil {
		t.Errorf("%q, %v", yet, err)
	}
}

func TestWhatHelpsWhereAProgramIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Check{Shell: "nosuch --all"}.Find(t.TempDir())
	want := "the check `nosuch --all` can't be run: nosuch is in no folder of PATH; install it, or name another command (--verify, --until, [verify]); --no-verify believes the agent"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("a && b | c; d || 'e' $(f) `g` <<h\n")
	f.Fuzz(func(t *testing.T, text string) { Check{Shell: text}.Find("/nowhere") }) // no panic
}
