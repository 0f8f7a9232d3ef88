//go:build !windows

// Package filekinds puts what isn't a file with an end in the place of files, as an agent may. Tests of all that
// reads in an agent's folder walk the same table.
package filekinds

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Kind is something that may be in the place of a file.
type Kind struct {
	Name string
	put  func(path string) error
}

// All are the kinds that this user can make.
func All() []Kind {
	all := []Kind{
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o666) }},
		{"endless", func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"huge", sparse},
		{"a loop of links", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o777) }},
	}
	if os.Geteuid() == 0 {
		const zero = 1<<8 | 5
		all = append(all, Kind{"a device", func(path string) error { return unix.Mknod(path, unix.S_IFCHR|0o666, zero) }})
	}
	return all
}

// sparse makes a file of 40 GB that takes no space.
func sparse(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Truncate(40 << 30)
}

// Put puts it in the place of a path, whose folder is made where there is none.
func (k Kind) Put(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := k.put(path); err != nil {
		t.Fatal(err)
	}
}

const (
	hang     = time.Minute // what takes so long would take for ever
	maxBytes = 256 << 20
)

// Ends fails the test if do doesn't end, or takes much memory.
func Ends(t *testing.T, do func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(hang):
		stacks := make([]byte, 1<<20)
		t.Fatalf("it hangs:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > maxBytes {
		t.Errorf("it took %d MiB", took>>20)
	}
}
