package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusals are what keeps a loop's work from landing: why, which files are named, and
// how it comes to that.
var refusals = map[string]struct {
	why   Reason
	paths string
	o     LandOptions
	do    func(w *work, tree Tree)
}{
	"both changed a line": {ReasonConflict, "a", LandOptions{}, func(w *work, _ Tree) {
		w.write("app/a", "one\nmine\n")
		w.git("commit", "-qam", "mine")
	}},
	"the same, squashed": {ReasonConflict, "a", LandOptions{How: HowSquash}, func(w *work, _ Tree) {
		w.write("app/a", "one\nmine\n")
		w.git("commit", "-qam", "mine")
	}},
	"the same, rebased": {ReasonConflict, "a", LandOptions{How: HowRebase}, func(w *work, _ Tree) {
		w.write("app/a", "one\nmine\n")
		w.git("commit", "-qam", "mine")
	}},
	"deleted here, changed there": {ReasonConflict, "a", LandOptions{}, func(w *work, _ Tree) {
		w.git("rm", "-q", "a")
		w.git("commit", "-qm", "gone")
	}},
	"both made it": {ReasonConflict, "new file", LandOptions{}, func(w *work, _ Tree) {
		w.write("app/new file", "mine\n")
		w.git("add", "-A")
		w.git("commit", "-qm", "mine")
	}},
	"changed and not committed": {ReasonUncommitted, "a", LandOptions{}, func(w *work, _ Tree) { w.write("app/a", "mine\n") }},
	"staged": {ReasonUncommitted, "a", LandOptions{}, func(w *work, _ Tree) {
		w.write("app/a", "mine\n")
		w.git("add", "a")
	}},
	"staged, and as it would land on disk": {ReasonUncommitted, "a", LandOptions{}, func(w *work, _ Tree) {
		w.write("app/a", "mine\n")
		w.git("add", "a")
		w.write("app/a", "one\nmore\n")
	}},
	"deleted and not committed": {ReasonUncommitted, "a", LandOptions{}, func(w *work, _ Tree) { w.must(os.Remove(filepath.Join(w.repo, "a"))) }},
	"another mode":              {ReasonUncommitted, "a", LandOptions{}, func(w *work, _ Tree) { w.must(os.Chmod(filepath.Join(w.repo, "a"), 0o755)) }},
	"an unknown file":           {ReasonUncommitted, "new file", LandOptions{}, func(w *work, _ Tree) { w.write("app/new file", "mine\n") }},
	"an ignored file": {ReasonUncommitted, "new file", LandOptions{}, func(w *work, _ Tree) {
		w.write("app/.git/info/exclude", "new file\n", "app/new file", "mine\n")
		w.must(os.Remove(filepath.Join(w.repo, ".git/info/exclude")))
		w.git("config", "core.excludesFile", "/dev/null")
		w.write("app/.git/info/exclude", "/new?file\n")
		w.git("-C", filepath.Join(filepath.Dir(w.repo), "app.worktrees", "fix-it"), "add", "-f", "new file")
	}},
	"a folder where a file lands": {ReasonUncommitted, "new file", LandOptions{}, func(w *work, _ Tree) { w.write("app/new file/mine", "mine\n") }},
	"a link where a file lands": {ReasonUncommitted, "new file", LandOptions{}, func(w *work, _ Tree) {
		w.must(os.Symlink("nowhere", filepath.Join(w.repo, "new file")))
	}},
	"no branch":    {ReasonDetached, "", LandOptions{}, func(w *work, _ Tree) { w.git("checkout", "-q", "--detach") }},
	"index.lock":   {ReasonLocked, "", LandOptions{}, func(w *work, _ Tree) { w.write("app/.git/index.lock", "") }},
	"no user.name": {ReasonNobody, "", LandOptions{}, func(w *work, _ Tree) { w.git("config", "--unset", "user.name") }},
	"no user.email, rebased": {ReasonNobody, "", LandOptions{}, func(w *work, _ Tree) {
		w.git("config", "--unset", "user.email")
	}},
	"a key that can't sign": {ReasonUnsigned, "", LandOptions{}, func(w *work, _ Tree) {
		w.git("config", "commit.gpgSign", "true")
		w.git("config", "gpg.program", "false")
	}},
	"a merge with conflicts": {ReasonUnderWay, "", LandOptions{}, func(w *work, _ Tree) {
		w.git("checkout", "-qb", "other")
		w.write("app/a", "other\n")
		w.git("commit", "-qam", "other")
		w.git("checkout", "-q", "main")
		w.write("app/a", "main\n")
		w.git("commit", "-qam", "main")
		_ = fails(w, w.repo, "merge", "other")
	}},
	"a rebase": {ReasonUnderWay, "", LandOptions{}, func(w *work, _ Tree) {
		w.git("checkout", "-qb", "other")
		w.write("app/a", "other\n")
		w.git("commit", "-qam", "other")
		w.git("checkout", "-q", "main")
		w.write("app/a", "main\n")
		w.git("commit", "-qam", "main")
		_ = fails(w, w.repo, "rebase", "other")
	}},
	"a merge of the agent's": {ReasonUnderWay, "", LandOptions{}, func(w *work, tree Tree) {
		w.write("app/a", "main\n")
		w.git("commit", "-qam", "main")
		_ = fails(w, tree.Path, "merge", "main")
	}},
	"another branch of the agent's": {ReasonStrayed, "", LandOptions{}, func(w *work, tree Tree) { w.gitIn(tree.Path, "checkout", "-qb", "mine") }},
	"no branch of the agent's":      {ReasonStrayed, "", LandOptions{}, func(w *work, tree Tree) { w.gitIn(tree.Path, "checkout", "-q", "--detach") }},
	"a branch without where it began": {ReasonElsewhere, "", LandOptions{}, func(w *work, _ Tree) {
		w.git("commit", "-q", "--amend", "-m", "amended")
	}},
	"a message for a rebase": {ReasonMessage, "", LandOptions{How: HowRebase, Message: "Mine"}, func(*work, Tree) {}},
}

// A refused landing changes nothing at all: no ref, no reflog, no index, no file.
func TestARefusedLandingChangesNothing(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			w := newWork(t)
			tree := w.loopTree("Fix it")
			c.do(w, tree)
			before := w.photo()
			refused := w.landingRefused(tree, c.o, c.why)
			var paths []string
			for _, p := range refused.Paths {
				paths = append(paths, p.Path)
				if p.Why == "" {
					t.Errorf("nobody says why %s is in the way", p.Path)
				}
			}
			if got := strings.Join(paths, " "); got != c.paths {
				t.Errorf("the paths are %q, want %q", got, c.paths)
			}
			dry := c.o
			dry.DryRun = true
			w.landingRefused(tree, dry, c.why)
			if after := w.photo(); after != before {
				t.Errorf("it changed something:\n%s\n%s", before, after)
			}
		})
	}
}

func fails(w *work, dir string, args ...string) error {
	g, err := openCheckout(dir)
	w.must(err)
	_, err = g.Run(context.Background(), nil, args...)
	if err == nil {
		w.Fatalf("git %s works", args)
	}
	return err
}
