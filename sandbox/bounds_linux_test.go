package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// starts begins a hundred processes, no more, and says how many there were. They end with it.
const starts = `i=0; while [ $i -lt 100 ]; do sleep 60 & i=$((i+1)); echo one; done`

func TestARunsProcessesAreBounded(t *testing.T) {
	walltest.Both(t, func(t *testing.T) {
		p := newPlace(t)
		for _, most := range []int{0, 40} {
			spec := sandbox.Spec{Mode: sandbox.Workspace, Processes: most}
			walls, err := sandbox.Raise(t.Context(), spec, p.folder)
			if refused := (*sandbox.Error)(nil); errors.As(err, &refused) && most > 0 && os.Geteuid() == 0 {
				if !strings.Contains(refused.Why, "control group") || refused.Fix == "" {
					t.Error(err)
				}
				continue // where root has no control groups, it is told
			}
			must.OK(t, err)
			out, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c", starts)
			walls.Close()
			if begun := strings.Count(out, "one\n"); (begun == 100) != (most == 0) || begun == 0 {
				t.Errorf("with at most %d: %d were begun: %v\n%s", most, begun, err, out)
			}
		}
	})
}

func TestARunsMemoryIsBounded(t *testing.T) {
	walltest.Both(t, func(t *testing.T) {
		p := newPlace(t)
		for _, most := range []int{0, 256} {
			walls := raise(t, sandbox.Spec{MemoryMB: most}, p.folder)
			out, err := p.run(t, walls, sandbox.Run{}, "/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=400M", "count=1")
			if (err == nil) != (most == 0) {
				t.Errorf("with at most %d MB: %v\n%s", most, err, out)
			}
		}
	})
}

// All that is kept in memory as files has one bound.
func TestFilesInMemoryAreBoundedTogether(t *testing.T) {
	sandbox.BoundTemp(t)
	p := newPlace(t)
	for _, dir := range []string{"/tmp", t.TempDir()} {
		temp, err := os.MkdirTemp(dir, "ralph-temp-")
		must.OK(t, err)
		t.Cleanup(func() { os.RemoveAll(temp) })
		out, _ := p.run(t, raise(t, sandbox.Spec{}, p.folder), sandbox.Run{TempDir: temp}, "/bin/sh", "-c",
			fmt.Sprintf(`for d in /tmp /run /dev/shm $TMPDIR; do head -c %d /dev/zero >$d/f 2>/dev/null; done; cat /tmp/f /run/f /dev/shm/f $TMPDIR/f | wc -c`, 2*sandbox.TestTempBytes))
		var bytes int
		if _, err := fmt.Sscan(out, &bytes); err != nil || bytes > sandbox.TestTempBytes || bytes < sandbox.TestTempBytes/2 {
			t.Errorf("%s: %s bytes of %d: %v", dir, out, sandbox.TestTempBytes, err)
		}
	}
}

func TestAControlGroupIsMadeWhereItMayBe(t *testing.T) {
	slice := func(t *testing.T, enabled string) (root, dir string) {
		root = t.TempDir()
		dir = filepath.Join(root, "user.slice", "app.slice")
		must.OK(t, os.MkdirAll(filepath.Join(dir, "me.scope"), 0o755))
		for name, text := range map[string]string{"cgroup.subtree_control": enabled, "cgroup.procs": "", "me.scope/cgroup.subtree_control": "", "me.scope/cgroup.procs": ""} {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		return root, dir
	}
	const said = "1:name=systemd:/x\n0::/user.slice/app.slice/me.scope\n"
	root, dir := slice(t, "cpu memory pids\n")
	dead := filepath.Join(dir, "ralph-lsp-999999999-1")
	must.OK(t, os.MkdirAll(filepath.Join(dead, "runs"), 0o755))
	group := sandbox.MakeGroup(root, said, 100, 1<<30)
	if filepath.Dir(group) != dir || !contains(filepath.Join(group, "pids.max"), "100") || !contains(filepath.Join(group, "memory.max"), "1073741824") {
		t.Errorf("it is %s", group)
	}
	if _, err := os.Stat(filepath.Join(group, "runs")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("what a killed process left is still there")
	}
	if second := sandbox.MakeGroup(root, said, 100, 1<<30); second == "" || second == group {
		t.Errorf("the second is %s", second)
	}
	root, _ = slice(t, "cpu\n")
	for _, said := range []string{said, "", "0::/../..\n", "4:memory:/x\n"} {
		if group := sandbox.MakeGroup(root, said, 100, 1<<30); group != "" {
			t.Errorf("%q: %s was made", said, group)
		}
	}
}

func TestSocketsThatListen(t *testing.T) {
	dir := t.TempDir()
	s := &scene{place: place{folder: dir}}
	s.listen(t, "unix", filepath.Join(dir, "a b"))
	must.Write(t, filepath.Join(dir, "file"), "x")
	const head = "Num       RefCount Protocol Flags    Type St Inode Path\n0: 00000002 00000000 00010000 0001 01 1 "
	for said, want := range map[string]string{
		head + dir + "/a b\n": "[" + dir + "/a b]", head + "./a b\n": "[" + dir + "/a b]", head + dir + "/file\n": "[]", head + "@" + dir + "/a b\n": "[]", head + "\n": "[]", "": "[]",
	} {
		if got := fmt.Sprint(sandbox.Sockets(said, dir)); got != want {
			t.Errorf("%q: got %s", said, got)
		}
	}
}
