package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Of what a worker keeps: how many checkouts of loops that it doesn't run now, how much of the
// disk stays free, in MiB, and how often it looks.
const (
	DefaultKeep    = 32
	DefaultMinFree = 1 << 10
	tidying        = time.Minute
)

// orphans is how long the git programs of a worker that was killed may still use its folder.
const orphans = 15 * time.Second

// hold keeps the folder for this worker, once no git of one before it is at work there,
// and removes what that was making.
func (c *checkouts) hold(ctx context.Context) (release func(), err error) {
	within, cancel := context.WithTimeout(ctx, orphans)
	defer cancel()
	lock, err := filelock.Hold(within, filepath.Join(c.dir, "lock"))
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s is another worker's: each needs a folder of its own (--dir): %w", c.dir, err)
	}
	if err != nil {
		return nil, err
	}
	c.lock = lock
	for _, left := range []string{"download-*", "log-*", filepath.Join("repos", "*.new")} {
		found, _ := filepath.Glob(filepath.Join(c.dir, left))
		for _, path := range found {
			os.RemoveAll(path)
		}
	}
	return func() { lock.Close() }, nil // a git that is still at work has it, too
}

// use keeps the checkout of a loop from being removed.
func (c *checkouts) use(id string) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[id]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.used[id]--; c.used[id] == 0 {
			delete(c.used, id)
		}
	}
}

// remove removes the checkout of a loop that has ended.
func (c *checkouts) remove(id string) error {
	if left := c.left.Take(id); left != nil {
		left.End()
	}
	c.made.Delete(id)
	return paths.RemoveAll(filepath.Join(c.dir, "loops", id))
}

// drop removes the checkout of a loop that isn't run now.
func (c *checkouts) drop(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used[id] > 0 {
		return nil
	}
	return c.remove(id)
}

// kept is a folder that may go.
type kept struct {
	path   string
	remove func() error
}

// idle are the checkouts of loops that aren't run now, or the copies of repositories: least
// recently used first.
func (c *checkouts) idle(kind string) (found []kept) {
	for _, f := range slices.Backward(paths.NewestFolders(filepath.Join(c.dir, kind))) {
		k := kept{path: f.Path, remove: func() error { return c.dropMirror(f.Path) }}
		if kind == "loops" {
			k.remove = func() error { return c.drop(f.Name()) }
		}
		c.mu.Lock()
		isUsed := c.used[f.Name()] > 0
		c.mu.Unlock()
		if !isUsed {
			found = append(found, k)
		}
	}
	return found
}

// dropMirror removes a copy of a repository, unless it is used now. Checkouts don't need it.
func (c *checkouts) dropMirror(dir string) error {
	lock := c.lockOf(dir)
	if !lock.TryLock() {
		return nil
	}
	defer lock.Unlock()
	return os.RemoveAll(dir)
}

// tidy removes the checkouts of loops that have ended or went on elsewhere, and those
// and copies of repositories beyond what is kept, least recently used first.
func (c *checkouts) tidy(ctx context.Context, worker string) error {
	var problems []error
	for _, k := range c.idle("loops") {
		id := filepath.Base(k.path)
		r, _, err := c.bus.Get(ctx, id)
		has, _ := regular.Read(filepath.Join(k.path, attemptName), regular.Short)
		isOurs := err == nil && r.Phase != Ended && r.Worker == worker && string(has) == strconv.Itoa(r.Committed)
		if isOurs || err != nil && !errors.Is(err, ErrNotFound) {
			continue
		}
		problems = append(problems, k.remove())
	}
	for _, kind := range []string{"loops", "repos"} {
		for found := c.idle(kind); len(found) > c.keep; found = found[1:] {
			problems = append(problems, found[0].remove())
		}
	}
	_, err := c.room()
	return errors.Join(append(problems, err)...)
}

// hasRoom says whether enough of the disk is free; where nobody can tell, it is.
func (c *checkouts) hasRoom() bool {
	free, err := c.free(c.dir)
	return err != nil || uint64(free) >= c.minFree
}

// room makes room on the disk, and says how much there is: nothing that is used is removed.
func (c *checkouts) room() (isEnough bool, err error) {
	if c.hasRoom() {
		return true, nil
	}
	var problems []error
	for _, k := range append(c.idle("loops"), c.idle("repos")...) {
		problems = append(problems, k.remove())
		if isEnough = c.hasRoom(); isEnough {
			break
		}
	}
	return isEnough, errors.Join(problems...)
}

// tidy removes what the worker doesn't need any more, now and then.
func (w *Worker) tidy(ctx context.Context) {
	for ; ctx.Err() == nil; Pause(ctx, tidying) {
		if err := w.checkouts.tidy(ctx, w.Name); err != nil {
			w.Log.Warn("something old stays", "error", err)
		}
	}
}

// awaitRoom waits until there is room on the disk for what a loop does.
func (w *Worker) awaitRoom(ctx context.Context) {
	for told := false; ctx.Err() == nil; told = true {
		isEnough, err := w.checkouts.room()
		if isEnough {
			return
		}
		if !told {
			w.Log.Warn("the disk is full: no loop is taken until there is room", "dir", w.Dir, "wanted", w.MinFree, "error", err)
		}
		Pause(ctx, time.Second)
	}
}
