package history

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/lines"
)

// Writer mirrors a loop into a session file. The agent's entries wait for Flush; the loop's own don't. Only whole
// entries are written, so that a program that dies leaves whole lines and at most one that is cut off. The file is
// made with the first entry, and brought to the disk when an iteration ends; in between, a loss of power can lose
// more than a crash does.
//
// A Writer is for one goroutine at a time. A nil one writes nothing.
type Writer struct {
	path   string
	header header
	file   *os.File // nil until the first entry
	torn   bool     // the file ends in mid-line
	parent string   // id of the last entry
	err    error
	sync   sync.WaitGroup // the flush to disk under way
	synced time.Time      // when the last one of an iteration's end began
	held   bytes.Buffer   // entries that wait for Flush
	behind string         // id of the last entry before them

	session   stream.SessionStart
	modelTold string       // the last model_change
	run       stream.Usage // of the iteration, as a reader counts it
	due       stream.Usage // the same as the agent reports it, where that isn't written yet
	inTurn    bool         // a turn is under way, whose end will say what it has used
	turn      turn
	running   []stream.ToolCall // without a result yet
}

// NewWriter prepares a new session file for a loop in cwd. It returns nil, and
// no error, when sessions are switched off.
func NewWriter(o Options, cwd string) (*Writer, error) {
	if o.Off {
		return nil, nil
	}
	cwd = paths.Real(cwd)
	dir, err := o.dir(cwd)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	id := newSessionID(now)
	name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(now)) + "_" + id + sessionSuffix
	return &Writer{
		path:   filepath.Join(dir, name),
		header: header{Type: "session", Version: version, ID: id, Timestamp: stamp(now), CWD: cwd},
	}, nil
}

// ErrElsewhere says that a session isn't of a folder: it was moved, or another machine has it.
var ErrElsewhere = errors.New("it isn't in the folder of sessions")

// ContinueWriter prepares to append to the session file at path, which must be one for cwd in the folder of sessions.
// A last line that was cut off is dropped.
//
// Errors: ErrElsewhere, the errors of NewWriter, and the system's.
func ContinueWriter(o Options, cwd, path string) (*Writer, error) {
	if o.Off {
		return nil, nil
	}
	w, err := NewWriter(o, cwd)
	if err != nil {
		return nil, err
	}
	if err := w.takeUp(path); err != nil {
		return nil, fmt.Errorf("continuing the session %s: %w", path, err)
	}
	return w, nil
}

