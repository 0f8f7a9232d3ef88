package loopstate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// replace puts temp, which holds data, in the place of the file that was looked
// at, if that still holds what it held. It reports false when someone else has
// written, or is about to. The error is fs.ErrNotExist when the file is gone.
//
// While it does so it holds a lease on the file, where there are leases: nobody
// has it open for writing then, and who tries to waits and is noticed. What
// was replaced is then looked at for a while longer (linger): somebody may have
// been on the way to it, and where there are no leases may have it open.
func (f *File) replace(l look, temp string, data []byte) (bool, error) {
	if !replacesOpenFiles {
		out, err := replaceChecked(l.path, temp, l.data)
		return out == outOld, err
	}
	old, err := f.hold(l)
	if old == nil || err != nil {
		return false, err
	}
	ours, err := os.Open(temp)
	if err != nil {
		old.close()
		return false, err
	}
	out, err := f.swap(l, temp, old, ours)
	old.endLease()
	switch out {
	case outOld, outTouched:
		ours.Close()
		f.linger(old.File, l.data)
	case outOurs:
		old.close()
		f.linger(ours, data)
	default:
		old.close()
		ours.Close()
	}
	return out == outOld, err
}

// held is an open file, with a lease where there are leases.
type held struct {
	*os.File
	leased bool
}

// hold opens the file that was looked at. It is nil when somebody writes it, or
// when it is another one by now.
func (f *File) hold(l look) (*held, error) {
	file, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	h := &held{File: file}
	if !l.held {
		err := f.lease(file)
		if errors.Is(err, errBeingWritten) {
			h.close()
			return nil, nil
		}
		h.leased = err == nil
	}
	if same, err := hasContent(file, l.data); err != nil || !same {
		h.close()
		return nil, err
	}
	return h, nil
}

// isAwaited says whether somebody is known to be about to write the file.
func (h *held) isAwaited() bool { return h.leased && isAwaited(h.File) }

// endLease lets others write the file. Closing it wouldn't: a process that is
// just being forked has it too.
func (h *held) endLease() {
	if h.leased {
		endLease(h.File)
		h.leased = false
	}
}

func (h *held) close() {
	h.endLease()
	h.Close()
}

// came is what came out of the place in the end.
type came int

const (
	outNothing came = iota // nothing that anybody else could write
	outOld                 // the old file, as it should
	outTouched             // the old file, but someone put another into the place
	outOurs                // our own: someone writes the old one
)

// swap exchanges the two files: that fails when there is nothing to exchange
// with, and what comes out shows whether someone wrote since the look. If so,
// or if someone wants to, it is put back. When another file comes out then, it
// was put into the place after that, and so on: the newest is left there.
func (f *File) swap(l look, temp string, old *held, ours *os.File) (came, error) {
	theirs, err := old.Stat()
	if err != nil {
		return outNothing, err
	}
	mine, err := ours.Stat()
	if err != nil {
		return outNothing, err
	}
	in, want := mine, theirs
	for i := range maxUpdates {
		err := f.exchange(temp, l.path)
		if errors.Is(err, errors.ErrUnsupported) {
			return replaceChecked(l.path, temp, l.data)
		}
		if err != nil {
			return outNothing, err
		}
		out, err := os.Lstat(temp)
		switch {
		case err != nil:
			return outNothing, err
		case i == 0 && os.SameFile(out, theirs) && holds(temp, l.data) && !old.isAwaited():
			return outOld, nil
		case i > 0 && os.SameFile(out, theirs):
			return outTouched, nil
		case i > 0 && os.SameFile(out, mine):
			return outOurs, nil
		case i > 0 && os.SameFile(out, want) && out.ModTime().Equal(want.ModTime()):
			return outNothing, nil
		}
		in, want = out, in
	}
	return outNothing, fmt.Errorf("%s is written all the time", l.path)
}

// holds says whether a file has this content.
func holds(path string, data []byte) bool {
	info, err := checkRegular(path)
	if err != nil || info.Size() != int64(len(data)) {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	same, err := hasContent(file, data)
	return err == nil && same
}

// hasContent is holds for an open file. It reads a piece at a time: a prompt may
// be long, and is looked at often.
func hasContent(file io.ReaderAt, data []byte) (bool, error) {
	piece := make([]byte, min(len(data), 64<<10)+1) // one more: the file may be longer
	for at := 0; ; {
		n, err := file.ReadAt(piece, int64(at))
		if n > len(data)-at || !bytes.Equal(piece[:n], data[at:at+n]) {
			return false, nil
		}
		at += n
		if errors.Is(err, io.EOF) {
			return at == len(data), nil
		}
		if err != nil {
			return false, err
		}
	}
}

// replaceChecked is swap where files can't be exchanged: it looks, then
// renames. Someone who writes between the two loses; it is a moment.
func replaceChecked(path, temp string, old []byte) (came, error) {
	if _, err := os.Stat(path); err != nil {
		return outNothing, err
	}
	if !holds(path, old) {
		return outNothing, nil
	}
	if err := renameOver(temp, path); err != nil {
		return outNothing, err
	}
	return outOld, nil
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
