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

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/survey"
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

// index is our index of the loop's folder: it finds what changed since the last snapshot, and takes that in.
type index struct {
	in     *archive
	below  below
	survey *survey.Survey // is told how far the first snapshot is; nil: nobody asks

	most     int64 // bytes that the loop keeps at most; 0: any number
	isFinal  bool  // nothing comes behind this snapshot: it takes what is deferred
	takesAll bool  // it needs all, as somebody undoes something

	printed printed         // files as found for this snapshot
	theirs  map[string]bool // files that this snapshot doesn't look at, as they are the user's

	aside    map[string]bool // files that were left out once; nil: not read yet
	deferred map[string]bool // files that the last look left out for want of room
	left     uint64          // sums up what the last look has left out
	blind    bool            // and some of it can't be summed up
	isQuick  bool            // one git looks at the folder fast enough
}

func indexOf(in *archive) *index { return &index{in: in, deferred: map[string]bool{}} }

// look asks git for the known files that changed, and for those that it doesn't know and doesn't ignore. Those that
// the ration is enough for are taken.
func (x *index) look(ctx context.Context, r ration) (candidates, error) {
	x.left, x.blind = 0, !x.in.book.Own && x.below.isShortOf(x.in.book)
	ask, began := x.in.git.LookTwice, time.Now()
	if x.isQuick {
		ask = x.in.git.LookOnce
	}
	changed, unknown, err := ask(ctx, x.in.book.scope())
	if err != nil {
		return candidates{}, err
	}
	x.isQuick = time.Since(began) < quickLook
	aside, err := x.readAside()
	if err != nil {
		return candidates{}, err
	}
	c := candidates{real: map[string]bool{}, aside: map[string]bool{}}
	if unknown, err = x.below.exchange(ctx, x, &c, unknown); err != nil {
		return candidates{}, err
	}
	wanted := x.deferred
	x.deferred = map[string]bool{}
	for i, path := range changed {
		if isDouble := i > 0 && changed[i-1] == path; !isDouble && (!x.isFinal || wanted[path]) { // an unmerged one is told twice
			x.choose(&c, path, true)
		}
	}
	for _, path := range unknown {
		switch {
		case strings.HasSuffix(path, "/"):
			c.leaveOut(x, path, ofItsOwn)
		case aside[path]:
			c.aside[path] = true
			x.noteLeft(path)
		case !x.isFinal:
			x.choose(&c, path, false)
		}
	}
	x.portion(&c, r)
	return c, x.writeAside(c.aside)
}

// quickLook is how long one git may look at the folder. Two at once are faster where it is large; and what was only
// touched costs the one anew at each look, while the two have it staged.
const quickLook = 300 * time.Millisecond

// choose takes a path unless it is nobody's work, too large, or no file.
func (x *index) choose(c *candidates, file string, isKnown bool) {
	if name := x.in.book.inFolder(file); x.in.book.skips(name) || x.theirs[name] {
		return
	}
	if !c.isReal(x.in.book.Top, file) {
		c.beyond = append(c.beyond, file)
		return
	}
	info, err := os.Lstat(filepath.Join(x.in.book.Top, filepath.FromSlash(file)))
	if err == nil && x.printed.are(info) {
		return
	}
	f := found{path: file, isKnown: isKnown}
	if err == nil && info.Mode().IsRegular() {
		f.size = info.Size()
	}
	if most := x.in.book.MaxFile; most > 0 && f.size > most {
		if !isKnown {
			c.aside[file] = true
		}
		c.leaveOut(x, file, format.Bytes(f.size))
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
func (c *candidates) leaveOut(x *index, path, why string) {
	x.noteLeft(path)
	c.notes = append(c.notes, fmt.Sprintf("%s (%s)", x.in.book.inFolder(path), why))
}

// unreadable says why git can't take a file; "" when it can.
func unreadable(full string) string {
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