// takeUp opens a session file whose name came from a file that anybody may have
// written: it has to be a session of this folder.
func (w *Writer) takeUp(path string) error {
	if filepath.Dir(paths.Real(path)) != paths.Real(filepath.Dir(w.path)) {
		return ErrElsewhere
	}
	f, err := openSession(path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	if err := w.readBack(f); err != nil {
		f.Close()
		return err
	}
	w.path, w.file = path, f
	return nil
}

// readBack learns the header and the last entry of a session file.
func (w *Writer) readBack(f *os.File) error {
	in := lines.NewReader(io.LimitReader(f, maxSession), maxLine)
	first := true
	for {
		line, isCut, err := in.Next()
		switch {
		case err == io.EOF && first:
			return &FormatError{f.Name()}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		e := readNode(line)
		switch w.torn = isCut; {
		case isCut && !e.ok && !first:
			w.torn = false
			if err := f.Truncate(in.Whole); err != nil {
				return err
			}
		case first && e.kind != "session" && e.ok:
			return &FormatError{f.Name()}
		case first && e.ok:
			if e.cwd != w.header.CWD {
				return fmt.Errorf("it belongs to the folder %s", e.cwd)
			}
			w.header.ID, first = e.id, false
		case e.ok && e.id != "":
			w.parent = e.id
		}
	}
}

// Path is the session file's.
func (w *Writer) Path() string {
	if w == nil {
		return ""
	}
	return w.path
}

// Err returns why something could not be written, nil if all was. Later writes are tried all the
// same: a full disk may have room again.
func (w *Writer) Err() error {
	if w == nil {
		return nil
	}
	return w.err
}

// HandleRecord writes what the loop did, after all that waits.
func (w *Writer) HandleRecord(r Record) {
	if w == nil {
		return
	}
	isEnd := false // of an iteration
	switch r := r.(type) {
	case Input:
		w.append("custom_message", &inputEntry{CustomType: InputType, Content: r.Text, Display: r.Kind != InputCallback,
			Details: inputDetails{r.Kind}})
	case LoopStart:
		r.Title = Title(r.Title)
		w.event(eventLoopStart, r)
		if !r.Continued {
			w.append("session_info", &nameEntry{Name: r.Title})
		}
	case LoopEnd:
		w.event(eventLoopEnd, r)
	case IterationStart:
		w.endRun(false) // a reviewer's
		w.session = stream.SessionStart{}
		w.event(eventIterationStart, r)
	case IterationEnd:
		isEnd = true
		w.endRun(r.Outcome == "cancelled" || r.Outcome == "timeout")
		w.event(eventIterationEnd, r)
	}
	if w.Flush(); isEnd && time.Since(w.synced) > time.Second { // the record has the loop's counts
		w.synced = time.Now()
		w.toDisk()
	}
}

// Close writes what is left and closes the file.
func (w *Writer) Close() error {
	w.Flush()
	if w == nil || w.file == nil {
		return nil
	}
	w.endRun(false)
	w.Flush()
	w.toDisk()
	w.sync.Wait()
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("closing the session file: %w", err)
	}
	return nil
}

// toDisk brings the file to the disk, behind the loop's back: it may take long.
func (w *Writer) toDisk() {
	w.sync.Wait()
	if file := w.file; file != nil {
		w.sync.Go(func() { _ = file.Sync() }) // where it can't be done, the system does it some time later
	}
}

func (w *Writer) event(kind string, payload any) {
	w.append("custom", &customEntry{CustomType: EventType, Data: eventData{kind, payload}})
}

// append adds an entry as a child of the last one.
func (w *Writer) append(kind string, e entry) {
	n := e.common()
	n.Type, n.ID, n.Timestamp = kind, newEntryID(), stamp(time.Now())
	if w.parent != "" {
		n.ParentID = &w.parent
	}
	if w.held.Len() == 0 {
		w.behind = w.parent
	}
	if err := encodeLine(&w.held, e); err != nil {
		w.fail(err)
		return
	}
	if w.parent = n.ID; w.held.Len() > maxHeld {
		w.Flush()
	}
}

// maxHeld is how many bytes of entries are held back at most, but for the last.
const maxHeld = 64 << 10

func (w *Writer) fail(err error) { w.err = fmt.Errorf("writing the session file: %w", err) }

// Flush writes the entries that wait, with one write, after the header if the file is new. If a
// line couldn't be written as a whole, the next entry begins a new line and follows the last whole
// one.
func (w *Writer) Flush() {
	if w == nil || w.held.Len() == 0 {
		return
	}
	data := w.held.Bytes()
	if w.torn {
		data = slices.Insert(data, 0, '\n')
	}
	n, err := w.write(data)
	if n > 0 {
		w.torn = data[n-1] != '\n'
	}
	if err != nil {
		w.fail(err)
		w.parent = w.behind
		for line := range bytes.Lines(data[:n]) {
			if e := readNode(line); e.ok && e.id != "" && bytes.HasSuffix(line, []byte("\n")) {
				w.parent = e.id
			}
		}
	}
	if w.held.Reset(); w.held.Cap() > maxPiece { // seldom
		w.held = bytes.Buffer{}
	}
}

func (w *Writer) write(data []byte) (n int, err error) {
	if w.file == nil {
		if err := w.create(); err != nil {
			return 0, err
		}
	}
	return w.file.Write(data)
}

func (w *Writer) create() error {
	head, err := marshalLine(w.header)
	if err != nil {
		return err
	}
	if err := paths.WriteOwn(w.path, head, false); err != nil { // so that no session is ever without its header
		return err
	}
	w.file, err = regular.Open(w.path, os.O_WRONLY|os.O_APPEND, 0)
	return err
}

// marshalLine encodes a value as one line, with <, > and & as they are.
func marshalLine(v any) ([]byte, error) {
	var line bytes.Buffer
	err := encodeLine(&line, v)
	return line.Bytes(), err
}

func encodeLine(line *bytes.Buffer, v any) error {
	enc := json.NewEncoder(line)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// newEntryID returns an id that no entry has. pi's have eight hexadecimal digits,
// and are compared with all others in memory; with twice as many nobody has to
// remember them.
func newEntryID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// newSessionID returns a UUID of version 7: they sort by time.
func newSessionID(now time.Time) string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
