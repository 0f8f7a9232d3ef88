package loopstate

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// count sets the iteration that begins in the line of the file that tells it, where the file is still what was looked
// at. Nobody believes that number, so a file where it can't be set stays as it is: one without such a line, one that
// its user saved meanwhile, one that can't be written.
//
// The file keeps its time. An editor that has it open, with changes that aren't saved, then sees no conflict: Neovim
// compares the time alone, VS Code the time and, where that is newer, the size.
func (l look) count(f *File, iteration int) {
	start, end, ok := l.doc.countAt()
	if !ok || iteration == l.doc.state.Iteration {
		return
	}
	number := strconv.Itoa(iteration)
	now, info, err := read(l.path)
	if err != nil || !bytes.Equal(now, l.data) {
		return
	}
	switch {
	case len(number) == end-start: // beside a save of its user's, which only a new file could lose
		err = writeAt(l.path, number, int64(start))
	case time.Since(info.ModTime()) < settleTime: // more of a save may come
		return
	default:
		var done bool
		if done, err = f.replace(l, slices.Replace(slices.Clone(l.data), start, end, []byte(number)...)); !done {
			return
		}
	}
	if err == nil {
		_ = os.Chtimes(l.path, time.Time{}, info.ModTime())
	}
}

// countAt is where the digits of the iteration stand, as offsets in the text; ok is false where they aren't in a line
// of their own key.
func (d *Document) countAt() (start, end int, ok bool) {
	at := len(d.opening)
	for _, b := range d.blocks {
		if b.key == iterationKey {
			l := b.line(at)
			value := b.text[l.ValueStart-at : l.ValueEnd-at]
			digits := strings.Trim(value, `"'`)
			start = l.ValueStart + strings.Index(value, digits)
			return start, start + len(digits), digits == strconv.Itoa(d.state.Iteration)
		}
		at += len(b.text)
	}
	return 0, 0, false
}

// writeAt writes over a part of a file.
func writeAt(path, text string, offset int64) error {
	file, err := regular.Open(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteAt([]byte(text), offset)
	return err
}
