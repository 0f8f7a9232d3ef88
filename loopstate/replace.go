package loopstate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// replace writes the file anew if it still has what was looked at; else done is false. That isn't
// one step, but nobody writes here while an agent works, or at once after somebody else.
func (f *File) replace(l look, data []byte) (done bool, err error) {
	if now, _, err := read(l.path); err != nil || !bytes.Equal(now, l.data) {
		return false, nil // the next look tells
	}
	return true, f.put(l.path, data)
}

// put exchanges the file, for its user alone.
func (f *File) put(path string, data []byte) error {
	f.ignore()
	if err := paths.WriteOwn(path, data, true); err != nil {
		return f.notWritable(fmt.Errorf("writing the state file: %w", err))
	}
	syncDir(filepath.Dir(path))
	return nil
}

// syncDir brings a folder's entries to the disk. If that fails, the file is whole all the same, but its name may be
// the old one.
func syncDir(dir string) {
	if d, err := regular.OpenDir(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// sweepTemps removes what processes left behind that were killed while they wrote.
func sweepTemps(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, it := range entries {
		isTemp := strings.HasPrefix(it.Name(), tempPrefix) && strings.HasSuffix(it.Name(), paths.TempSuffix)
		if info, err := it.Info(); isTemp && err == nil && time.Since(info.ModTime()) > time.Minute {
			os.Remove(filepath.Join(dir, it.Name()))
		}
	}
}
