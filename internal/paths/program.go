package paths

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// running is this program's file, which stays the one that runs when an update replaces it.
var running = sync.OnceValues(func() (*os.File, error) {
	if runtime.GOOS == "linux" {
		return regular.Open("/proc/self/exe", os.O_RDONLY, 0)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return regular.Open(self, os.O_RDONLY, 0)
})

// Program is where this program can be started: its own path or, where that is gone or another
// version, a copy in dir. On Windows a program that runs can't be replaced.
func Program(dir string) (path string, err error) {
	path, err = os.Executable()
	if err != nil || runtime.GOOS == "windows" {
		return path, err
	}
	file, err := running()
	if err != nil {
		return path, err
	}
	ours, err := file.Stat()
	if err != nil {
		return "", err
	}
	if now, err := os.Stat(path); err == nil && os.SameFile(ours, now) {
		return path, nil
	}
	path = filepath.Join(dir, filepath.Base(path))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	copied, err := os.CreateTemp(dir, ".program-")
	if err != nil {
		return "", err
	}
	defer os.Remove(copied.Name()) // fails for one that got its name
	_, err = io.Copy(copied, io.NewSectionReader(file, 0, ours.Size()))
	if err := errors.Join(err, copied.Chmod(0o755), copied.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(copied.Name(), path)
}
