package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommitsAreTheUsers(t *testing.T) {
	w := newWork(t)
	w.git("config", "commit.gpgSign", "true")
	w.git("config", "gpg.program", "false")
	w.write("app/.git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	w.must(os.Chmod(filepath.Join(w.repo, ".git/hooks/pre-commit"), 0o755))
	tree := w.add(Options{Title: "x", Commit: true}).Tree
	if found, ok := Find(tree.Path); !ok || !found.Commits {
		t.Errorf("it isn't known that iterations are committed: %+v", found)
	}
	w.writeTo(tree.Path, "c", "c\n")
	w.writeTo(tree.Path, ".pi/ours", "x\n")
	w.must(os.Remove(filepath.Join(tree.Path, "a")))
	commit := func() bool {
		t.Helper()
		isMade, err := tree.Commit(context.Background(), "Done\n\nAll of it.", w.snapshot(tree), []string{".pi/"})
		w.must(err)
		return isMade
	}
	if !commit() {
		t.Error("nothing is committed")
	}
	if got := w.gitIn(tree.Path, "log", "-1", "--format=%an %cn %B", "--name-status"); got != "Ann Ann Done\n\nAll of it.\n\n\nD\ta\nA\tc\n" {
		t.Errorf("%q", got)
	}
	if status := w.gitIn(tree.Path, "status", "--porcelain"); status != "?? .pi/\n" {
		t.Errorf("git status says %q", status)
	}
	if commit() {
		t.Error("it is committed again when nothing has changed")
	}
}

// A folder gave way to a link, behind which its file is still found: the file is gone.
func TestACommitWhereALinkLeadsToAFile(t *testing.T) {
	w := newWork(t)
	w.write("app/near/file", "1\n", "app/far/other", "1\n")
	w.git("add", "-A")
	w.git("commit", "-qm", "folders")
	tree := w.add(Options{Title: "x", Commit: true}).Tree
	w.must(os.Rename(filepath.Join(tree.Path, "near"), filepath.Join(tree.Path, "there")))
	if err := os.Symlink("there", filepath.Join(tree.Path, "near")); err != nil {
		t.Skip(err)
	}
	isMade, err := tree.Commit(context.Background(), "Done", "", nil)
	w.must(err)
	if status := w.gitIn(tree.Path, "status", "--porcelain"); !isMade || status != "" {
		t.Errorf("made: %t, git status says %q", isMade, status)
	}
	if got := w.gitIn(tree.Path, "show", "--no-renames", "--name-status", "--format=", "HEAD"); got != "A\tnear\nD\tnear/file\nA\tthere/file\n" {
		t.Errorf("%q", got)
	}
}

// snapshot is the tree of all files but ours that git doesn't ignore.
func (w *work) snapshot(tree Tree) string {
	w.Helper()
	index := filepath.Join(w.TempDir(), "index")
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = tree.Path, append(os.Environ(), "GIT_INDEX_FILE="+index)
		out, err := cmd.Output()
		w.must(err)
		return strings.TrimSpace(string(out))
	}
	run("read-tree", tree.Base)
	run("add", "-A", ":/", ":!.pi")
	return run("write-tree")
}

