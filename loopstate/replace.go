package loopstate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ralph-lsp/internal/paths"
)

// writeTemp writes a new file next to the state file, readable by the user
// alone, and returns its path. Its name tells the process that has to remove
// it.
func (f *File) writeTemp(dir string, data []byte) (path string, err error) {
	file, err := os.CreateTemp(dir, tempPrefix+strconv.Itoa(os.Getpid())+".*"+tempSuffix)
	if err != nil {
		return "", f.notWritable(err)
	}
	if err := writeSynced(file, data); err != nil {
		os.Remove(file.Name())
		return "", fmt.Errorf("writing the state file: %w", err)
	}
	return file.Name(), nil
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := writeSynced(file, data); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// writeSynced fills a file, brings it to the disk, and closes it.
func writeSynced(file *os.File, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncDir brings a folder's entries to the disk. Where that can't be done, the
// file is whole all the same, only its name may be that of before.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// replace writes the file anew if it still has what was looked at; else done is false. That isn't
// one step, but nobody writes here while an agent works, or at once after somebody else.
func (f *File) replace(l look, data []byte) (done bool, err error) {
	f.ignore()
	temp, err := f.writeTemp(filepath.Dir(l.path), data)
	if err != nil {
		return false, err
	}
	defer os.Remove(temp)
	if now, _, err := read(l.path); err != nil || !bytes.Equal(now, l.data) {
		return false, nil // the next look tells
	}
	if err := paths.Rename(temp, l.path); err != nil {
		return false, fmt.Errorf("updating the state file: %w", err)
	}
	syncDir(filepath.Dir(l.path))
	return true, nil
}

// sweepTemps removes what processes left behind that were killed while they
// wrote.
func sweepTemps(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), tempPrefix)
		if !ok || !strings.HasSuffix(rest, tempSuffix) {
			continue
		}
		pid, _, _ := strings.Cut(rest, ".")
		n, err := strconv.Atoi(pid)
		if err != nil {
			continue
		}
		if _, err := ProcessStart(n); errors.Is(err, fs.ErrNotExist) {
			os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}
