package journal

import (
	"context"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/history"
)

// Sessions reads session files as if they were journals: those of loops whose journal isn't here, pi's
// own and claude's. The lines of the last few are kept.
type Sessions struct {
	mu   sync.Mutex
	last []*Session // the last used last
}

// maxSessions is how many files are kept as what they were made into.
const maxSessions = 4

// Session is one session file, made into the lines of a journal. It has what a Reader has. The same
// file makes the same lines each time, so cursors outlive the program, and stay when it grows.
type Session struct {
	path string

	mu      sync.Mutex
	made    *os.File    // the lines, in a file without a name; nil: none yet
	size    int64       // of them
	from    os.FileInfo // the session file then
	skipped int         // its lines that couldn't be read
	index   index
}

// Of returns the session file at path.
func (s *Sessions) Of(path string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.last, func(known *Session) bool { return known.path == path })
	switch {
	case at >= 0:
		known := s.last[at]
		s.last = append(slices.Delete(s.last, at, at+1), known)
		return known
	case len(s.last) == maxSessions: // its file goes when nobody reads it any more
		s.last = slices.Delete(s.last, 0, 1)
	}
	s.last = append(s.last, &Session{path: path})
	return s.last[len(s.last)-1]
}

// Story is the journal of a loop, or else its session file. Without an id the file says of which loop it is.
func (s *Sessions) Story(loopID, sessionFile string) Story {
	if loopID == "" {
		loopID = history.LoopOf(sessionFile)
	}
	if loopID != "" {
		if r, err := Open(loopID); err == nil {
			return r
		}
	}
	return s.Of(sessionFile)
}

// Read returns what comes behind a cursor. Complete is for the caller to say. The error is
// a *history.FormatError for a file that is no session.
func (s *Session) Read(ctx context.Context, after string, o Options) (Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.convert(ctx); err != nil {
		return Page{}, err
	}
	page, _, err := s.source().page(ctx, after, o)
	if after == "" || page.Reset {
		page.Skipped += s.skipped
	}
	return page, err
}

// Outline is what there is to know of the file. The error is that of Read.
func (s *Session) Outline(ctx context.Context) (Outline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.convert(ctx); err != nil {
		return Outline{}, err
	}
	return s.index.outline(ctx, s.source())
}

func (s *Session) source() source {
	h := fnv.New64a()
	h.Write([]byte(filepath.Base(s.path)))
	return source{ReaderAt: s.made, name: strconv.FormatUint(h.Sum64(), 36), end: s.size}
}

// convert makes lines of the file, unless it is still as it was then.
func (s *Session) convert(ctx context.Context) error {
	now, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if s.made != nil && os.SameFile(s.from, now) && now.Size() == s.from.Size() && now.ModTime().Equal(s.from.ModTime()) {
		return nil
	}
	s.made, s.size, s.from, s.index = nil, 0, now, index{}
	from, err := history.NewReader(s.path)
	if err != nil {
		return err
	}
	defer from.Close()
	made, err := unnamed()
	if err != nil {
		return err
	}
	c := converter{lines: newLines(), from: from}
	for isMore := true; isMore; {
		if isMore = c.next(); isMore && len(c.lines.out) < maxUnwritten {
			continue
		}
		n, err := made.WriteAt(c.lines.out, s.size)
		s.size += int64(n)
		if c.lines.out = c.lines.out[:0]; err == nil {
			err = ctx.Err()
		}
		if err != nil {
			made.Close()
			return err
		}
	}
	if err := from.Err(); err != nil {
		made.Close()
		return err
	}
	s.made, s.skipped = made, from.Skipped()
	return nil
}

// unnamed makes a file that goes when it is closed; where that can't be, it is somebody's who cleans up.
func unnamed() (*os.File, error) {
	dir, err := folder()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil { // reading needs no folder of ours
		dir = ""
	}
	made, err := os.CreateTemp(dir, ".session-")
	if err == nil {
		_ = os.Remove(made.Name())
	}
	return made, err
}
