//go:build unix

package changes

import (
	"os"
	"os/exec"
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
