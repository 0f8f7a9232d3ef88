package loopstate

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// git runs git in a folder, without the settings of who runs the tests.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=", "XDG_CONFIG_HOME=",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v, %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// repository is a folder with pi's settings in it, which are the user's.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	putFiles(t, dir, map[string]string{"a.go": "package a\n", ".pi/settings.json": "{}\n"})
	putFiles(t, dir, files)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "first")
	return dir
}

func putFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Write(t, path, text)
	}
}

// drive begins a loop as an engine does: the lock, then the file, then updates.
func drive(t *testing.T, dir string) (*File, *Lock) {
	t.Helper()
	f := open(t, dir)
	l := lock(t, f, Owner{})
	must.OK(t, f.Create(State{LoopID: "ignored", Iteration: 1, Prompt: "Go."}))
	return f, l
}

func nextIteration(t *testing.T, f *File) {
	t.Helper()
	must.OK(t, must.Err(f.Claim(func(s *State) error { s.Iteration++; return nil })))
}

// endLoop ends a loop that is done; nothing of it is left.
func endLoop(t *testing.T, f *File, l *Lock) {
	t.Helper()
	must.OK(t, errors.Join(f.Remove(), l.Release()))
}

func TestGitLeavesALoopsFilesAlone(t *testing.T) {
	dir := repository(t, nil)
	f, l := drive(t, dir)
	putFiles(t, dir, map[string]string{"b.go": "package a\n", ".pi/settings.json": "{\"a\":1}\n"})
	nextIteration(t, f)
	const want = "M  .pi/settings.json\nA  b.go\n"
	git(t, dir, "add", "-A")
	if got := git(t, dir, "status", "--porcelain"); got != want {
		t.Errorf("git add -A adds\n%s", got)
	}
	git(t, dir, "commit", "-qm", "second")
	putFiles(t, dir, map[string]string{"c.go": "package a\n"})
	git(t, dir, "stash", "-qu")
	git(t, dir, "clean", "-qfd")
	nextIteration(t, f)
	putFiles(t, dir, map[string]string{"c.go": "package a\n"})
	os.Remove(filepath.Join(dir, filepath.FromSlash(ignoreName)))
	nextIteration(t, f)
	if got := git(t, dir, "status", "--porcelain"); got != "?? c.go\n" {
		t.Errorf("when an agent has removed it: %q", got)
	}
	endLoop(t, f, l)
	if got := git(t, dir, "status", "--porcelain", "--ignored"); got != "?? c.go\n" {
		t.Errorf("behind the loop: %q", got)
	}
}

func TestGitInOtherFolders(t *testing.T) {
	t.Run("a worktree", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "tree")
		git(t, repository(t, nil), "worktree", "add", "-q", dir)
		f, l := drive(t, dir)
		nextIteration(t, f)
		if got := git(t, dir, "status", "--porcelain"); got != "" {
			t.Errorf("during the loop: %q", got)
		}
		endLoop(t, f, l)
		if got := git(t, dir, "status", "--porcelain", "--ignored"); got != "" {
			t.Errorf("behind it: %q", got)
		}
	})
	t.Run("one that becomes a repository", func(t *testing.T) {
		dir := t.TempDir()
		f, l := drive(t, dir)
		git(t, dir, "init", "-q")
		if got := git(t, dir, "status", "--porcelain"); got != "" {
			t.Errorf("during the loop: %q", got)
		}
		endLoop(t, f, l)
		if _, err := os.Stat(filepath.Join(dir, stateDir)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf(".pi is left behind: %v", err)
		}
	})
}

// What git is forced to do it does; a loop without its file ends in order.
func TestGitThatIsForced(t *testing.T) {
	dir := repository(t, nil)
	f, l := drive(t, dir)
	git(t, dir, "add", "-Af")
	if got := git(t, dir, "status", "--porcelain"); !strings.Contains(got, "A  "+Name) {
		t.Errorf("git add -Af adds %q", got)
	}
	nextIteration(t, f)
	git(t, dir, "reset", "-q")
	git(t, dir, "clean", "-qfdx")
	if _, err := f.Update(func(s *State) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the file: %v", err)
	}
	endLoop(t, f, l)
	if got := git(t, dir, "status", "--porcelain", "--ignored"); got != "" {
		t.Errorf("behind it: %q", got)
	}
}

func TestWhatTheUserTellsGitStays(t *testing.T) {
	const own = "*.log\n"
	path := func(dir string) string { return filepath.Join(dir, filepath.FromSlash(ignoreName)) }
	text := func(t *testing.T, dir string) string {
		t.Helper()
		data, err := os.ReadFile(path(dir))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	t.Run("from before", func(t *testing.T) {
		dir := repository(t, map[string]string{ignoreName: own})
		f, l := drive(t, dir)
		nextIteration(t, f)
		if got := text(t, dir); got != own {
			t.Errorf("during the loop: %q", got)
		}
		endLoop(t, f, l)
		if got := text(t, dir); got != own {
			t.Errorf("behind it: %q", got)
		}
	})
	t.Run("added to ours", func(t *testing.T) {
		dir := t.TempDir()
		f, l := drive(t, dir)
		must.OK(t, os.WriteFile(path(dir), []byte(ignoreText+own), 0o644))
		endLoop(t, f, l)
		if got := text(t, dir); got != ignoreText+own {
			t.Errorf("behind it: %q", got)
		}
	})
	t.Run("a link", func(t *testing.T) {
		dir := t.TempDir()
		putFiles(t, dir, map[string]string{"ignored": ignoreText})
		must.OK(t, linkInPi(dir, "../ignored", ".gitignore"))
		f, l := drive(t, dir)
		endLoop(t, f, l)
		if got := text(t, dir); got != ignoreText {
			t.Errorf("behind it: %q", got)
		}
	})
	t.Run("a link to nothing", func(t *testing.T) {
		dir := t.TempDir()
		must.OK(t, linkInPi(dir, "../ignored", ".gitignore"))
		f, l := drive(t, dir)
		if _, err := os.Lstat(filepath.Join(dir, "ignored")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the link was followed: %v", err)
		}
		endLoop(t, f, l)
	})
	t.Run("a link that leads out", func(t *testing.T) {
		dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "x")
		must.OK(t, linkInPi(dir, outside, ".gitignore"))
		f, l := drive(t, dir)
		endLoop(t, f, l)
		if _, err := os.Lstat(outside); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something was written outside: %v", err)
		}
	})
}

// An interrupted loop's files are still there, and so is what git is told.
func TestAnInterruptedLoopIsStillIgnored(t *testing.T) {
	dir := repository(t, nil)
	f, l := drive(t, dir)
	must.OK(t, l.Release())
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("interrupted: %q", got)
	}
	endLoop(t, f, lock(t, f, Owner{}))
	if got := git(t, dir, "status", "--porcelain", "--ignored"); got != "" {
		t.Errorf("discarded: %q", got)
	}
}

// Who only reads or asks changes nothing in the folder.
func TestOnlyWhoDrivesTellsGit(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\niteration: 1\n---\nGo.")
	nextIteration(t, f)
	must.OK(t, lock(t, f, Owner{}).Release())
	nextIteration(t, f)
	onlyTheStateFile(t, f)
}
