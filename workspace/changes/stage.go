package changes

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// update takes the files into the index, those that are read until then; zero: all. One that git can't take is left
// out.
func (x *index) update(ctx context.Context, c *candidates, until time.Time) error {
	if err := x.in.git.Unstage(ctx, c.beyond); err != nil {
		return err
	}
	x.survey.Begin(len(c.paths), c.bytes)
	paths, sizes := c.paths, c.sizes
	c.paths = nil
	for len(paths) > 0 {
		n, bytes := nextBatch(sizes)
		isBulk := len(paths) >= many || bytes >= heavy // the rest of many goes as they do
		staging, stop := ctx, context.CancelFunc(func() {})
		if !until.IsZero() {
			staging, stop = context.WithDeadline(ctx, until)
		}
		err := x.stage(staging, c, paths[:n], isBulk)
		isLate := staging.Err() != nil && ctx.Err() == nil
		stop()
		if isLate {
			x.giveUp(c, paths, sizes)
			return x.writeAside(c.aside)
		}
		if err != nil {
			return err
		}
		x.survey.Add(n, bytes)
		paths, sizes = paths[n:], sizes[n:]
	}
	return nil
}

// giveUp leaves out what there was no time for.
func (x *index) giveUp(c *candidates, paths []string, sizes []int64) {
	var rest []found
	for i, path := range paths {
		rest = append(rest, found{path: path, size: sizes[i]})
	}
	x.setAllAside(c, rest, fmt.Sprintf("reading the folder took longer than %v, so undo has only what comes later: have git "+
		"ignore what is no work", maxFirst))
}

// stage takes files into the index, and leaves out those that git can't take.
func (x *index) stage(ctx context.Context, c *candidates, paths []string, isBulk bool) error {
	err := x.add(ctx, paths, isBulk)
	if err == nil {
		c.paths = append(c.paths, paths...)
	}
	if err == nil || ctx.Err() != nil || git.IsStuck(err) {
		return err
	}
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		why := unreadable(filepath.Join(x.in.book.Top, filepath.FromSlash(path)))
		if why != "" {
			c.leaveOut(x, path, why)
		}
		return why != ""
	})
	c.paths = append(c.paths, paths...)
	return x.sift(ctx, c, paths, len(c.notes)+maxSifted, isBulk)
}

const (
	many  = 1000    // files whose objects are put into one file: to make so many takes longest
	heavy = 8 << 20 // bytes of files: less isn't worth a look whether it can be compressed
)

func (x *index) add(ctx context.Context, paths []string, isBulk bool) error {
	if !isBulk || len(paths) == 0 {
		return x.in.git.Stage(ctx, paths)
	}
	bytes, err := x.in.incoming().Stage(ctx, x.in.git, paths)
	x.in.owed += bytes
	return err
}

// objects is where the repository has its objects, incoming where many new ones are made.
func (b book) objects() string { return filepath.Join(git.CommonOf(b.GitDir), "objects") }

func (s *archive) incoming() git.Incoming {
	sum := sha256.Sum256([]byte(s.home))
	return git.Incoming{Objects: s.book.objects(), Name: fmt.Sprintf("ralph-%x", sum[:6])}
}

// loose is how many bytes the objects of files have that are in files of their own: those that a snapshot has just added,
// but for what came in packs.
func (b book) loose(files []File) (bytes int64) {
	for _, f := range files {
		if oid := f.version.oid; len(oid) > 2 {
			if info, err := os.Lstat(filepath.Join(b.objects(), oid[:2], oid[2:])); err == nil {
				bytes += info.Size()
			}
		}
	}
	return bytes
}

// maxSifted is how many files with a filter that fails, say, are looked for.
const maxSifted = 20

// sift takes the paths into the index but for those that git can't take alone.
func (x *index) sift(ctx context.Context, c *candidates, paths []string, most int, isBulk bool) error {
	err := x.add(ctx, paths, isBulk)
	if err == nil || ctx.Err() != nil || git.IsStuck(err) || len(c.notes) >= most {
		return err
	}
	if len(paths) == 1 {
		c.leaveOut(x, paths[0], err.Error())
		c.again = true
		return nil
	}
	half := len(paths) / 2
	if err := x.sift(ctx, c, paths[:half], most, isBulk); err != nil {
		return err
	}
	return x.sift(ctx, c, paths[half:], most, isBulk)
}
