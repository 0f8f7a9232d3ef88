package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// work is a folder with the user's repository in it, called app.
type work struct {
	testing.TB
	dir, repo string
}

func newWork(t testing.TB) *work {
	t.Helper()
	dir := paths.Real(t.TempDir())
	w := &work{t, dir, filepath.Join(dir, "app")}
	w.write("app/a", "one\n", "app/sub/b", "two\n", "app/.gitignore", "ignored\n")
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.name", "Ann")
	w.git("config", "user.email", "ann@example.com")
	w.git("add", "-A")
	w.git("commit", "-qm", "first")
	return w
}

// write writes files from pairs of a path below dir and its content.
func (w *work) write(pairs ...string) {
	w.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(w.dir, pairs[i])
		w.must(os.MkdirAll(filepath.Dir(path), 0o777))
		w.must(os.WriteFile(path, []byte(pairs[i+1]), 0o666))
	}
}

func (w *work) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// git runs it as the user would, in the repository.
func (w *work) git(args ...string) string {
	w.Helper()
	return w.gitIn(w.repo, args...)
}

func (w *work) gitIn(dir string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// add makes a whole tree.
func (w *work) add(o Options) *Making {
	w.Helper()
	if o.Folder == "" {
		o.Folder = w.repo
	}
	m, err := Add(context.Background(), o)
	w.must(err)
	w.must(m.Done())
	return m
}

// refused wants a start to leave nothing, and to say why.
func (w *work) refused(o Options, why ...string) {
	w.Helper()
	if o.Folder == "" {
		o.Folder = w.repo
	}
	before := w.everything()
	m, err := Add(context.Background(), o)
	if err == nil {
		w.Fatalf("made %s", m.Path)
	}
	for _, part := range why {
		if !strings.Contains(err.Error(), part) {
			w.Errorf("%q, want %q in it", err, part)
		}
	}
	if after := w.everything(); after != before {
		w.Errorf("left behind:\n%s\nbefore:\n%s", after, before)
	}
}

// everything is what a refused start may not change.
func (w *work) everything() string {
	w.Helper()
	trees, _ := filepath.Glob(filepath.Join(w.dir, "*", "*"))
	records, _ := filepath.Glob(filepath.Join(w.repo, ".git", "ralph", "*.*"))
	all := strings.Join(append(trees, records...), "\n")
	if exists(filepath.Join(w.repo, ".git")) {
		all += "\n" + w.git("worktree", "list") + w.git("for-each-ref") + w.git("status", "--porcelain")
	}
	return all
}

// has compares a file with what it should hold; "" is none.
func (w *work) has(path, want string) {
	w.Helper()
	data, err := os.ReadFile(path)
	if err == nil && want == "" || err != nil && want != "" || string(data) != want {
		w.Errorf("%s: %q %v, want %q", path, data, err, want)
	}
}

func TestATreeBesideTheRepository(t *testing.T) {
	w := newWork(t)
	w.write("app/a", "mine\n", "app/.git/hooks/post-checkout", "#!/bin/sh\ntouch "+w.dir+"/ran\n")
	w.must(os.Chmod(filepath.Join(w.repo, ".git/hooks/post-checkout"), 0o777))
	planned, err := Preview(context.Background(), Options{Folder: w.repo, Title: "Build the X!"})
	w.must(err)
	m := w.add(Options{Title: "Build the X!"})
	head := strings.TrimSpace(w.git("rev-parse", "HEAD"))
	want := Tree{Path: filepath.Join(w.dir, "app.worktrees/build-the-x"), Folder: filepath.Join(w.dir, "app.worktrees/build-the-x"), Branch: "ralph/build-the-x", Repo: w.repo, Base: head, Made: true,
		Admin: filepath.Join(w.repo, ".git/worktrees/build-the-x")}
	if m.Tree != want || planned != want {
		t.Errorf("%+v\nplanned %+v\nwant %+v", m, planned, want)
	}
	w.has(filepath.Join(m.Path, "a"), "one\n")
	w.has(filepath.Join(w.repo, "a"), "mine\n")
	w.has(filepath.Join(w.dir, "ran"), "")
	if got, ok := Find(filepath.Join(m.Path, "sub")); !ok || got != want {
		t.Errorf("%+v %v", got, ok)
	}
	if got := w.gitIn(m.Path, "symbolic-ref", "HEAD"); got != "refs/heads/ralph/build-the-x\n" {
		t.Error(got)
	}
	second := w.add(Options{Title: "Build the X!"})
	if second.Branch != "ralph/build-the-x-2" || second.Path != want.Path+"-2" {
		t.Errorf("%+v", second.Tree)
	}
	if got := List(w.repo); len(got) != 2 || got[0] != want || got[1] != second.Tree {
		t.Errorf("%+v", got)
	}
	if got := List(second.Path); len(got) != 2 {
		t.Errorf("from a tree: %+v", got)
	}
}

func TestWhatIsNoTreeOfOurs(t *testing.T) {
	w := newWork(t)
	w.git("worktree", "add", "-q", "../theirs")
	theirs := filepath.Join(w.dir, "theirs")
	m := w.add(Options{Title: "x"})
	w.write("liar/.git", "gitdir: "+m.Admin+"\n")
	for _, dir := range []string{w.repo, filepath.Join(w.repo, "sub"), theirs, w.dir, filepath.Join(w.dir, "liar")} {
		if got, ok := Find(dir); ok {
			t.Errorf("%s: %+v", dir, got)
		}
	}
	if got := List(theirs); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	w.must(os.RemoveAll(m.Path))
	if got := List(w.repo); len(got) != 0 {
		t.Errorf("it is gone: %+v", got)
	}
}

// A folder that names a trusted repository in a marker of its own is no tree of that.
func TestAForgedTreeIsOfNobody(t *testing.T) {
	w := newWork(t)
	w.write("evil/.git", "gitdir: "+w.dir+"/evil/x/worktrees/t\n", "evil/x/worktrees/t/gitdir", w.dir+"/evil/.git\n",
		"evil/x/worktrees/t/ralph.json", `{"branch":"b","repo":"`+w.repo+`"}`)
	if got, _ := Find(filepath.Join(w.dir, "evil")); got.Repo == w.repo {
		t.Errorf("%+v", got)
	}
}

func TestWithChangesTakesTheFilesAsTheyAre(t *testing.T) {
	w := newWork(t)
	w.write("app/a", "staged\n")
	w.git("add", "a")
	w.write("app/a", "as it is\n", "app/new one\n☃", "new\n", "app/ignored", "no\n", "app/nested/x", "no\n")
	w.must(os.Remove(filepath.Join(w.repo, "sub/b")))
	w.gitIn(filepath.Join(w.repo, "nested"), "init", "-q")
	before := w.everything() + w.git("diff", "--cached")
	m := w.add(Options{Title: "x", WithChanges: true, Folder: w.repo})
	w.has(filepath.Join(m.Path, "a"), "as it is\n")
	w.has(filepath.Join(m.Path, "new one\n☃"), "new\n")
	for _, name := range []string{"sub/b", "ignored", "nested/x"} {
		w.has(filepath.Join(m.Path, name), "")
	}
	if !strings.Contains(before, w.git("status", "--porcelain")) || !strings.Contains(before, w.git("diff", "--cached")) {
		t.Error("the user's index or files are others now")
	}
	if got := w.gitIn(m.Path, "log", "-1", "--format=%an|%s|%P"); got != "Ann|"+changesMessage+"|"+w.git("rev-parse", "HEAD") {
		t.Error(got)
	}
	if got := w.gitIn(m.Path, "status", "--porcelain"); got != "" {
		t.Error(got)
	}
	if len(m.Notes) != 1 || !strings.HasPrefix(m.Notes[0], "nested/ is") {
		t.Errorf("%q", m.Notes)
	}
	if got := strings.TrimSpace(w.gitIn(m.Path, "rev-parse", "HEAD")); m.Base != got {
		t.Errorf("it began with %s, not %s", got, m.Base)
	}
	w.git("stash", "-uq")
	if again := w.add(Options{Title: "y", WithChanges: true}); again.Base != strings.TrimSpace(w.git("rev-parse", "HEAD")) {
		t.Error("a commit of nothing")
	}
}

func TestStartsInAllKindsOfPlaces(t *testing.T) {
	w := newWork(t)
	if m := w.add(Options{Title: "sub", Folder: filepath.Join(w.repo, "sub")}); m.Folder != filepath.Join(m.Path, "sub") || m.Repo != w.repo {
		t.Errorf("%+v", m)
	} else if got, _ := Find(m.Path); got != m.Tree {
		t.Errorf("%+v, and %+v", got, m.Tree)
	}
	if m := w.add(Options{Title: "placed", Place: "../my trees/{repo}"}); m.Path != filepath.Join(w.dir, "my trees/app/placed") {
		t.Errorf("%+v", m)
	}
	w.git("checkout", "-q", "--detach")
	if m := w.add(Options{Title: "Größe: 雪 und mehr, viel mehr als in vierzig Zeichen"}); m.Branch != "ralph/größe-雪-und-mehr-viel-mehr-als-in" {
		t.Error(m.Branch)
	}
	if m := w.add(Options{Title: "!"}); m.Branch != "ralph/loop" {
		t.Error(m.Branch)
	}
	w.git("clone", "-q", "--bare", ".", "../bare.git")
	bare := filepath.Join(w.dir, "bare.git")
	m := w.add(Options{Title: "of a bare one", Folder: bare})
	if m.Path != filepath.Join(w.dir, "bare.worktrees/of-a-bare-one") || m.Repo != bare || len(List(bare)) != 1 {
		t.Errorf("%+v", m)
	}
	theirs := filepath.Join(w.dir, "theirs")
	w.git("worktree", "add", "-qb", "theirs", theirs)
	w.write("theirs/a", "there\n")
	w.gitIn(theirs, "commit", "-qam", "there")
	m = w.add(Options{Title: "of theirs", Folder: theirs})
	w.has(filepath.Join(m.Path, "a"), "there\n")
	if got, _ := Find(m.Path); got.Repo != theirs || filepath.Dir(m.Path) != filepath.Join(w.dir, "app.worktrees") {
		t.Errorf("%+v", got)
	}
	w.git("worktree", "remove", "--force", theirs)
	if got, _ := Find(m.Path); got.Repo != w.repo {
		t.Errorf("what it was started in is gone: %+v", got)
	}
}

// What agents may not read isn't in a commit, nor among git's objects.
func TestWhatIsHiddenIsNotTakenAlong(t *testing.T) {
	w := newWork(t)
	w.write("app/sub/b", "the secret 1\n", "app/sub/keys/x", "the secret 2\n", "app/sub/keyserver", "1\n", "app/a", "changed\n")
	m := w.add(Options{Title: "x", Folder: filepath.Join(w.repo, "sub"), WithChanges: true, Hidden: []string{"b", "keys"}})
	w.has(filepath.Join(m.Path, "a"), "changed\n")
	w.has(filepath.Join(m.Path, "sub/b"), "two\n")
	w.has(filepath.Join(m.Path, "sub/keyserver"), "1\n")
	if all := w.git("cat-file", "--batch-all-objects", "--batch"); strings.Contains(all, "secret") {
		t.Error("git has what is hidden")
	}
}

func TestBranchesThatAreNamed(t *testing.T) {
	w := newWork(t)
	if m := w.add(Options{Branch: "feature/new"}); m.Branch != "feature/new" || !m.Made || filepath.Base(m.Path) != "feature-new" {
		t.Errorf("%+v", m)
	}
	w.git("branch", "old")
	w.write("app/a", "two\n")
	w.git("commit", "-qam", "second")
	m := w.add(Options{Branch: "old"})
	w.has(filepath.Join(m.Path, "a"), "one\n")
	if m.Made || m.Base != strings.TrimSpace(w.git("rev-parse", "old")) {
		t.Errorf("%+v", m)
	}
	w.refused(Options{Branch: "old"}, "the branch old is checked out in "+m.Path)
	w.refused(Options{Branch: "main"}, "checked out in "+w.repo)
	w.git("branch", "idle")
	w.refused(Options{Branch: "idle", WithChanges: true}, "exists, and --with-changes needs a new one")
	for _, name := range []string{"a b", "-x", "a..b", "@{-1}", "x.lock"} {
		w.refused(Options{Branch: name}, "no branch can be called")
	}
	w.git("branch", "ralph")
	if m := w.add(Options{Title: "x"}); m.Branch != "ralph-x" {
		t.Errorf("below a branch: %s", m.Branch)
	}
}

func TestStartsThatAreRefused(t *testing.T) {
	w := newWork(t)
	empty := filepath.Join(w.dir, "empty")
	w.write("empty/x", "")
	w.refused(Options{Folder: empty, Title: "x"}, "is in no git repository", "git init")
	w.gitIn(empty, "init", "-q")
	w.refused(Options{Folder: empty, Title: "x"}, "has no commit yet")
	w.write("app/later/x", "")
	w.refused(Options{Folder: filepath.Join(w.repo, "later"), Title: "x"}, "isn't in the commit", "--with-changes")
	w.write("file", "")
	w.refused(Options{Title: "x", Place: "../file"}, "[worktree] place")
	w.git("clone", "-q", "--bare", ".", "../deep/er/bare.git")
	w.refused(Options{Folder: filepath.Join(w.dir, "deep/er/bare.git"), Title: "x", WithChanges: true}, "a bare repository")

	w.write("app/.gitattributes", "*.big filter=big\n", "app/x.big", "x\n")
	w.git("add", "-A")
	w.git("commit", "-qm", "big")
	w.git("config", "--global", "filter.big.clean", "cat")
	w.git("config", "--global", "filter.big.smudge", "no-such-program")
	w.git("config", "--global", "filter.big.required", "true")
	w.refused(Options{Title: "x"}, "smudge filter big failed")
	w.git("config", "--global", "--remove-section", "filter.big")

	w.git("checkout", "-qb", "other")
	w.write("app/a", "other\n")
	w.git("commit", "-qam", "other")
	w.git("checkout", "-q", "main")
	w.write("app/a", "main\n")
	w.git("commit", "-qam", "main")
	cmd := exec.Command("git", "merge", "other")
	if cmd.Dir = w.repo; cmd.Run() == nil {
		t.Fatal("no conflict")
	}
	w.refused(Options{Title: "x", WithChanges: true}, "a merge has conflicts", "leave --with-changes out")

	w.git("config", "--unset", "user.name")
	w.refused(Options{Title: "x", Commit: true}, "git doesn't know who you are", "leave --commit out")
	w.add(Options{Title: "from HEAD it works"})
}

func TestSubmodulesAreTold(t *testing.T) {
	w := newWork(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", "./.git", "lib")
	w.git("commit", "-qm", "lib")
	if m := w.add(Options{Title: "x"}); len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "(lib)") {
		t.Errorf("%q", m.Notes)
	}
}

func TestADroppedTreeLeavesNothing(t *testing.T) {
	w := newWork(t)
	before := w.everything()
	m, err := Add(context.Background(), Options{Folder: w.repo, Title: "x"})
	w.must(err)
	if _, ok := Find(m.Path); ok || len(List(w.repo)) > 0 {
		t.Error("it isn't whole yet")
	}
	w.must(os.MkdirAll(filepath.Join(m.Path, "cache/deep"), 0o777))
	w.must(os.Chmod(filepath.Join(m.Path, "cache"), 0o500))
	w.must(m.Drop())
	if after := w.everything(); after != before {
		t.Errorf("left behind:\n%s\nbefore:\n%s", after, before)
	}
}

// Trees are made one after the other: a git that meets the half of another one gives up, and
// its loop would have none.
func TestOneTreeIsMadeAtATime(t *testing.T) {
	w := newWork(t)
	begun, goOn := filepath.Join(w.dir, "begun"), filepath.Join(w.dir, "go on")
	w.write("app/.gitattributes", "a filter=slow\n")
	w.git("add", "-A")
	w.git("commit", "-qm", "slow")
	w.git("config", "--global", "filter.slow.smudge", "touch '"+begun+"'; until test -e '"+goOn+"'; do sleep 0.01; done; cat")
	made := make(chan error, 1)
	go func() {
		m, err := Add(context.Background(), Options{Folder: w.repo, Title: "first"})
		if err == nil {
			err = m.Done()
		}
		made <- err
	}()
	proctest.Until(t, "git's work", func() bool { _, err := os.Stat(begun); return err == nil || len(made) > 0 })
	other, err := os.Open(filepath.Join(recordsOf(filepath.Join(w.repo, ".git")), "lock"))
	w.must(err)
	defer other.Close()
	if free, err := filelock.Try(other, true); free || err != nil {
		t.Errorf("another start needn't wait: %v", err)
	}
	w.write("go on", "")
	w.must(<-made)
}
