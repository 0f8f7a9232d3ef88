//go:build unix

package changes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// readOnly lets nobody write to a folder of f until the test ends. Root, whom
// modes don't keep out, mounts it on itself.
func (f *folder) readOnly(name string) {
	f.t.Helper()
	dir := f.path(name)
	do := func(args ...string) error { return exec.Command(args[0], args[1:]...).Run() }
	if os.Getuid() != 0 {
		f.must(do("chmod", "-R", "a-w", dir))
		f.t.Cleanup(func() { _ = do("chmod", "-R", "u+w", dir) })
		return
	}
	if err := do("mount", "--bind", dir, dir); err != nil {
		f.t.Skipf("root can't mount here: %v", err)
	}
	f.t.Cleanup(func() { _ = do("umount", dir) })
	f.must(do("mount", "-o", "remount,bind,ro", dir))
}

// small makes the folder of f a disk of its own with room for little.
func (f *folder) small() {
	f.t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		f.t.Skip("only root on Linux can make a small disk")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "small", f.dir).CombinedOutput(); err != nil {
		f.t.Skipf("root can't mount here: %s", out)
	}
	f.t.Cleanup(func() { _ = exec.Command("umount", "-l", f.dir).Run() })
}

// fill leaves no room on the disk of f.
func (f *folder) fill() (free func()) {
	f.t.Helper()
	ballast, err := os.Create(f.path(".git/ballast"))
	f.must(err)
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	ballast.Close()
	return func() { f.must(os.Remove(ballast.Name())) }
}

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	const full = "o space left on device"
	f := bare(t)
	f.small()
	f.git("init", "-q", "-b", "main", "--template=")
	f.write("a", ten, "b", "1\n")
	f.git("add", "-A")
	f.git("-c", "user.name=ann", "-c", "user.email=ann@localhost", "commit", "-q", "-m", "first")
	f.loop()
	f.after(1, "a", "one\n"+ten[2:], "new", "1\n")

	// Nothing can be written back.
	free := f.fill()
	done, err := f.Undo(context.Background(), Undo{Iteration: 1, Paths: []string{"a"}})
	if err != nil || len(done.Paths) > 0 || len(done.Refused) != 1 || !strings.Contains(done.Refused[0].Reason, full) {
		t.Errorf("%+v, %v", done, err)
	}
	f.has("a", "one\n"+ten[2:], "new", "1\n", "b", "1\n")
	free()
	f.undo(Undo{Iteration: 1, Paths: []string{"a"}}, []string{"a"})
	f.redo([]string{"a"})

	// Nothing can be kept.
	f.write("a", "two\n"+ten[2:], "b", strings.Repeat("2\n", 1000))
	free = f.fill()
	taken, err := f.After(context.Background(), 2)
	if told := fmt.Sprint(taken.Notes, err); !strings.Contains(told, full) {
		t.Error(told)
	}
	if done, err := f.Undo(context.Background(), Undo{Since: 1, Paths: []string{"a", "b"}}); err == nil && len(done.Paths) > 0 {
		t.Errorf("%+v", done)
	}
	f.has("a", "two\n"+ten[2:], "b", strings.Repeat("2\n", 1000))
	free()
	f.after(2)
	f.changed(Range{0, Latest}, "modified a +1 -1", "modified b +1000 -1", "added new +1 -0")
	left, _ := filepath.Glob(f.path(".ralph-*"))
	if left = append(left, f.locks()...); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if out := f.git("fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Error(out)
	}
}
