package history

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"ralph-lsp/stream"
)

// Places goes through a session file up to an offset, or to its end for a
// negative one, much faster than a Reader: of each whole line it says at which
// offset it begins, and reads only those that may tell where an iteration
// begins or ends. h gets these records right behind at. It returns the offset
// behind the last line. The error is a *FormatError for a file that is no session.
func Places(ctx context.Context, path string, upTo int64, at func(offset int64), h Handler) (end int64, err error) {
	r, err := NewReader(path, Cursor{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if !r.Next(silence{}) || r.state.Format != formatPi { // of claude's there is nothing to tell
		return 0, r.Err()
	}
	at(0)
	for n := 0; ; n++ {
		offset := r.lines.offset
		line, err := r.lines.next()
		switch {
		case errors.Is(err, io.EOF), err == nil && (r.lines.torn || upTo >= 0 && offset >= upTo):
			return offset, nil
		case err != nil:
			return offset, err
		case n%4096 == 0 && ctx.Err() != nil:
			return offset, ctx.Err()
		}
		at(offset)
		if tellsIteration(line) {
			d := decoder{state: &state{Format: formatPi}, h: h}
			d.piLine(line)
		}
	}
}

// tellsIteration guesses what a line is from its beginning.
func tellsIteration(line []byte) bool {
	const head = 512 // bytes: what is before the event's name has that much room
	return bytes.Contains(line[:min(head, len(line))], []byte(`"chatEventType":"iteration_`))
}

// AtIteration returns the cursor at a line that begins an iteration. What is
// before it needs not be known. ok is false for any other offset.
func AtIteration(path string, offset int64) (c Cursor, ok bool) {
	file, err := OpenRegular(path, os.O_RDONLY)
	if err != nil || offset < 1 {
		return c, false
	}
	defer file.Close()
	if _, err := file.Seek(offset-1, io.SeekStart); err != nil {
		return c, false
	}
	lines := newLineReader(file, offset-1)
	if before, err := lines.next(); err != nil || len(before) > 0 || lines.offset != offset {
		return c, false // it is in the middle of a line
	}
	line, err := lines.next()
	if err != nil || !tellsIteration(line) {
		return c, false
	}
	start := started{}
	d := decoder{state: &state{Format: formatPi}, h: &start}
	d.piLine(line)
	return Cursor{Offset: offset, State: state{Format: formatPi}}, start.is
}

// silence hears nothing.
type silence struct{}

func (silence) Handle(stream.Event) {}
func (silence) HandleRecord(Record) {}

// started looks for the begin of an iteration.
type started struct {
	silence
	is bool
}

func (s *started) HandleRecord(r Record) { _, s.is = r.(IterationStart) }
