package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
)

// candidates are the paths that may have changed since the index was written.
type candidates struct {
	found  []found  // that may be taken
	paths  []string // that are taken: in the work tree, as git has them
	sizes  []int64  // of those
	aside  map[string]bool
	beyond []string // those that only a link leads to by now: they are gone
	notes  []string // of what is left out
	again  bool     // some of that failed
	bytes  int64

	real    map[string]bool // folders that no link leads to
	tracked map[string]bool // by a repository below the folder
}

const (
	gitlink = "160000"
	symlink = "120000"
)

// candidates asks git for the known files that changed, and for those that it doesn't know and doesn't ignore. Those that
// the ration is enough for are taken.
func (s *shots) candidates(ctx context.Context, r ration) (candidates, error) {
	s.left, s.blind = 0, !s.book.Own && s.below.isShortOf(s.book)
	look, began := s.git.LookTwice, time.Now()
	if s.isQuick {
		look = s.git.LookOnce
	}
	changed, unknown, err := look(ctx, s.scope())
	if err != nil {
		return candidates{}, err
	}
	s.isQuick = time.Since(began) < quickLook
	aside, err := s.readAside()
	if err != nil {
		return candidates{}, err
	}
	c := candidates{real: map[string]bool{}, aside: map[string]bool{}}
	if unknown, err = s.below.exchange(ctx, s, &c, unknown); err != nil {
		return candidates{}, err
	}
	wanted := s.deferred
	s.deferred = map[string]bool{}
	for i, path := range changed {
		if isDouble := i > 0 && changed[i-1] == path; !isDouble && (!s.isFinal || wanted[path]) { // an unmerged one is told twice
			s.choose(&c, path, true)
		}
	}
	for _, path := range unknown {
		switch {
		case strings.HasSuffix(path, "/"):
			c.leaveOut(s, path, ofItsOwn)
		case aside[path]:
			c.aside[path] = true
			s.noteLeft(path)
		case !s.isFinal:
			s.choose(&c, path, false)
		}
	}
	s.portion(&c, r)
	return c, s.writeAside(c.aside)
}

// quickLook is how long one git may look at the folder. Two at once are faster where it is large; and what was only
// touched costs the one anew at each look, while the two have it staged.
const quickLook = 300 * time.Millisecond

// choose takes a path unless it is nobody's work, too large, or no file.
func (s *shots) choose(c *candidates, file string, isKnown bool) {
	if name := s.book.inFolder(file); s.book.skips(name) || s.theirs[name] {
		return
	}
	if !c.isReal(s.book.Top, file) {
		c.beyond = append(c.beyond, file)
		return
	}
	info, err := os.Lstat(filepath.Join(s.book.Top, filepath.FromSlash(file)))
	if err == nil && s.printed.are(info) {
		return
	}
	f := found{path: file, isKnown: isKnown}
	if err == nil && info.Mode().IsRegular() {
		f.size = info.Size()
	}
	if most := s.book.MaxFile; most > 0 && f.size > most {
		if !isKnown {
			c.aside[file] = true
		}
		c.leaveOut(s, file, tell.Bytes(f.size))
		return
	}
	c.found = append(c.found, f)
}

// isReal says whether no link leads to the folder of a path.
func (c *candidates) isReal(top, name string) bool {
	dir := path.Dir(name)
	if dir == "." {
		return true
	}
	real, known := c.real[dir]
	if !known {
		info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(dir)))
		real = c.isReal(top, dir) && (err != nil || info.Mode()&fs.ModeSymlink == 0)
		c.real[dir] = real
	}
	return real
}

// leaveOut notes a path that isn't taken.
func (c *candidates) leaveOut(s *shots, path, why string) {
	s.noteLeft(path)
	c.notes = append(c.notes, fmt.Sprintf("%s (%s)", s.book.inFolder(path), why))
}

// unreadable says why git can't take a file; "" when it can.
func (s *shots) unreadable(path string) string {
	full := filepath.Join(s.book.Top, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (info.Mode()&fs.ModeSymlink != 0 || info.IsDir()):
		return ""
	case err == nil && !info.Mode().IsRegular():
		return "no file"
	case err == nil:
		var file *os.File
		if file, err = regular.Open(full, os.O_RDONLY, 0); err == nil {
			file.Close()
			return ""
		}
	}
	return "not readable"
}
