package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// The snapshots of a loop have a bound in bytes. Nothing stored is thrown away for it: in a repository of the user's
// only git can do that. Instead each snapshot has a ration, a part of the rest. So the first versions of a large file
// are stored, then none, and at the loop's end its last one, for which half of the rest is there. Small files fit
// into a ration as long as there is one: files are taken in the order of their sizes.
//
// A file that git doesn't know and that was left out once stays out. If the snapshot of a later iteration took it,
// that iteration would seem to have made it, and an undo would remove it.

const (
	// maxTotal bounds what one snapshot adds, in bytes: nobody means a loop to copy a disk.
	maxTotal = 2 << 30
	// maxUnknown is how large a file may be that the user's git doesn't track and that gets into its repository all
	// the same; maxAtStart bounds all those that are there before the loop.
	maxUnknown, maxAtStart = 10 << 20, 100 << 20
	// maxFirst is how long the files of the first snapshot are read for.
	maxFirst = 45 * time.Second
)

// ration is what one snapshot may add, in bytes.
type ration struct {
	fresh int64 // of files that git doesn't know
	again int64 // of new versions of others
	one   int64 // how large a file may be that git doesn't know; 0: as large as any
}

// unbounded is the ration of snapshots that must be complete: an undo would lose files otherwise.
var unbounded = ration{fresh: maxTotal, again: maxTotal}

// ration says what the next snapshot may add.
func (x *index) ration(last tip) ration {
	left := int64(math.MaxInt64)
	if x.most > 0 {
		left = max(x.most-last.spent-x.in.owed, 0)
	}
	r := ration{fresh: min(left/2, maxTotal), again: min(left/8, maxTotal)}
	if x.isFinal || last.list == "" {
		r.again = r.fresh
	}
	if !x.in.book.Own {
		if r.one = maxUnknown; last.list == "" {
			r.fresh = min(r.fresh, maxAtStart)
		}
	}
	if x.takesAll {
		r.fresh, r.again = unbounded.fresh, unbounded.again
	}
	return r
}

// found is a file that a look has found, and that may be taken.
type found struct {
	path    string
	size    int64
	isKnown bool // to git
}

// portion takes the files into a snapshot that its ration is enough for, the smallest first.
func (x *index) portion(c *candidates, r ration) {
	slices.SortFunc(c.found, func(a, b found) int { return cmp.Or(cmp.Compare(a.size, b.size), strings.Compare(a.path, b.path)) })
	var fresh, again int64
	var over []found
	for _, f := range c.found {
		switch {
		case f.isKnown && f.size > 0 && again+f.size > r.again:
			x.deferred[f.path] = true
			c.leaveOut(x, f.path, x.whyDeferred(f))
			continue
		case !f.isKnown && r.one > 0 && f.size > r.one && !c.tracked[f.path]:
			c.aside[f.path] = true
			c.leaveOut(x, f.path, format.Bytes(f.size)+", and git doesn't track it: add it, or have git ignore it")
			continue
		case !f.isKnown && f.size > 0 && fresh+f.size > r.fresh:
			over = append(over, f)
			continue
		case f.isKnown:
			again += f.size
		default:
			fresh += f.size
		}
		c.take(f)
	}
	x.setAllAside(c, over, fmt.Sprintf("beyond the first %s: have git ignore what is no work, or say more in changes.max_mb",
		format.Bytes(r.fresh)))
}

// whyDeferred says of a file that its new version isn't kept now. It says the same each time, as it is told once.
func (x *index) whyDeferred(f found) string {
	if f.size > maxTotal {
		return format.Bytes(f.size)
	}
	return fmt.Sprintf("kept now and then only, as the snapshots of a loop have %s at most: changes.max_mb", format.Bytes(x.most))
}

// take has a file be a part of the snapshot.
func (c *candidates) take(f found) {
	c.paths, c.sizes, c.bytes = append(c.paths, f.path), append(c.sizes, f.size), c.bytes+f.size
}

// setAllAside leaves out files for one reason, which is told once.
func (x *index) setAllAside(c *candidates, all []found, why string) {
	var bytes int64
	for _, f := range all {
		if bytes += f.size; !f.isKnown {
			c.aside[f.path] = true
		}
		x.noteLeft(f.path)
	}
	if len(all) > 0 {
		largest := all[len(all)-1]
		c.notes = append(c.notes, fmt.Sprintf("%s with %s, such as %s (%s)", format.Counted(len(all), "file"), format.Bytes(bytes),
			x.in.book.inFolder(largest.path), why))
	}
}

// inFolder is the path in the loop's folder of one in the work tree.
func (b book) inFolder(path string) string { return strings.TrimPrefix(path, b.prefix()) }

// asideName is the file that names what was left out once, with a NUL behind each.
const asideName = "aside"

// readAside is what was left out by the snapshots before.
func (x *index) readAside() (map[string]bool, error) {
	if x.aside == nil {
		data, err := regular.Read(filepath.Join(x.in.home, asideName), git.MaxIndex)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading what snapshots leave out: %w", err)
		}
		x.aside = map[string]bool{}
		for _, path := range git.Fields(data) {
			x.aside[path] = true
		}
	}
	return x.aside, nil
}

// writeAside takes down what this snapshot has left out. A file that is gone may come again as another one.
func (x *index) writeAside(now map[string]bool) error {
	isSame := len(now) == len(x.aside)
	var names []string
	for path := range now {
		isSame = isSame && x.aside[path]
		names = append(names, path)
	}
	if isSame {
		return nil
	}
	slices.Sort(names)
	if err := x.in.writeOwn(asideName, []byte(strings.Join(append(names, ""), "\x00"))); err != nil {
		return fmt.Errorf("writing down what snapshots leave out: %w", err)
	}
	x.aside = now
	return nil
}

// Finish takes the versions that were left out for want of room as iteration n's, as far as half of the rest is enough.
// Nobody else's changes are in it. A repository of our own goes where nothing has changed; a loop that goes on has a new one.
func (s *Snapshots) Finish(ctx context.Context, n int) (err error) {
	if len(s.files.deferred) > 0 {
		s.files.isFinal, s.seen = true, look{}
		_, err = s.record(ctx, snapshot{Kind: kindIteration, Number: n})
		s.files.isFinal = false
	}
	if _, isMarked := atWork(s.in.home).Get(); err != nil || !s.in.book.Own || isMarked {
		return err
	}
	release, err := s.in.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if last, err := s.in.tip(); err != nil || len(readList(last.listing).own) != 1 {
		return err
	}
	s.seen = look{}
	return errors.Join(os.RemoveAll(s.in.book.GitDir), os.Remove(filepath.Join(s.in.home, indexName)))
}

// anew begins anew where Finish has removed the repository.
func (s *archive) anew(last tip) (tip, error) {
	if _, err := os.Stat(s.book.GitDir); last.list == "" || !s.book.Own || !errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err := os.Remove(filepath.Join(s.home, tipName)); err != nil {
		return last, fmt.Errorf("beginning snapshots anew: %w", err)
	}
	os.Remove(filepath.Join(s.home, indexName)) // it may name what has gone with the repository
	return tip{}, s.useOwn()
}

// batch is how many files, and bytes of them, one git takes at most: behind each somebody may be told how far it is.
const batchFiles, batchBytes = 10_000, 64 << 20

// nextBatch is the first part of the files.
func nextBatch(sizes []int64) (n int, bytes int64) {
	for ; n < len(sizes) && n < batchFiles && (n == 0 || bytes+sizes[n] <= batchBytes); n++ {
		bytes += sizes[n]
	}
	return n, bytes
}
