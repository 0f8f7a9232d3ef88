package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Reader replays a session file: ours, pi's of any version, or a transcript of claude's. It reads
// line by line and only as far as it has handed on, so the beginning of a long file is there at
// once. Lines that can't be read are skipped and counted.
type Reader struct {
	file  *os.File
	path  string
	lines *lineReader
	state state
	stats Stats
	err   error

	current []byte // the line that is handed on
}

// Stats say what was read so far.
type Stats struct {
	Lines   int // all but blank ones
	Skipped int // malformed or too long
}

// Cursor is a place in a session where a Reader can go on. The zero value is the beginning.
type Cursor struct {
	Offset int64 // of a line, in bytes
	State  state
}

// state is what is to be known of the lines before a cursor.
type state struct {
	Format  format
	Session stream.SessionStart
	Dir     string          // in which its agent works
	Run     stream.Usage    // of the iteration
	Calls   map[string]bool // without a result; true: its message hasn't come yet
	Message string          // of which text was told with its calls
	Told    int             // how much of it, in bytes
}

// format is the kind of a session file.
type format string

const (
	formatPi     format = "pi"
	formatClaude format = "claude"
)

// NewReader opens a session file at a cursor. The error is a *FormatError for
// a file that is no session.
func NewReader(path string, from Cursor) (*Reader, error) {
	file, err := paths.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("opening the session: %w", err)
	}
	if _, err := file.Seek(from.Offset, io.SeekStart); err != nil {
		file.Close()
		return nil, fmt.Errorf("opening the session: %w", err)
	}
	return &Reader{file: file, path: path, lines: newLineReader(file, from.Offset), state: from.State.clone()}, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Err returns why Next found nothing more, nil for the end of the file.
func (r *Reader) Err() error { return r.err }

// Stats returns what was read so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Lines += r.lines.skipped
	s.Skipped += r.lines.skipped
	return s
}

// Cursor returns the place after the last line that was handed on.
func (r *Reader) Cursor() Cursor { return Cursor{Offset: r.lines.offset, State: r.state.clone()} }

// Offset is that of Cursor.
func (r *Reader) Offset() int64 { return r.lines.offset }

func (s state) clone() state {
	s.Calls = maps.Clone(s.Calls)
	return s
}

// Time is when the line that is being handed on, or was last, was written; the zero time if the
// line doesn't say so. Ask before the next call of Next.
func (r *Reader) Time() time.Time {
	at, _ := time.Parse(time.RFC3339, readNode(r.current).time)
	return at
}

// Next hands the next line that can be read on to h. It returns false when
// there is none, see Err. A last line that is cut off isn't passed: it may be
// whole when somebody looks again.
func (r *Reader) Next(h Handler) bool {
	for r.err == nil {
		start := r.lines.offset
		line, err := r.lines.next()
		if err != nil {
			r.err = r.ended(err)
			return false
		}
		line = withoutBOM(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r.stats.Lines++
		r.current = line
		if r.line(line, h) {
			return true
		}
		r.stats.Skipped++
		if r.lines.torn {
			r.lines.offset = start
		}
	}
	return false
}

// ended says why there is nothing more to read. An empty file is no session.
func (r *Reader) ended(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("reading the session: %w", err)
	case r.state.Format == "":
		return &FormatError{Path: r.path}
	}
	return nil
}

// line hands one line on. It returns false for one that can't be read.
func (r *Reader) line(line []byte, h Handler) bool {
	if line[0] != '{' {
		return false
	}
	if r.state.Format == "" {
		n := readNode(line)
		switch {
		case !n.ok:
			return false
		case n.kind == "session" && n.id != "":
			r.state.Format = formatPi
		case n.claude:
			r.state.Format = formatClaude
		default:
			r.err = &FormatError{Path: r.path}
			return false
		}
	}
	d := decoder{state: &r.state, h: h}
	if r.state.Format == formatClaude {
		return d.claudeLine(line)
	}
	return d.piLine(line)
}
