package changes

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

func TestMain(m *testing.M) {
	perOlder = 2
	if len(os.Args) == 3 && os.Args[1] == "take-snapshots" {
		takeUntilKilled(os.Args[2])
	}
	proctest.HeedSignals()
	remove, err := testhome.Use()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// folder is a loop's folder with the snapshots of a loop, and all that is done with them.
type folder struct {
	*Store
	*archive
	*Snapshots
	Diff
	Review
	*Undoer
	Checkouts
	t    testing.TB
	dir  string
	opts Options
}

// bare is a folder that is no repository.
func bare(t testing.TB, files ...string) *folder {
	t.Helper()
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	f := &folder{t: t, dir: dir, opts: Options{Keep: time.Hour, MaxFile: 1 << 20, Dir: filepath.Join(t.TempDir(), "changes"), Skip: []string{".pi/ours.", "jotted/"}}}
	f.write(files...)
	return f
}

// repository is a folder whose files are committed.
func repository(t testing.TB, files ...string) *folder {
	t.Helper()
	f := bare(t, files...)
	template := t.TempDir()
	f.must(os.WriteFile(filepath.Join(template, "config"), []byte("[user]\nname = ann\nemail = ann@localhost\n[gc]\nauto = 0\n"), 0o600)) // gc would go on behind a test's back
	f.git("init", "-q", "-b", "main", "--template="+template)
	f.git("add", "-A")
	f.git("commit", "-q", "--allow-empty", "-m", "first")
	return f
}

// loop begins a loop in the folder: its snapshots, and the first of them.
func (f *folder) loop() *folder {
	f.t.Helper()
	f.open("ralph-test")
	f.start()
	return f
}

func (f *folder) open(id string) {
	f.t.Helper()
	s, err := Create(context.Background(), f.dir, id, f.opts, nil)
	must.OK(f.t, err)
	f.use(s)
}

func (f *folder) use(s *Store) {
	f.Store, f.archive, f.Snapshots, f.Diff, f.Review, f.Undoer, f.Checkouts = s, s.in, s.Snapshots, s.Diff, s.Review, s.Undoer, s.Checkouts
}

func (f *folder) start() Taken {
	f.t.Helper()
	taken, err := f.Start(context.Background())
	must.OK(f.t, err)
	return taken
}

// after makes the snapshot of an iteration that wrote files: pairs of a name
// and a content.
func (f *folder) after(n int, files ...string) Taken {
	f.t.Helper()
	f.write(files...)
	taken, err := f.After(context.Background(), n)
	must.OK(f.t, err)
	return taken
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// gone as a content removes a file.
const gone = "\x00gone"

func (f *folder) write(files ...string) {
	f.t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := f.path(files[i])
		if files[i+1] == gone {
			f.must(os.RemoveAll(path))
			continue
		}
		f.must(os.MkdirAll(filepath.Dir(path), 0o755))
		f.must(os.WriteFile(path, []byte(files[i+1]), 0o644))
	}
}

func (f *folder) must(err error) {
	f.t.Helper()
	must.OK(f.t, err)
}

func (f *folder) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

var configuring sync.Mutex

// setForUser sets something in the configuration of the user of all these tests.
func (f *folder) setForUser(key, value string) {
	f.t.Helper()
	configuring.Lock()
	defer configuring.Unlock()
	f.git("config", "--global", key, value)
}

// has checks the content of files; gone is for those that aren't there.
func (f *folder) has(files ...string) {
	f.t.Helper()
	for i := 0; i < len(files); i += 2 {
		data, err := os.ReadFile(f.path(files[i]))
		got := string(data)
		if err != nil {
			got = gone
		}
		if got != files[i+1] {
			f.t.Errorf("%s: %q (%v), want %q", files[i], got, err, files[i+1])
		}
	}
}

// changed checks what a range of snapshots tells: lines such as "modified a +1 -2".
func (f *folder) changed(r Range, want ...string) {
	f.t.Helper()
	files, err := f.Files(context.Background(), r, nil)
	must.OK(f.t, err)
	got := []string{}
	for _, c := range files {
		line := fmt.Sprintf("%s %s +%d -%d", c.Status, c.Path, c.Added, c.Removed)
		if c.From != "" {
			line += " from " + c.From
		}
		if c.Binary {
			line += " binary"
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("%v: %q, want %q", r, got, want)
	}
}

// undo undoes, and checks what was undone or merged, "path (merged)", and what was
// refused, "path: reason".
func (f *folder) undo(u Undo, undone []string, refused ...string) {
	f.t.Helper()
	got, err := f.Undo(context.Background(), u)
	f.outcome(got, err, true, undone, refused)
}

func (f *folder) redo(undone []string, refused ...string) {
	f.t.Helper()
	got, err := f.Redo(context.Background(), false)
	f.outcome(got, err, false, undone, refused)
}

func (f *folder) outcome(got Undone, err error, canMerge bool, undone, refused []string) {
	f.t.Helper()
	must.OK(f.t, err)
	var whys []string
	for _, r := range got.Refused {
		if r.CanMerge != (r.Reason == whyEdited && canMerge) {
			f.t.Errorf("%+v", r)
		}
		whys = append(whys, r.Path+": "+r.Reason)
	}
	for _, path := range got.Merged {
		got.Paths = append(got.Paths, path+" (merged)")
	}
	if !slices.Equal(got.Paths, undone) || !slices.Equal(whys, refused) {
		f.t.Errorf("undone %q, refused %q; want %q, %q", got.Paths, whys, undone, refused)
	}
}

// userState is all that is the user's: the files, and the repository but for
// objects and refs/ralph.
func (f *folder) userState() string {
	f.t.Helper()
	var b bytes.Buffer
	f.must(filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		f.must(err)
		rel, _ := filepath.Rel(f.dir, path)
		rel = filepath.ToSlash(rel)
		switch {
		case rel == ".git/objects", rel == ".git/refs/ralph":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		f.must(err)
		data, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %s %s %q\n", rel, info.Mode(), info.ModTime(), data)
		return nil
	}))
	return b.String()
}

// name is one of very many files in a thousand folders.
func name(i int) string { return fmt.Sprintf("d%d/e%d/f%d", i%50, i/50%20, i) }

// inStore is git where the snapshots are.
func (f *folder) inStore(args ...string) string {
	f.t.Helper()
	out, err := f.archive.git.Text(f.t.Context(), nil, args...)
	f.must(err)
	return out
}
