package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// A fleet may have loops of several repositories: one that can't be fetched keeps nobody else's work from landing.
func TestWhatCanBeFetchedLands(t *testing.T) {
	y := newYard(t)
	repo := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=U", "-c", "user.email=u@x"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "U")
	git("config", "user.email", "u@x")
	git("commit", "-q", "--allow-empty", "-m", "base")
	base := git("rev-parse", "HEAD")
	git("switch", "-q", "-c", "work")
	writeFile(t, filepath.Join(repo, "made"), "by a loop\n")
	git("add", "made")
	git("commit", "-q", "-m", "work")
	git("update-ref", "refs/ralph-fleet/work", "work")
	checkpoint := filepath.Join(t.TempDir(), "bundle")
	git("bundle", "create", "-q", checkpoint, "refs/ralph-fleet/work", "^"+base)
	git("switch", "-q", "main")
	git("branch", "-qD", "work")
	git("update-ref", "-d", "refs/ralph-fleet/work")

	y.put("f1", "far")
	y.put("f2", "near")
	for _, id := range []string{"f1", "f2"} {
		y.change(id, func(r *fleet.Record) {
			r.Phase, r.StopReason, r.Committed, r.Labels = fleet.Ended, string(loop.StopPromise), 1, map[string]string{"when": "nightly"}
			if id == "f2" {
				r.Base = base
			}
		})
	}
	bundle, err := os.Open(checkpoint)
	y.must(err)
	defer bundle.Close()
	y.must(y.bus.PutFile(t.Context(), fleet.Record{Task: fleet.Task{ID: "f2"}}.CheckpointFile(1), bundle))

	const refused = "isn't the repository of far"
	code, out := y.run("land", "--into", repo, "far", "near")
	if code == 0 || !strings.Contains(out, refused) || git("rev-parse", "HEAD") != base {
		t.Errorf("of named loops: %d, %s", code, out)
	}
	for _, tt := range []struct {
		args []string
		says string
		head string
	}{
		{[]string{"--all-done", "--describe"}, "- `made` +1 -0", "base"},
		{[]string{"--all-done", "--dry-run"}, "would land 1 commit of ralph/near on main", "base"},
		{[]string{"--label", "when=nightly"}, "landed 1 commit of ralph/near on main", "near"},
	} {
		code, out := y.run(append([]string{"land", "--into", repo}, tt.args...)...)
		if code == 0 || !strings.Contains(out, tt.says) || !strings.Contains(out, refused) {
			t.Errorf("%v: %d, %s", tt.args, code, out)
		}
		if tt.args[len(tt.args)-1] != "--describe" && !strings.Contains(out, "of 2 loops, 1 can't land") {
			t.Errorf("%v doesn't count: %s", tt.args, out)
		}
		if head := git("log", "-1", "--format=%s"); (head == "base") != (tt.head == "base") {
			t.Errorf("after %v main is at %s", tt.args, head)
		}
	}

	y.change("f2", func(r *fleet.Record) { r.Text = "it went on" })
	git("switch", "-q", "ralph/near")
	head := git("rev-parse", "HEAD")
	code, out = y.run("land", "--into", repo, "--all-done")
	if code == 0 || !strings.Contains(out, repo+" is on the loop's own branch ralph/near; git -C ") || git("rev-parse", "HEAD") != head {
		t.Errorf("on the branch of a loop that went on: %d, %s", code, out)
	}
	if code, out = y.run("land", "--into", repo, "--describe", "near"); code != 0 || !strings.Contains(out, "it went on") {
		t.Errorf("its description there: %d, %s", code, out)
	}
}
