package paths

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestWhatIsTooMuchOfAFolder(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i := range 6 { // 0 is the newest; each has 10 bytes
		path := filepath.Join(dir, fmt.Sprintf("%d.x", i))
		must.OK(t, errors.Join(WriteOwn(path, []byte("0123456789"), i == 0), os.Chtimes(path, now, now.Add(-time.Duration(i)*time.Hour))))
	}
	must.OK(t, errors.Join(os.Mkdir(filepath.Join(dir, "folder.x"), 0o700), WriteOwn(filepath.Join(dir, "other"), nil, false)))
	for name, tt := range map[string]struct {
		bounds Bounds
		kept   []string
	}{
		"enough":  {Bounds{Age: time.Minute * 301, Files: 6, Bytes: 60}, []string{"0.x", "1.x", "2.x", "3.x", "4.x", "5.x"}},
		"files":   {Bounds{Files: 2}, []string{"0.x", "1.x"}},
		"bytes":   {Bounds{Bytes: 39}, []string{"0.x", "1.x", "2.x"}},
		"age":     {Bounds{Age: time.Hour}, []string{"0.x"}},
		"nothing": {Bounds{}, []string{"0.x", "1.x", "2.x", "3.x", "4.x", "5.x"}},
	} {
		count := Count{Bounds: tt.bounds}
		var kept []string
		for _, f := range Newest(dir, "*.x") {
			if !count.Exceeded(f, now) {
				kept = append(kept, f.Name())
			}
		}
		if !slices.Equal(kept, tt.kept) {
			t.Errorf("bounded by %s: %q are kept, want %q", name, kept, tt.kept)
		}
	}
	if none := Newest(filepath.Join(dir, "none"), "*"); len(none) > 0 {
		t.Errorf("of no folder: %v", none)
	}
}

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "anew")
	path := filepath.Join(dir, "f")
	for _, text := range []string{"one", "two"} {
		must.OK(t, WriteOwn(path, []byte(text), true))
		if data, err := os.ReadFile(path); err != nil || string(data) != text {
			t.Errorf("it has %q, %v", data, err)
		}
	}
	if err := WriteOwn(dir, nil, false); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("left is %v, %v", left, err)
	}
}

func TestOnlyOwnFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must.OK(t, errors.Join(os.WriteFile(at("own"), nil, 0o600), os.WriteFile(at("victim"), nil, 0o600), os.Symlink(at("victim"), at("link")), os.Link(at("victim"), at("hard"))))
	for _, tt := range []struct {
		name  string
		flags int
		ok    bool
	}{
		{"own", os.O_RDONLY, true}, {"own", os.O_RDWR, true}, {"new", os.O_RDWR | os.O_CREATE, true}, {"none", os.O_RDONLY, false},
		{"link", os.O_RDONLY, false}, {"link", os.O_RDWR | os.O_CREATE, false}, {"hard", os.O_RDONLY, true}, {"hard", os.O_RDWR, false}, {".", os.O_RDONLY, false},
	} {
		file, err := OpenOwn(at(tt.name), tt.flags)
		if (err == nil) != tt.ok {
			t.Errorf("%s by %#x: %v", tt.name, tt.flags, err)
		}
		file.Close()
	}
}
