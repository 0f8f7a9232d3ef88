package journal

import (
	"context"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/history"
)

// Sessions reads session files as if they were journals: those of loops whose journal is gone, pi's
// own and claude's. The lines of the last few are kept in memory.
type Sessions struct {
	mu   sync.Mutex
	last []*Session // the last used last
}

// maxSessions is how many files are kept as what they were made into.
const maxSessions = 4

// Session is one session file, made into the lines of a journal as far as it goes. It has
// what a Reader has. The same file makes the same lines each time, so cursors outlive the program.
type Session struct {
	path string

	mu        sync.Mutex
	made      *os.File // the lines, in a file without a name; nil: none yet
	size      int64    // of them
	from      os.FileInfo
	at        history.Cursor // how far it was read
	skipped   int            // lines that couldn't be read
	torn      int            // 1: the last line is cut off
	converter converter
	index     index
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

// Read returns what comes behind a cursor. Complete is for the caller to say. The error is
// a *history.FormatError for a file that is no session.
func (s *Session) Read(ctx context.Context, after string, o Options) (Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.follow(ctx); err != nil {
		return Page{}, err
	}
	page, _, err := s.source().page(ctx, after, o)
	if after == "" || page.Reset {
		page.Skipped += s.skipped + s.torn
	}
	return page, err
}

// Outline is what there is to know of the file. The error is that of Read.
func (s *Session) Outline(ctx context.Context) (Outline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.follow(ctx); err != nil {
		return Outline{}, err
	}
	return s.index.outline(ctx, s.source())
}

func (s *Session) source() source {
	h := fnv.New64a()
	h.Write([]byte(filepath.Base(s.path)))
	return source{ReaderAt: s.made, name: strconv.FormatUint(h.Sum64(), 36), end: s.size}
}

// follow makes lines of what is new in the file, of all of it where that isn't the one it was.
func (s *Session) follow(ctx context.Context) error {
	now, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if s.made == nil || !os.SameFile(s.from, now) || now.Size() < s.at.Offset {
		if err := s.begin(); err != nil {
			return err
		}
	}
	s.from = now
	r, err := history.NewReader(s.path, s.at)
	if err != nil {
		return err
	}
	defer r.Close()
	c := &s.converter
	for isMore := true; isMore; {
		if isMore = c.next(r); isMore && len(c.lines.out) < maxUnwritten {
			continue
		}
		n, err := s.made.WriteAt(c.lines.out, s.size)
		if err != nil {
			s.made = nil // from the beginning, the next time
			return err
		}
		s.size, s.at = s.size+int64(n), r.Cursor()
		c.lines.out = c.lines.out[:0]
		if err := ctx.Err(); err != nil { // who asks next goes on there
			return err
		}
	}
	if s.torn = 0; now.Size() > s.at.Offset {
		s.torn = 1
	}
	s.skipped += max(r.Stats().Skipped-s.torn, 0)
	return r.Err()
}

// begin forgets what was made and begins anew.
func (s *Session) begin() error {
	dir, err := folder()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	var made *os.File
	if err == nil {
		made, err = os.CreateTemp(dir, ".session-")
	}
	if err != nil { // reading needs no folder of ours
		made, err = os.CreateTemp("", ".session-")
	}
	if err != nil {
		return err
	}
	_ = os.Remove(made.Name()) // it goes when it is closed; where that can't be, it is somebody's who cleans up
	s.made, s.size, s.at, s.skipped, s.converter, s.index = made, 0, history.Cursor{}, 0, converter{lines: newLines()}, index{}
	return nil
}

// writeEarlier writes what a session file has before an offset: of a loop whose journal is
// gone. It returns where that ends. What can't be read is left out.
func writeEarlier(file io.WriterAt, at int64, session string, upTo int64) (int64, error) {
	r, err := history.NewReader(session, history.Cursor{})
	if err != nil {
		return at, nil
	}
	defer r.Close()
	c := converter{lines: newLines()}
	for r.Offset() < upTo && c.next(r) {
		if _, err := file.WriteAt(c.lines.out, at); err != nil {
			return at, err
		}
		at += int64(len(c.lines.out))
		c.lines.out = c.lines.out[:0]
	}
	return at, nil
}
