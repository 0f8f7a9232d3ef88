package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

const (
	// maxSize bounds what is read into memory.
	maxSize = 64 << 20
	// settleTime is how long an editor may pause in the middle of a save: a
	// file that is cut off, or gone for a moment, is only believed to be so
	// when it stayed as it is for so long.
	settleTime = time.Second
	// runTime is the same where half a prompt would be run, and wholeTime is for how
	// long that is waited for at most: saves may follow each other.
	runTime   = 2 * time.Second
	wholeTime = time.Minute
	// endlessTime is the same for what is of no use.
	endlessTime = 2 * wholeTime
	// settlePoll is how often a file that is being saved is looked at.
	settlePoll = 10 * time.Millisecond
)

// look is what was in the file at a moment.
type look struct {
	path string // without links
	data []byte
	doc  *Document
}

// purpose is what a look at the file is for.
type purpose int

const (
	toShow purpose = iota
	toUpdate
	toRun // an update that takes the prompt with it
	toLeave
	toTransfer
)

// patience is how long a reader has waited for a save to end.
type patience struct {
	purpose purpose

	began time.Time
	last  fileState // as it was seen last
	since time.Time // when it became so
	pause time.Duration
}

// fileState is what a change of a file's content hardly leaves alone.
type fileState struct {
	exists   bool
	size     int64
	modified int64 // nanoseconds since 1970
}

func stateOf(info fs.FileInfo) fileState {
	if info == nil {
		return fileState{}
	}
	return fileState{exists: true, size: info.Size(), modified: info.ModTime().UnixNano()}
}

// Stamp is what hardly stays where it changes how the loop in a folder stands.
type Stamp struct {
	folder bool // it is there
	state  fileState
}

// StampOf is that of a folder. ok is false where a process drives the loop, or has left a lock: that has to be looked at.
func StampOf(folder string) (s Stamp, ok bool) {
	info, err := os.Stat(folder)
	s.folder = err == nil && info.IsDir()
	if info, err = os.Stat(filepath.Join(folder, Name)); err == nil {
		s.state = stateOf(info)
	}
	_, err = os.Lstat(filepath.Join(folder, lockName))
	return s, errors.Is(err, fs.ErrNotExist)
}

// quiet returns for how long a file has been as it is now. A file's own time is
// only asked when it is seen first, and may then be of another clock.
func (p *patience) quiet(now fileState) time.Duration {
	switch first := p.began.IsZero(); {
	case first:
		p.began = time.Now()
		p.last, p.since = now, p.began
		if changed := time.Unix(0, now.modified); now.exists && changed.Before(p.began) {
			p.since = changed
		}
	case now != p.last:
		p.last, p.since = now, time.Now()
	}
	return time.Since(p.since)
}

// sleep waits a little, longer each time.
func (p *patience) sleep() {
	p.pause = min(max(2*p.pause, time.Millisecond), settlePoll)
	time.Sleep(p.pause)
}

// parser remembers the last text of the file, and what it says.
type parser struct{ last atomic.Pointer[parsed] }

type parsed struct {
	text string
	doc  *Document
}

// maxParsed is from how many bytes on nothing is remembered: memory counts for more then.
const maxParsed = 64 << 10

// parse is Parse, which each iteration wants twice of what is mostly the same text. The document is
// the caller's.
func (p *parser) parse(data []byte) (*Document, error) {
	last := p.last.Load()
	if last == nil || last.text != string(data) {
		doc, err := Parse(data)
		if err != nil || len(data) > maxParsed {
			return doc, err
		}
		last = &parsed{string(data), doc}
		p.last.Store(last)
	}
	doc := *last.doc
	doc.blocks = slices.Clone(doc.blocks)
	return &doc, nil
}

// look reads the file once. wait means that it is being saved, as far as one
// can know, and has to be looked at again.
func (f *File) look(p *patience) (l look, wait bool, err error) {
	path, err := f.realPath(Name)
	if err != nil {
		return look{}, false, err
	}
	data, info, err := read(path)
	l = look{path: path, data: data}
	if err == nil {
		l.doc, err = f.parser.parse(data)
	}
	quiet := p.quiet(stateOf(info))
	if rest, most := f.rest(l, p.purpose, err); quiet < rest && time.Since(p.began) < most {
		return look{}, true, nil
	}
	if err == nil {
		f.seen.Store(true)
		return l, false, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		f.seen.Store(false)
	}
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		syntax.File = f.Path()
		return look{}, false, syntax
	}
	return look{}, false, fmt.Errorf("reading the state file: %w", err)
}

// rest is how long the file must have been as it is to be believed, and for how
// long at most that is waited for.
func (f *File) rest(l look, purpose purpose, err error) (rest, most time.Duration) {
	isSyntax := errors.As(err, new(*SyntaxError))
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.seen.Load(): // some editors move the old file away first
		return settleTime, endlessTime
	case isSyntax && purpose == toRun:
		return runTime, endlessTime
	case isSyntax:
		return settleTime, endlessTime
	case err == nil && purpose == toRun && !f.continues(l.doc.state.Prompt):
		return runTime, wholeTime
	}
	return 0, 0
}

// continues says whether a prompt is the known one, with or without something
// behind it. Any other may be a half of one: there are editors that open the
// file anew for each part. The caller holds updating.
func (f *File) continues(prompt string) bool {
	if f.prompt == nil {
		return f.IsLeft
	}
	return strings.HasPrefix(prompt, *f.prompt)
}

// read reads a file, but nothing that could block who does so or fill the memory.
func read(path string) (data []byte, info fs.FileInfo, err error) {
	file, err := regular.Open(path, os.O_RDONLY, 0)
	switch {
	case errors.As(err, &regular.KindError{}):
		return nil, nil, notRegular(path)
	case err != nil:
		return nil, nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil {
		data, err = regular.All(file, maxSize)
	}
	if errors.As(err, &regular.SizeError{}) {
		err = fmt.Errorf("%s has more than %d MiB; put long texts into files of their own", path, maxSize>>20)
	}
	return data, info, err
}
