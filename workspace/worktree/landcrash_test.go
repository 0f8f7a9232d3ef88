//go:build unix && !race

package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func init() { roles["land-tree"] = landUntilKilled }

// landUntilKilled lands a tree, as JSON.
func landUntilKilled(data string) error {
	var tree Tree
	err := json.Unmarshal([]byte(data), &tree)
	if err != nil {
		return err
	}
	if how := How(os.Getenv("LANDING_HOW")); how == "discard" {
		_, err = Discard(context.Background(), tree, nil, false)
	} else {
		_, err = Land(context.Background(), tree, LandOptions{How: how})
	}
	return err
}

// killer is a git that kills who called it, at one call of many: before the real one
// or after it.
const killer = `#!/bin/sh
read -r n <"$KILLER_COUNT"
n=$((n + 1))
echo $n >"$KILLER_COUNT"
[ "$n" = "$KILLER_AT" ] && [ "$KILLER_WHEN" = before ] && kill -9 $PPID && exit 1
"$KILLER_GIT" "$@"
code=$?
[ "$n" = "$KILLER_AT" ] && kill -9 $PPID
exit $code
`

// Whenever a landing or a discard is killed, nothing is lost, the user's work is as it
// was, and the same said again finishes it. A run takes every seventh moment, from a random one
// on, so each is tried before and after its git; with RALPH_TEST_KILLS it takes all.
func TestAKillAtAnyMoment(t *testing.T) {
	moments, first, step := 0, 1+rand.IntN(7), 7
	if os.Getenv("RALPH_TEST_KILLS") != "" {
		first, step = 1, 1
	}
	for _, how := range []string{"merge", "squash", "discard"} {
		w := newWork(t)
		program, err := exec.LookPath("git")
		w.must(err)
		w.write("bin/git", killer)
		w.must(os.Chmod(filepath.Join(w.dir, "bin/git"), 0o755))
		for at, killed := first, true; killed; at += step {
			if killed = w.killOnce(how, at, []string{"before", "after"}[at%2], program); killed {
				moments++
			}
			if t.Failed() {
				t.Fatalf("killed at call %d of a %s", at, how)
			}
		}
	}
	t.Logf("killed at %d moments", moments)
	if moments < 100/step {
		t.Errorf("killed at %d moments only", moments)
	}
}

// killOnce has a landing killed, and finishes it.
func (w *work) killOnce(how string, at int, when, program string) (killed bool) {
	name := fmt.Sprintf("%s %d %s", how, at, when)
	tree := w.add(Options{Title: name}).Tree
	w.writeTo(tree.Path, "sub/b", name+"\n")
	w.gitIn(tree.Path, "commit", "-qam", name)
	w.writeTo(tree.Path, "new", name+"\n")
	if how != "merge" || at%3 == 0 { // else it is a fast-forward
		w.git("commit", "-q", "--allow-empty", "-m", "meanwhile")
	}
	w.write("app/a", "mine "+name+"\n", "app/mine", name)
	data, err := json.Marshal(tree)
	w.must(err)
	count := filepath.Join(w.dir, "count")
	w.must(os.WriteFile(count, []byte("0\n"), 0o666))
	cmd := exec.Command(os.Args[0], "land-tree", string(data))
	cmd.Env = append(os.Environ(), "LANDING_HOW="+how, "KILLER_COUNT="+count, "KILLER_AT="+strconv.Itoa(at),
		"KILLER_WHEN="+when, "KILLER_GIT="+program, "PATH="+filepath.Join(w.dir, "bin")+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if killed = err != nil; killed && !strings.Contains(err.Error(), "killed") {
		w.Fatalf("%s: %v\n%s", name, err, out)
	}
	if how == "discard" {
		if _, err = Discard(context.Background(), tree, nil, false); errors.Is(err, ErrGone) {
			err = nil
		}
		if all := w.git("log", "--format=%s", "--glob=refs/ralph/discarded"); !strings.Contains(all, name) {
			w.Errorf("%s: the way back is gone", name)
		}
	} else {
		if _, err = Land(context.Background(), tree, LandOptions{How: How(how)}); errors.Is(err, ErrGone) {
			err = nil
		}
		w.landed("sub/b", name+"\n")
		w.landed("new", name+"\n")
	}
	if err != nil {
		w.Errorf("%s: %v", name, err)
	}
	w.landed("a", "mine "+name+"\n")
	w.landed("mine", name)
	if status := w.git("status", "--porcelain"); status != " M a\n?? mine\n" {
		w.Errorf("%s: git status says %q", name, status)
	}
	w.isClean(tree)
	return killed
}
