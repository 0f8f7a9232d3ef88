package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Summary is a session as a list shows it.
type Summary struct {
	Path      string
	ID        string
	Folder    string // where the agent worked
	StartedAt time.Time
	Loop      *LoopStart // nil: no loop's
	// End is how the loop ended; nil while it runs, and when nobody was left to
	// say it.
	End *LoopEnd
	// Iteration is the last that the loop began, where End is nil and it can be found.
	Iteration int
	// GoneOn says that somebody has written behind the loop's end, as pi does for who goes on there.
	GoneOn bool
}

const (
	headSize = 4 << 10 // bytes in which a session's beginning is looked for at first
	maxHead  = 1 << 20
	tailSize = 4 << 10 // bytes in which a loop's end is looked for at first
	maxTail  = 1 << 20
	listers  = 4 // files that are read at once
)

// List returns the loops of a working directory, newest first: at most limit, if
// that is positive. A folder that doesn't exist has none. Files that are no loop's
// sessions, and links, are left out.
func List(o Options, cwd string, limit int) ([]Summary, error) {
	return ListAll(o, []string{cwd}, limit)
}

// ListAll is List of several working directories together.
func ListAll(o Options, cwds []string, limit int) ([]Summary, error) {
	wanted := map[string]bool{}
	dirs := map[string]bool{} // one may have the sessions of all
	for _, cwd := range cwds {
		cwd = paths.Real(cwd)
		dir, err := o.dir(cwd)
		if err != nil {
			return nil, err
		}
		wanted[cwd], dirs[dir] = true, true
	}
	sessions := []Summary{}
	for dir := range dirs {
		found, err := listIn(dir, limit, func(s Summary) bool { return wanted[s.Folder] && s.Loop != nil })
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, found...)
	}
	if len(dirs) > 1 {
		slices.SortStableFunc(sessions, func(a, b Summary) int { return b.StartedAt.Compare(a.StartedAt) })
	}
	if limit > 0 && len(sessions) > limit {
		sessions = sessions[:limit]
	}
	return sessions, nil
}

// listIn returns the sessions in a folder that are wanted, newest first.
func listIn(dir string, limit int, wanted func(Summary) bool) ([]Summary, error) {
	names, err := sessionNames(dir)
	if err != nil {
		return nil, err
	}
	var sessions []Summary
	for len(names) > 0 {
		batch := len(names)
		if limit > 0 {
			batch = min(batch, limit-len(sessions))
		}
		for _, s := range summarizeAll(dir, names[:batch]) {
			if s.ID != "" && wanted(s) {
				sessions = append(sessions, s)
			}
		}
		names = names[batch:]
		if len(sessions) == limit {
			break
		}
	}
	return sessions, nil
}

// sessionNames lists a folder's files that may be sessions, the newest first:
// their names begin with the time.
func sessionNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing the sessions: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), sessionSuffix) {
			names = append(names, e.Name())
		}
	}
	slices.Reverse(names) // ReadDir sorts them
	return names, nil
}

// summarizeAll looks into files, several at once, and returns what it finds in their order.
func summarizeAll(dir string, names []string) []Summary {
	found := make([]Summary, len(names))
	var wg sync.WaitGroup
	for first := range min(listers, len(names)) {
		wg.Go(func() {
			buf := make([]byte, headSize)
			for i := first; i < len(names); i += listers {
				found[i] = summarize(filepath.Join(dir, names[i]), &buf)
			}
		})
	}
	wg.Wait()
	return found
}

// summarize reads what a list shows of a session; one without an ID is none.
// buf is for reading.
func summarize(path string, buf *[]byte) (s Summary) {
	file, err := paths.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return s
	}
	defer file.Close()
	head, whole := readHead(file, buf)
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	n := readNode(first)
	if !n.ok || n.kind != "session" {
		return s
	}
	s.Path, s.ID, s.Folder = path, n.id, n.cwd
	s.StartedAt, _ = time.Parse(time.RFC3339, n.time) // the zero time for what is none
	second, _, _ := bytes.Cut(rest, []byte{'\n'})
	in := entryOf(second)
	if in.Data.ChatEventType != eventLoopStart || json.Unmarshal(in.Data.Payload, &s.Loop) != nil {
		s.Loop = nil
		return s
	}
	if whole {
		s.findEnd(rest)
		return s
	}
	s.readEnd(file, buf)
	return s
}

// LoopOf is the id of the loop that a session file is of. The error is a *FormatError for a file that is no loop's.
func LoopOf(path string) (id string, err error) {
	file, err := paths.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return "", fmt.Errorf("opening the session: %w", err)
	}
	file.Close()
	buf := make([]byte, headSize)
	if s := summarize(path, &buf); s.Loop != nil {
		return s.Loop.LoopID, nil
	}
	return "", &FormatError{Path: path}
}

// readHead reads the first two lines, or all of a short file.
func readHead(file *os.File, buf *[]byte) (head []byte, whole bool) {
	for {
		n, err := file.ReadAt(*buf, 0)
		head = (*buf)[:n]
		if errors.Is(err, io.EOF) {
			return head, true
		}
		if err != nil || bytes.Count(head, []byte{'\n'}) >= 2 || n >= maxHead {
			return head, false
		}
		*buf = make([]byte, 2*len(*buf))
	}
}

// readEnd looks for the loop's end from the end of the file on.
func (s *Summary) readEnd(file *os.File, buf *[]byte) {
	info, err := file.Stat()
	if err != nil {
		return
	}
	for size := int64(tailSize); ; size *= 8 {
		size = min(size, info.Size(), maxTail)
		if int64(len(*buf)) < size {
			*buf = make([]byte, size)
		}
		tail := (*buf)[:size]
		if _, err := file.ReadAt(tail, info.Size()-size); err != nil {
			return
		}
		if s.findEnd(tail) || size == info.Size() || size == maxTail {
			return
		}
	}
}

// findEnd looks for the last thing that a loop did in a part of its session.
func (s *Summary) findEnd(part []byte) bool {
	mark := []byte(markEvent)
	for end := len(part); ; {
		i := bytes.LastIndex(part[:end], mark)
		if i < 0 {
			return false
		}
		start := bytes.LastIndexByte(part[:i], '\n') + 1
		line, _, _ := bytes.Cut(part[start:], []byte{'\n'})
		in := entryOf(line)
		switch {
		case in.Data.ChatEventType == eventLoopEnd && json.Unmarshal(in.Data.Payload, &s.End) == nil:
			s.GoneOn = len(bytes.TrimSpace(part[start+len(line):])) > 0
			return true
		case in.Data.ChatEventType == eventIterationStart || in.Data.ChatEventType == eventIterationEnd:
			return payloadOf(in.Data.Payload, func(it IterationStart) { s.Iteration = it.Iteration })
		}
		end = start
	}
}

// entryOf reads a line, as far as it is an entry of ours.
func entryOf(line []byte) (e ownEntry) {
	if bytes.Contains(line, []byte(markEvent)) {
		_ = json.Unmarshal(line, &e) // what isn't one is nothing
	}
	return e
}
