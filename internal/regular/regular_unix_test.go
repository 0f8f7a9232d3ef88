//go:build !windows

package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/internal/test/filekinds"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Each call ends at once with words, whatever is in the place of a file.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	said := map[string]string{
		"a pipe":          "it isn't a regular file but a named pipe; remove it, or put a file in its place",
		"endless":         "it isn't a regular file but a device; remove it",
		"huge":            "it has more than 10 bytes; shorten or remove it",
		"a loop of links": "too many levels of symbolic links",
		"a folder":        "it isn't a regular file but a folder; remove it",
		"a device":        "it isn't a regular file but a device; remove it",
	}
	for _, kind := range filekinds.All() {
		t.Run(kind.Name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			kind.Put(t, path)
			root, err := os.OpenRoot(dir)
			must.OK(t, err)
			defer root.Close()
			for name, read := range map[string]func() error{
				"Read":   func() error { _, err := regular.Read(path, 10); return err },
				"ReadIn": func() error { _, err := regular.ReadIn(root, "file", 10); return err },
				"Check":  func() error { return regular.Check(path, 10) },
				"Open and All": func() error {
					file, err := regular.Open(path, os.O_RDONLY, 0)
					if err == nil {
						defer file.Close()
						_, err = regular.All(file, 10)
					}
					return err
				},
				"Write": func() error { return regular.Write(path, nil, 0o600) },
			} {
				filekinds.Ends(t, func() {
					err := read()
					want := said[kind.Name]
					switch {
					case kind.Name == "huge" && name == "Write", kind.Name == "a loop of links" && name == "Check": // the program's own open says it
						if err != nil {
							t.Errorf("%s: %v", name, err)
						}
						kind.Put(t, path)
					case kind.Name == "endless" && name == "ReadIn":
						want = "path escapes from parent"
						fallthrough
					default:
						if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "file") {
							t.Errorf("%s: %v, want %q", name, err, want)
						}
					}
				})
			}
		})
	}
}

func TestRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	must.OK(t, errors.Join(regular.Write(path, []byte("0123456789, and more"), 0o600), regular.Write(path, []byte("0123456789"), 0o600), os.Symlink("file", link)))
	for _, tt := range []struct {
		read func(string, int64) ([]byte, error)
		path string
		most int64
		want string
		err  error
	}{
		{regular.Read, path, 10, "0123456789", nil},
		{regular.Read, link, 10, "0123456789", nil},
		{regular.Read, path, 9, "", regular.SizeError{Most: 9}},
		{regular.Read, filepath.Join(dir, "none"), 9, "", fs.ErrNotExist},
		{regular.Head, path, 3, "012", nil},
		{regular.Head, path, 30, "0123456789", nil},
		{regular.ReadAny, path, 10, "0123456789", nil},
		{regular.ReadAny, path, 9, "", regular.SizeError{Most: 9}},
		{regular.ReadAny, "/dev/zero", 9, "", regular.SizeError{Most: 9}}, // its end isn't waited for
		{regular.ReadAny, "/dev/null", 9, "", nil},
	} {
		data, err := tt.read(tt.path, tt.most)
		if string(data) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s, %d: %q, %v, want %q, %v", tt.path, tt.most, data, err, tt.want, tt.err)
		}
	}
	if err := regular.Check(path, 10); err != nil {
		t.Error(err)
	}
	for _, flags := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE} {
		if _, err := regular.Open(link, flags|regular.NoFollow, 0o600); !errors.Is(err, regular.KindError{Mode: fs.ModeSymlink | 0o777}) {
			t.Errorf("a link that isn't followed: %v", err)
		}
	}
	made, err := regular.Open(filepath.Join(dir, "new"), os.O_RDWR|os.O_CREATE, 0o600)
	must.OK(t, err)
	made.Close()
}

func TestOnlyAFolderIsOpenedAsOne(t *testing.T) {
	for _, kind := range filekinds.All() {
		path := filepath.Join(t.TempDir(), "folder")
		kind.Put(t, path)
		filekinds.Ends(t, func() {
			dir, err := regular.OpenDir(path)
			if isFolder := kind.Name == "a folder"; (err == nil) != isFolder {
				t.Errorf("%s: %v", kind.Name, err)
			}
			dir.Close()
		})
	}
}

func TestAFolderIsListedInPart(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "c", "a"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for most, want := range map[int]string{0: "", 2: "?", 3: "abc", 4: "abc"} {
		entries, all, err := regular.Dir(dir, most)
		names := ""
		for _, entry := range entries {
			names += entry.Name()
		}
		if err != nil || all != (most >= 3) || want != "?" && names != want || want == "?" && len(entries) != 2 {
			t.Errorf("at most %d: %q, all %v, %v", most, names, all, err)
		}
	}
	for _, kind := range filekinds.All() {
		path := filepath.Join(t.TempDir(), "folder")
		kind.Put(t, path)
		filekinds.Ends(t, func() {
			if _, _, err := regular.Dir(path, 1); (err == nil) != (kind.Name == "a folder") {
				t.Errorf("%s: %v", kind.Name, err)
			}
		})
	}
}
