package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	decoder
	bad int // malformed lines
	err error

	current []byte // the line that is handed on
}

// decoder turns lines into what a Handler sees.
type decoder struct {
	h Handler
	// What is to be known of the lines before.
	format  format
	session stream.SessionStart
	dir     string          // in which its agent works
	run     stream.Usage    // of the iteration
	calls   map[string]bool // without a result; true: its message hasn't come yet
	message string          // of which text was told with its calls
	told    int             // how much of it, in bytes
}

// format is the kind of a session file.
type format string

const (
	formatPi     format = "pi"
	formatClaude format = "claude"
)

// NewReader opens a session file. Reading fails with a *FormatError for a file that is no session.
func NewReader(path string) (*Reader, error) {
	file, err := paths.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("opening the session: %w", err)
	}
	return &Reader{file: file, path: path, lines: newLineReader(file)}, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Err returns why Next found nothing more, nil for the end of the file.
func (r *Reader) Err() error { return r.err }

// Skipped is how many lines so far were malformed or too long.
func (r *Reader) Skipped() int { return r.bad + r.lines.skipped }

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
		line, err := r.lines.next()
		if err != nil {
			r.err = r.ended(err)
			return false
		}
		line = withoutBOM(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r.current = line
		if r.line(line, h) {
			return true
		}
		r.bad++
	}
	return false
}

// ended says why there is nothing more to read. An empty file is no session.
func (r *Reader) ended(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("reading the session: %w", err)
	case r.format == "":
		return &FormatError{Path: r.path}
	}
	return nil
}

// line hands one line on. It returns false for one that can't be read.
func (r *Reader) line(line []byte, h Handler) bool {
	if line[0] != '{' {
		return false
	}
	if r.format == "" {
		n := readNode(line)
		switch {
		case !n.ok:
			return false
		case n.kind == "session" && n.id != "":
			r.format = formatPi
		case n.claude:
			r.format = formatClaude
		default:
			r.err = &FormatError{Path: r.path}
			return false
		}
	}
	r.h = h
	if r.format == formatClaude {
		return r.claudeLine(line)
	}
	return r.piLine(line)
}
