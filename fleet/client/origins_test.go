package client

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// repoAt is a repository with one file and one commit, which is returned.
func repoAt(t *testing.T, dir, text string) (base string) {
	t.Helper()
	gitIn(t, ".", "init", "-q", dir)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "add", "-A")
	return commitIn(t, dir, "base")
}

func commitIn(t *testing.T, dir, message string) string {
	t.Helper()
	gitIn(t, dir, "-c", "user.name=U", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", message)
	return gitIn(t, dir, "rev-parse", "HEAD")
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Another machine's repository may be at the same place, or call itself the same.
func TestALoopIsShownBelowTheRepositoryThatHasItsCommit(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	app, clone := filepath.Join(dir, "app"), filepath.Join(dir, "clone")
	base := repoAt(t, app, "ours")
	other := repoAt(t, filepath.Join(dir, "other"), "another's")
	repoAt(t, clone, "a clone that is behind")
	const url = "https://example.org/app.git"
	gitIn(t, clone, "remote", "add", "origin", url)
	of := func(id, repo, base string) fleet.Record {
		r := loopOf(id, fleet.Ended)
		r.Repo, r.Base, r.Bundled, r.Committed = repo, base, !strings.Contains(repo, ":"), 1
		r.Kept = []int{1}
		return r
	}
	b := newBus(of("f1", app, base), of("f2", app, other), of("f3", filepath.Join(app, "sub"), base), of("f4", url, base))
	b.files[loopOf("f1", "").TranscriptFile(1)] = `{"sessionUpdate":"tool_call","locations":[{"path":"/w/loops/f1/tree/a.txt"}]}` + "\n"
	d, s := connected(t, b)
	s.open(filepath.Join(dir, "other"), clone, app)
	origins := func() string {
		all := map[string]string{}
		loops, _ := d.Loops()
		for _, l := range loops {
			all[l.LoopID] = strings.TrimPrefix(l.Origin, wire.FileURI(dir))
		}
		return fmt.Sprint(all)
	}
	s.until(t, "where the loops belong", func() bool { return origins() == "map[f1:/app f2: f3:/app f4:]" })
	if _, err := d.Fetch(t.Context(), "f2"); err == nil || !strings.Contains(err.Error(), "has its commit "+other[:12]) {
		t.Errorf("what another's repository did is fetched here: %v", err)
	}
	gitIn(t, clone, "fetch", "-q", app)
	if _, err := d.Fetch(t.Context(), "f4"); err == nil || strings.Contains(err.Error(), "no open folder") {
		t.Errorf("a clone that has caught up isn't known: %v", err)
	}
	if got := origins(); got != "map[f1:/app f2: f3:/app f4:/clone]" {
		t.Errorf("loops are below %s", got)
	}
	if updates, _ := readAll(t, d, "", journal.Options{}); len(updates) != 1 || !strings.Contains(string(updates[0]), filepath.Join(app, "a.txt")) {
		t.Errorf("a file of it is %s", updates)
	}
}

// What is cached of a loop's changes rests on the clone that it was taken from.
func TestChangesAreThereWhenTheCloneHasMoved(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	app, moved := filepath.Join(dir, "app"), filepath.Join(dir, "moved")
	r := loopOf("f1", fleet.Ended)
	r.Base, r.Committed = repoAt(t, app, strings.Repeat("a line\n", 100)), 1
	r.Repo, r.Bundled = "https://example.org/app.git", false
	gitIn(t, app, "remote", "add", "origin", r.Repo)
	work := filepath.Join(dir, "work")
	gitIn(t, dir, "clone", "-q", app, work)
	if err := os.WriteFile(filepath.Join(work, "b.txt"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	gitIn(t, work, "add", "-A")
	gitIn(t, work, "read-tree", "--prefix=last/", commitIn(t, work, "done")) // as snapshots are listed
	gitIn(t, work, "rm", "-q", "-r", "--cached", "a.txt", "b.txt")
	gitIn(t, work, "update-ref", "refs/ralph/r1/files", gitIn(t, work, "write-tree"))
	bundle := filepath.Join(dir, "bundle")
	gitIn(t, work, "bundle", "create", "-q", bundle, "refs/ralph/r1/files", "^"+r.Base)
	text, err := os.ReadFile(bundle)
	if err != nil {
		t.Fatal(err)
	}
	b := newBus(r)
	b.files[r.CheckpointFile(1)] = string(text)
	d, s := connected(t, b)
	changed := func() string {
		t.Helper()
		if _, _, err := d.Snapshots(t.Context(), "f1"); err != nil {
			t.Fatal(err)
		}
		return gitIn(t, filepath.Join(d.folder("f1"), "changes", "git"), "diff", "--name-only", r.Base, "refs/ralph/r1/files:last")
	}
	s.open(app)
	if got := changed(); got != "b.txt" {
		t.Fatalf("it changed %q", got)
	}
	if err := os.Rename(app, moved); err != nil {
		t.Fatal(err)
	}
	s.open(moved)
	if got := changed(); got != "b.txt" {
		t.Errorf("it changed %q", got)
	}
	if err := os.Rename(moved, app); err != nil {
		t.Fatal(err)
	}
	s.open()
	if _, _, err := d.Snapshots(t.Context(), "f1"); err == nil || !strings.Contains(err.Error(), "open a clone of that") {
		t.Errorf("without a clone it says %v", err)
	}
}

// The cache doesn't grow for as long as an editor is open.
func TestWhatIsCachedIsBoundedWhileTheEditorRuns(t *testing.T) {
	var all []fleet.Record
	for i := range maxKept + 5 {
		all = append(all, loopOf(fmt.Sprintf("f%d", i), fleet.Ended))
	}
	d, s := connected(t, newBus(all...))
	old := filepath.Join(d.Dir, "f98", "log")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-keptFor - time.Hour)
	if err := os.Chtimes(filepath.Dir(old), long, long); err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if _, err := d.Story(r.ID).Read(t.Context(), "", journal.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	s.until(t, "that there are few folders", func() bool {
		kept, err := fs.ReadDir(os.DirFS(d.Dir), ".")
		return err == nil && len(kept) <= maxKept
	})
	if _, err := os.Stat(old); err == nil {
		t.Error("what nobody has looked at for long stays")
	}
	if _, err := os.Stat(d.folder(all[len(all)-1].ID)); err != nil {
		t.Errorf("what was read last is gone: %v", err)
	}
}
