package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// maxJournal is how many bytes a journal may have. One that has more loses the older half of
// its lines, but for those that say how iterations began and ended.
const maxJournal = 128 << 20

// placed is a journal's file, in which offsets count the lines that were dropped too: the
// cursors of what is kept stay as they are.
type placed struct {
	*os.File
	dropped int64
}

func place(file *os.File, h header) *placed { return &placed{file, h.dropped()} }

// ReadAt reads at an offset. What is dropped is at its end.
func (f *placed) ReadAt(p []byte, at int64) (int, error) {
	if at < f.dropped {
		return 0, io.EOF
	}
	return f.File.ReadAt(p, at-f.dropped)
}

// WriteAt writes at an offset.
func (f *placed) WriteAt(p []byte, at int64) (int, error) { return f.File.WriteAt(p, at-f.dropped) }

// Truncate ends the file at an offset.
func (f *placed) Truncate(at int64) error { return f.File.Truncate(at - f.dropped) }

// trim drops what is too much. Where that can't be done it is tried again later. The caller holds mu.
func (l *Log) trim() {
	limit := cmp.Or(l.limit, maxJournal)
	if l.onDisk-max(l.first, l.triedAt) < limit {
		return
	}
	cut, head, err := l.head(limit)
	if err == nil {
		err = l.restart(cut, head)
	}
	if l.triedAt = 0; err != nil {
		l.triedAt = l.onDisk
	}
}

// head returns where the kept half begins, with an iteration if one does there, and the lines
// that go before it.
func (l *Log) head(limit int64) (cut int64, head []byte, err error) {
	want := l.onDisk - limit/2
	kept, at := lines{encoder: wire.NewEncoder()}, l.first
	for from := (source{ReaderAt: l.file}).from(at, l.onDisk); ; {
		data, size, err := nextLine(from)
		if err != nil {
			return 0, nil, err
		}
		u, _, isIteration := iterationIn(data)
		if at >= want && (isIteration && u.Phase == wire.PhaseBegin || at >= want+limit/8) {
			break
		}
		if at += size; isIteration {
			kept.iteration = u.Iteration
			kept.out = append(kept.out, data...)
		}
	}
	if more := len(kept.out) - int(limit/8); more > 0 {
		kept.out = kept.out[more+bytes.IndexByte(kept.out[more:], '\n')+1:]
	}
	kept.add(wire.Note{SessionUpdate: wire.KindNote, Label: "journal", Text: fmt.Sprintf("earlier updates are no longer kept: a loop's journal has at most %d MB", limit>>20)})
	return at, kept.out, nil
}

// restart puts a file into the journal's place that has head, and what comes behind cut.
func (l *Log) restart(cut int64, head []byte) error {
	h, _, _ := readHeader(l.file.File)
	h.Version, h.First = version, cut-int64(len(head))
	to, err := os.CreateTemp(filepath.Dir(l.path), "trimmed-*"+suffix) // whose header comes last: without one, somebody prunes it
	if err != nil {
		return err
	}
	_, err = filelock.Try(to, true)
	if err == nil {
		_, err = to.WriteAt(head, int64(len(h.line())))
	}
	if err == nil {
		_, err = to.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = l.file.Seek(cut-l.file.dropped, io.SeekStart)
	}
	if err == nil {
		_, err = io.CopyN(to, l.file.File, l.onDisk-cut)
	}
	if err == nil {
		_, err = to.WriteAt(h.line(), 0)
	}
	if err == nil {
		err = os.Rename(to.Name(), l.path)
	}
	if err != nil {
		to.Close()
		_ = os.Remove(to.Name())
		return err
	}
	l.letGo()
	l.file, l.first = place(to, h), h.First
	return nil
}

// iterationIn is the begin or the end of an iteration, if a line is one.
func iterationIn(data []byte) (u wire.Iteration, update []byte, ok bool) {
	l, ok := parseLine(data)
	ok = ok && bytes.HasPrefix(l.update, iterationHead) && json.Unmarshal(l.update, &u) == nil
	return u, l.update, ok
}
