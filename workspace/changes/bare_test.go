package changes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Without git it is known whether a folder holds something new: what files say counts, not
// that they were written.
func TestAFolderIsLookedAtWithoutGit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) func() error {
		return func() error { return os.WriteFile(at(name), []byte(text), 0o600) }
	}
	for _, name := range []string{"sub", ".git", "rec"} {
		must.OK(t, os.Mkdir(at(name), 0o700))
	}
	must.OK(t, errors.Join(write("a", "one")(), write("log", "")(), write(".git/HEAD", "ref: refs/heads/main\n")()))
	log, err := os.Stat(at("log"))
	must.OK(t, err)
	b, err := Look(dir, Options{Skip: []string{"rec/x-"}}, func() []os.FileInfo { return []os.FileInfo{log} })
	must.OK(t, err)
	last, _ := b.State()
	first := last
	for _, tt := range []struct {
		what string
		do   func() error
		want bool
	}{
		{"nothing", func() error { return nil }, false},
		{"a new file", write("sub/b", "two"), true},
		{"other text", write("a", "two"), true},
		{"the same text", write("a", "two"), false},
		{"another time", func() error { return os.Chtimes(at("a"), time.Unix(1, 0), time.Unix(1, 0)) }, false},
		{"another mode", func() error { return os.Chmod(at("a"), 0o700) }, true},
		{"what is printed", write("log", "hello"), false},
		{"what is printed, by another name", func() error { return os.Rename(at("log"), at("log.1")) }, false},
		{"a record", write("rec/x-1.jsonl", "{}"), false},
		{"another's record", write("rec/y", "{}"), true},
		{"a link", func() error { return os.Symlink("a", at("link")) }, true},
		{"a commit", write(".git/HEAD", "ref: refs/heads/other\n"), true},
		{"a file of git's", write(".git/index", "x"), false},
		{"a file less", func() error { return os.Remove(at("sub/b")) }, true},
	} {
		must.OK(t, tt.do())
		now, err := b.State()
		if err != nil || now.Tree == "" || (now != last) != tt.want {
			t.Errorf("%s: %+v after %+v, %v", tt.what, now, last, err)
		}
		last = now
	}
	if last == first || !b.Shows(at("sub/new")) || b.Shows(filepath.Join(t.TempDir(), "a")) {
		t.Errorf("%+v, %+v", first, last)
	}
}

func TestAFolderWithTooManyFilesIsNotLookedAtWithoutGit(t *testing.T) {
	dir := t.TempDir()
	for i := range maxBare + 1 {
		must.OK(t, os.Link(mustFile(t, dir, i), filepath.Join(dir, fmt.Sprint(i))))
	}
	if _, err := Look(dir, Options{}, nil); !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v", err)
	}
}

// mustFile is a file to link to; a file system bounds how many links one has.
func mustFile(t *testing.T, dir string, i int) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("of%d", i/10_000))
	if i%10_000 == 0 {
		must.OK(t, os.WriteFile(path, nil, 0o600))
	}
	return path
}