// A commit that is made of a snapshot is the one that git would make of the files, and leaves
// git's index as that would.
func TestACommitOfASnapshotIsThatOfTheFiles(t *testing.T) {
	for name, do := range map[string]func(w *work, tree Tree){
		"new and changed files": func(w *work, tree Tree) { w.writeTo(tree.Path, "a", "2\n"); w.writeTo(tree.Path, "new/c", "c\n") },
		"files that are gone":   func(w *work, tree Tree) { w.must(os.RemoveAll(filepath.Join(tree.Path, "sub"))) },
		"a file that is a folder by now": func(w *work, tree Tree) {
			w.must(os.Remove(filepath.Join(tree.Path, "a")))
			w.writeTo(tree.Path, "a/b", "2\n")
		},
		"a link": func(w *work, tree Tree) { w.must(os.Symlink("a", filepath.Join(tree.Path, "link"))) },
		"what is staged otherwise": func(w *work, tree Tree) {
			w.writeTo(tree.Path, "a", "staged\n")
			w.gitIn(tree.Path, "add", "a")
			w.writeTo(tree.Path, "a", "one\n")
			w.writeTo(tree.Path, "new", "\n")
			w.gitIn(tree.Path, "add", "-N", "new")
			w.gitIn(tree.Path, "rm", "-q", "--cached", "sub/b")
		},
		"an ignored file that was added": func(w *work, tree Tree) {
			w.writeTo(tree.Path, "ignored", "1\n")
			w.gitIn(tree.Path, "add", "-f", "ignored")
			w.writeTo(tree.Path, "a", "2\n")
		},
		"one that was committed, and changed": func(w *work, tree Tree) {
			w.writeTo(tree.Path, "ignored", "1\n")
			w.gitIn(tree.Path, "add", "-f", "ignored")
			w.gitIn(tree.Path, "commit", "-qm", "by the agent")
			w.writeTo(tree.Path, "ignored", "2\n")
		},
		"an agent's own commit": func(w *work, tree Tree) {
			w.writeTo(tree.Path, "a", "2\n")
			w.gitIn(tree.Path, "commit", "-qam", "by the agent")
			w.writeTo(tree.Path, "b", "3\n")
		},
		"a file that git is to forget": func(w *work, tree Tree) {
			w.writeTo(tree.Path, ".gitignore", "ignored\nsub/\n")
			w.gitIn(tree.Path, "rm", "-q", "--cached", "sub/b")
		},
		"a conflict of a stash": func(w *work, tree Tree) {
			w.writeTo(tree.Path, "a", "stashed\n")
			w.gitIn(tree.Path, "stash", "-q")
			w.writeTo(tree.Path, "a", "mine\n")
			w.gitIn(tree.Path, "commit", "-qam", "by the agent")
			_ = fails(w, tree.Path, "stash", "pop")
		},
		"a file of ours that the agent added": func(w *work, tree Tree) {
			w.writeTo(tree.Path, ".pi/ours", "x\n")
			w.gitIn(tree.Path, "add", "-f", ".pi")
			w.writeTo(tree.Path, "a", "2\n")
		},
		"an index that another git has locked": func(w *work, tree Tree) {
			w.writeTo(tree.Path, "a", "2\n")
			w.must(os.WriteFile(filepath.Join(tree.Admin, "index.lock"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var came []string
			for _, isKnown := range []bool{false, true} {
				w := newWork(t)
				tree := w.add(Options{Title: "x", Commit: true}).Tree
				do(w, tree)
				snapshot := ""
				if isKnown {
					snapshot = w.snapshot(tree)
				}
				isMade, err := tree.Commit(context.Background(), "x", snapshot, []string{".pi/"})
				_ = os.Remove(filepath.Join(tree.Admin, "index.lock"))
				came = append(came, fmt.Sprint(isMade, err != nil, "\n", w.gitIn(tree.Path, "log", "--format=%s %T"),
					w.gitIn(tree.Path, "ls-files", "--stage"), w.gitIn(tree.Path, "status", "--porcelain", "--ignored")))
				if left, _ := filepath.Glob(filepath.Join(tree.Admin, "*index?*")); len(left) > 0 {
					t.Errorf("%q are left", left)
				}
			}
			if came[0] != came[1] || !strings.HasPrefix(came[0], "true") {
				t.Errorf("of the files:\n%s\nof a snapshot:\n%s", came[0], came[1])
			}
		})
	}
}

func TestACommitIsNotMadeElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		why Reason
		do  func(w *work, tree Tree)
	}{
		"another branch": {ReasonStrayed, func(w *work, tree Tree) { w.gitIn(tree.Path, "checkout", "-qb", "mine") }},
		"no branch":      {ReasonStrayed, func(w *work, tree Tree) { w.gitIn(tree.Path, "checkout", "-q", "--detach") }},
		"nobody":         {ReasonNobody, func(w *work, tree Tree) { w.git("config", "--unset", "user.email") }},
		"a merge": {ReasonUnderWay, func(w *work, tree Tree) {
			w.write("app/a", "main\n")
			w.git("commit", "-qam", "main")
			w.writeTo(tree.Path, "a", "loop\n")
			w.gitIn(tree.Path, "commit", "-qam", "loop")
			_ = fails(w, tree.Path, "merge", "main")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			tree := w.add(Options{Title: "x"}).Tree
			w.writeTo(tree.Path, "c", "c\n")
			c.do(w, tree)
			before := w.photo()
			_, err := tree.Commit(context.Background(), "x", w.snapshot(tree), nil)
			if refused, ok := errors.AsType[*Refused](err); !ok || refused.Reason != c.why {
				t.Errorf("%v, want a refusal for %s", err, c.why)
			}
			if after := w.photo(); after != before {
				t.Errorf("it changed something:\n%s\n%s", before, after)
			}
		})
	}
}
