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
)

// writeTemp writes a new file next to the state file, readable by the user
// alone, and returns its path. Its name tells the process that has to remove
// it.
func (f *File) writeTemp(dir string, data []byte) (path string, err error) {
	file, err := os.CreateTemp(dir, tempPrefix+strconv.Itoa(os.Getpid())+".*"+tempSuffix)
	if err != nil {
		return "", fmt.Errorf("folder %s is not writable: %w", f.folder, err)
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

// replace puts temp, which holds data, in the place of path if that still
// holds old. It reports false when path holds something else. The error is
// fs.ErrNotExist when path is gone.
//
// The two files are exchanged: that fails when there is nothing to exchange
// with, and what comes out shows whether someone wrote since old was read. If
// so, the exchange is undone, as often as it takes to leave the newest text,
// in the file its writer has open, in the place.
func (f *File) replace(path, temp string, old, data []byte) (bool, error) {
	in, want := data, old
	for i := range maxUpdates {
		err := f.exchange(temp, path)
		if errors.Is(err, errors.ErrUnsupported) {
			return replaceChecked(path, temp, old)
		}
		if err != nil {
			return false, err
		}
		out, _, err := readRegular(temp)
		if err != nil { // whatever it is, it isn't ours: give it back
			return false, errors.Join(err, f.exchange(temp, path))
		}
		if bytes.Equal(out, want) {
			return i == 0, nil
		}
		in, want = out, in
	}
	return false, fmt.Errorf("%s is written all the time", path)
}

// replaceChecked is replace where files can't be exchanged: it looks, then
// renames. Someone who writes between the two loses; it is a moment.
func replaceChecked(path, temp string, old []byte) (bool, error) {
	now, _, err := readRegular(path)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(now, old) {
		return false, nil
	}
	if err := renameOver(temp, path); err != nil {
		return false, err
	}
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
