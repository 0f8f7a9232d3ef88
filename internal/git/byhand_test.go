package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// What is written by hand is what git writes, in either kind of repository.
func TestATreeByHandIsGits(t *testing.T) {
	program, err := Find()
	must.OK(t, err)
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			g := Git{Program: program, Dir: t.TempDir()}
			must.OK(t, must.Err(g.Run(t.Context(), nil, "init", "-q", "--template=", "--object-format="+format)))
			objects := filepath.Join(g.Dir, ".git", "objects")
			empty, err := g.Text(t.Context(), nil, "mktree")
			must.OK(t, err)
			var text strings.Builder
			for _, name := range []string{"9", "10", "last", "a.b", "a", "a-b", "a0"} {
				fmt.Fprintf(&text, "040000 tree %s\t%s\x00", empty, name)
			}
			want, err := g.Text(t.Context(), []byte(text.String()), "mktree", "-z")
			must.OK(t, err)
			file := filepath.Join(objects, want[:2], want[2:])
			info, err := os.Stat(file)
			must.OK(t, err)
			for _, isThere := range []bool{true, false} {
				if !isThere {
					must.OK(t, os.RemoveAll(filepath.Dir(file)))
				}
				if got, size, err := PutTree(objects, text.String()); got != want || size == 0 || err != nil {
					t.Errorf("%s of %d bytes, want %s; %v", got, size, want, err)
				}
				if now, err := os.Stat(file); err != nil || now.Mode() != info.Mode() {
					t.Errorf("%v, want %v", now, info)
				}
			}
			if out, err := g.Run(t.Context(), nil, "fsck", "--strict", "--no-dangling"); err != nil {
				t.Errorf("%s: %v", out, err)
			}
		})
	}
	for _, line := range []string{"100644 blob aa\tname", "040000 tree zz\tname", "040000 tree aabb\tname", "x"} {
		if _, _, err := PutTree(t.TempDir(), line+"\x00"); err == nil {
			t.Errorf("%q", line)
		}
	}
}

// Where the ref doesn't say what it said, or somebody works on it, git has to decide.
func TestARefByHand(t *testing.T) {
	g := repository(t)
	common, ref := filepath.Join(g.Dir, ".git"), "refs/ralph/x/files"
	one, err := g.Text(t.Context(), nil, "mktree")
	must.OK(t, err)
	two, _, err := PutTree(filepath.Join(common, "objects"), "040000 tree "+one+"\tname\x00")
	must.OK(t, err)
	said := func(want string) {
		t.Helper()
		if got, err := g.Text(t.Context(), nil, "rev-parse", ref); got != want || err != nil {
			t.Errorf("it says %s, want %s; %v", got, want, err)
		}
	}
	put := func(now, before string, want error) {
		t.Helper()
		if err := PutRef(common, ref, now, before); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(common, ref+".lock*")); want == nil && len(left) > 0 {
			t.Errorf("left is %q", left)
		}
	}
	put(two, one, ErrNotByHand) // it isn't there
	put(one, "", nil)
	said(one)
	put(two, "", ErrNotByHand)
	put(two, two, ErrNotByHand)
	put(two, one, nil)
	said(two)
	lock := filepath.Join(common, ref+".lock")
	must.OK(t, os.WriteFile(lock, nil, 0o600))
	put(one, two, ErrNotByHand)
	said(two)
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("a lock of somebody else's: %v", err)
	}
	must.OK(t, os.Remove(lock))
	must.OK(t, must.Err(g.Run(t.Context(), nil, "pack-refs", "--all")))
	put(one, two, ErrNotByHand)
	said(two)
	must.OK(t, os.Mkdir(filepath.Join(common, "reftable"), 0o700))
	put(one, two, ErrNotByHand)
}

// One git sees what two see.
func TestOneLookSeesWhatTwoSee(t *testing.T) {
	g := repository(t)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(g.Dir, name)
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	run := func(args ...string) {
		t.Helper()
		must.OK(t, must.Err(g.Run(t.Context(), nil, args...)))
	}
	for _, name := range []string{"changed", "gone", "assumed", "skipped", "linked/in", "foldered", ".gitignore"} {
		write(name, "*.log\n")
	}
	write("module/file", "1")
	for _, dir := range []string{"module", "within"} {
		g := g.In(filepath.Join(g.Dir, dir))
		must.OK(t, os.MkdirAll(g.Dir, 0o700))
		for _, args := range [][]string{{"init", "-q", "--template="}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
			must.OK(t, must.Err(g.Run(t.Context(), nil, args...)))
		}
	}
	run("-c", "advice.addEmbeddedRepo=false", "add", "module", "changed", "gone", "assumed", "skipped", "linked", "foldered", ".gitignore")
	run("update-index", "--assume-unchanged", "assumed")
	run("update-index", "--skip-worktree", "skipped")
	for _, name := range []string{"gone", "skipped", "linked", "foldered"} {
		must.OK(t, os.RemoveAll(filepath.Join(g.Dir, name)))
	}
	must.OK(t, os.Symlink(t.TempDir(), filepath.Join(g.Dir, "linked")))
	write("changed", "2")
	write("assumed", "2")
	write("foldered/in", "2")
	write("new", "2")
	write("new.log", "2")
	write("module/file", "2")
	changed, unknown, err := g.LookTwice(t.Context(), nil)
	must.OK(t, err)
	once, others, err := g.LookOnce(t.Context(), nil)
	once = slices.Compact(once)
	for _, list := range [][]string{changed, unknown, once, others} {
		slices.Sort(list)
	}
	if want := []string{"changed", "foldered", "gone", "linked/in"}; err != nil || !slices.Equal(changed, want) || !slices.Equal(once, want) {
		t.Errorf("two see %q, one %q, want %q; %v", changed, once, want, err)
	}
	if want := []string{"foldered/in", "linked", "new", "within/"}; !slices.Equal(unknown, want) || !slices.Equal(others, want) {
		t.Errorf("others: two see %q, one %q, want %q", unknown, others, want)
	}
}

// repository is one with a commit.
func repository(t *testing.T) Git {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	program, err := Find()
	must.OK(t, err)
	return Git{Program: program, Dir: dir}
}
