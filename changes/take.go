package changes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
)

// Names in a loop's own folder.
const (
	indexName = "index"
	tipName   = "tip"   // the last snapshot; its time is that of the loop's last change
	begunName = "begun" // there while the index may have more than the last snapshot
	worksName = "works" // what an undo has under its hands
	agentName = "agent" // may be written to while an agent may change the folder: to give it a content takes ten times as long

	exportName, mergeName = "export-", "merge-" // beginnings of what it needs for a moment
)

// Summary says how much changed.
type Summary struct {
	Files   int `json:"files"`
	Added   int `json:"added"` // lines
	Removed int `json:"removed"`
}

// Taken is what a snapshot came to.
type Taken struct {
	Summary          // since the last snapshot
	State            // of the folder now
	Notes   []string // what isn't in it and why: "big.bin (5.1 GB)"

	again bool // something failed that may not fail another time
}

// tip is the last snapshot: the tree that lists them all, its own, and what the first one holds.
type tip struct{ list, tree, listing string }

// text is how it is written down.
func (t tip) text() []byte { return []byte(t.list + " " + t.tree + " 3\n" + t.listing) }

// Start makes a snapshot of the folder as it is before iteration n. What changed
// since the one before is nobody's iteration's.
func (s *shots) Start(ctx context.Context) (Taken, error) {
	return s.record(ctx, snapshot{Kind: kindBetween})
}

// Begin says that an agent begins to work in the folder, until After. A snapshot that
// somebody else makes before that has what a run did which was cut off.
func (s *shots) Begin() error {
	agent := filepath.Join(s.home, agentName)
	if os.Chmod(agent, 0o600) == nil {
		return nil
	}
	if err := regular.Write(agent, nil, 0o600); err != nil {
		return fmt.Errorf("noting that an agent begins: %w", err)
	}
	return nil
}

// After makes a snapshot of the folder as iteration n has left it.
func (s *shots) After(ctx context.Context, n int) (Taken, error) {
	return s.record(ctx, snapshot{Kind: kindIteration, Number: n})
}

func (s *shots) record(ctx context.Context, next snapshot) (Taken, error) {
	release, err := s.hold(ctx)
	if err != nil {
		return Taken{}, err
	}
	defer release()
	return s.take(ctx, next)
}

// take makes a snapshot, which is none when nothing has changed. The lock is held.
func (s *shots) take(ctx context.Context, next snapshot) (taken Taken, err error) {
	last, err := s.tip()
	if err != nil {
		return Taken{}, err
	}
	agent := filepath.Join(s.home, agentName)
	marker, markerErr := os.Stat(agent)
	isMarked := markerErr == nil && marker.Mode()&0o200 != 0
	if isMarked && next.Kind == kindBetween {
		next.Kind = kindCutOff
	}
	defer func() {
		if err == nil && isMarked {
			err = os.Chmod(agent, 0o400)
		}
	}()
	s.printed = printedOf(s.findPrinted)
	var now Stamp
	if !s.large { // it stays so
		now, s.large = s.book.look(s.printed)
	}
	refs := s.refsNow()
	if last.list != "" && s.seen.tip == last && now.Same(s.seen) {
		return Taken{State: s.state(last.tree, refs)}, nil
	}
	var made tip
	taken, made, err = s.takeWithGit(ctx, last, next)
	if err != nil && last.list == "" && !s.book.Own && ctx.Err() == nil {
		// A repository that is broken or can't be written to, maybe.
		if err = s.useOwn(); err == nil {
			lock := s.git.Lock
			s.git = newGit(s.git.Program, s.home, s.book)
			s.git.Lock = lock
			os.Remove(filepath.Join(s.home, indexName))
			if err = s.writeBook(); err == nil {
				taken, made, err = s.takeWithGit(ctx, last, next)
			}
		}
	}
	if err != nil {
		return taken, err
	}
	taken.State = s.state(made.tree, refs)
	now.tip = made
	if s.seen = now; taken.again {
		s.seen = Stamp{}
	}
	return taken, nil
}

// takeWithGit has git look what changed, and writes the snapshot down.
func (s *shots) takeWithGit(ctx context.Context, last tip, next snapshot) (taken Taken, made tip, err error) {
	var submodules []string
	if last.list == "" {
		next = snapshot{Kind: kindStart}
		if submodules, err = s.seedIndex(ctx); err != nil {
			return taken, last, err
		}
		shown, err := s.hide(ctx)
		if submodules = append(submodules, shown...); err != nil {
			return taken, last, err
		}
	}
	early := make(chan string, 1)
	go func() {
		tree := ""
		if last.list == "" { // mostly the folder is as its index has it
			tree, _ = s.git.Text(ctx, nil, "write-tree", "--missing-ok") // a failure shows below
		}
		early <- tree
	}()
	seen, err := s.candidates(ctx)
	made.tree = <-early
	seen.notes = append(submodules, seen.notes...)
	taken.Notes = seen.notes
	if err != nil {
		return taken, last, err
	}
	begun := filepath.Join(s.home, begunName)
	_, unfinished := os.Lstat(begun)
	if len(seen.paths)+len(seen.beyond) == 0 && last.list != "" && unfinished != nil {
		return taken, last, nil
	}
	if err := regular.Write(begun, nil, 0o600); err != nil {
		return taken, last, fmt.Errorf("beginning a snapshot: %w", err)
	}
	if err := s.updateIndex(ctx, &seen); err != nil {
		return taken, last, err
	}
	taken.Notes, taken.again = seen.notes, seen.again
	if made.tree == "" || len(seen.paths)+len(seen.beyond) > 0 {
		made.tree, err = s.git.Text(ctx, nil, "write-tree", "--missing-ok")
	}
	if err != nil {
		return taken, last, err
	}
	if made.tree == last.tree {
		if unfinished != nil {
			os.Remove(begun)
			return taken, last, nil
		}
		return taken, last, s.name(ctx, last, last) // which may be all that was missing
	}
	tree, counted := made.tree, make(chan error, 1)
	go func() {
		if last.list == "" {
			counted <- nil
			return
		}
		files, err := s.compare(ctx, last.tree, tree, nil)
		taken.Summary = Sum(files)
		counted <- err
	}()
	if made, err = s.keep(ctx, last, tree, next); err == nil {
		err = s.name(ctx, made, last)
	}
	err = cmp.Or(err, <-counted) // before taken is read: it has the sum then
	return taken, made, err
}

// keep writes a tree down as the last snapshot. Who is killed before it gets its name leaves a mark by which the
// next one names it, and git removes nothing that is so young.
func (s *shots) keep(ctx context.Context, last tip, tree string, as snapshot) (made tip, err error) {
	l := readList(last.listing)
	for oldest, o := l.split(); len(oldest.own) > 0; oldest, o = l.split() {
		if o.tree, err = s.makeList(ctx, oldest.text()); err != nil {
			return last, err
		}
		if err = s.writeOwn(olderName(o.place), []byte(oldest.text())); err != nil {
			return last, fmt.Errorf("writing down older snapshots: %w", err)
		}
		l.older = append(l.older, o)
	}
	as.made, as.tree = time.Now().Unix(), tree
	l.append(as)
	made.tree, made.listing = tree, l.text()
	if made.list, err = s.makeList(ctx, made.listing); err != nil {
		return last, err
	}
	// The tip first: where this ends between the two, the next snapshot goes on from it.
	if err := s.writeOwn(tipName, made.text()); err != nil {
		return last, fmt.Errorf("writing down a snapshot: %w", err)
	}
	return made, nil
}

// makeList makes a list's tree. git doesn't look what it names: name does.
func (s *shots) makeList(ctx context.Context, text string) (tree string, err error) {
	tree, err = s.git.Text(ctx, []byte(text), "mktree", "-z", "--missing")
	return tree, lost(err)
}

// refName is what stands behind a loop's id in the name of its ref.
const refName = "files"

func (s *kept) refsOf() string { return "refs/ralph/" + s.id + "/" }

// tip reads which snapshot was the last one; the zero value is none.
func (s *kept) tip() (tip, error) {
	data, err := regular.Read(filepath.Join(s.home, tipName), regular.Long)
	if errors.Is(err, fs.ErrNotExist) {
		return tip{}, nil
	}
	first, listing, _ := strings.Cut(string(data), "\n")
	words := strings.Fields(first)
	if err == nil && len(words) < 2 {
		err = errors.New("it is incomplete")
	}
	if err != nil {
		return tip{}, fmt.Errorf("reading which snapshot was the last one: %w", err)
	}
	return tip{words[0], words[1], listing}, nil
}

// seedIndex begins with what the user's index knows of the files, which git
// then needn't read again. Sparse checkouts stay sparse. It notes the submodules.
func (s *shots) seedIndex(ctx context.Context) (notes []string, err error) {
	if s.book.Own {
		return nil, nil
	}
	data, _, err := git.CopyIndex(filepath.Join(s.book.GitDir, "index"), filepath.Join(s.home, indexName))
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(data, []byte{0, 0, 0xe0, 0}) { // a submodule's mode
		return nil, nil
	}
	paths, err := s.git.Submodules(ctx, s.scope()...)
	for _, path := range paths {
		notes = append(notes, strings.TrimPrefix(path, s.book.prefix())+" (a submodule)")
	}
	return notes, err
}

// scope has git look at the loop's folder only.
func (s *shots) scope() []string {
	prefix := s.book.prefix()
	if prefix == "" {
		return nil
	}
	return []string{"--", strings.TrimSuffix(prefix, "/")}
}

// candidates are the paths that may have changed since the index was written.
type candidates struct {
	paths  []string // in the work tree, as git has them
	beyond []string // those that only a link leads to by now: they are gone
	notes  []string // of what is left out
	again  bool     // some of that failed
	bytes  int64

	real map[string]bool // folders that no link leads to
}

const (
	gitlink = "160000"
	symlink = "120000"
	// maxTotal bounds what one snapshot adds: nobody means a loop to copy a disk.
	maxTotal = 2 << 30
)

// candidates asks git twice at once: for the known files that look changed, and
// for those that it doesn't know and doesn't ignore.
func (s *shots) candidates(ctx context.Context) (candidates, error) {
	_, modulesErr := os.Lstat(filepath.Join(s.book.Top, ".gitmodules"))
	s.left, s.blind = 0, modulesErr == nil && !s.book.Own
	within := s.scope()
	var unknown []string
	var unknownErr error
	var asking sync.WaitGroup
	asking.Go(func() {
		unknown, unknownErr = s.git.List(ctx, append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, within...)...)
	})
	f, err := s.git.List(ctx, append([]string{"diff-files", "-z", "--raw", "--no-ext-diff", "--ignore-submodules=all"}, within...)...)
	asking.Wait()
	if err = cmp.Or(err, unknownErr); err != nil {
		return candidates{}, err
	}
	c := candidates{real: map[string]bool{}}
	for ; len(f) > 1; f = f[2:] { // ":100644 100644 oid oid M", "path"
		if !strings.HasPrefix(f[0], ":"+gitlink) {
			s.choose(&c, f[1])
		}
	}
	for _, path := range unknown {
		if strings.HasSuffix(path, "/") {
			c.leaveOut(s, path, "a repository of its own")
			continue
		}
		s.choose(&c, path)
	}
	if c.bytes > maxTotal {
		return c, fmt.Errorf("the new files have %s together, more than %s: have git ignore what isn't part of the work", tell.Bytes(c.bytes), tell.Bytes(maxTotal))
	}
	slices.Sort(c.paths)
	c.paths = slices.Compact(c.paths) // unmerged ones are told twice
	return c, nil
}

// choose takes a path unless it is nobody's work, too large, or no file.
func (s *shots) choose(c *candidates, file string) {
	name := strings.TrimPrefix(file, s.book.prefix())
	if s.book.skips(name) {
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
	if err == nil && info.Mode().IsRegular() {
		if most := s.book.MaxFile; most > 0 && info.Size() > most {
			c.leaveOut(s, file, tell.Bytes(info.Size()))
			return
		}
		c.bytes += info.Size()
	}
	c.paths = append(c.paths, file)
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

// updateIndex takes the files into the index. One that git can't take is left out.
func (s *shots) updateIndex(ctx context.Context, c *candidates) error {
	if err := s.git.Unstage(ctx, c.beyond); err != nil {
		return err
	}
	err := s.addToIndex(ctx, c.paths)
	if err == nil || ctx.Err() != nil || git.IsStuck(err) {
		return err
	}
	c.paths = slices.DeleteFunc(c.paths, func(path string) bool {
		why := s.unreadable(path)
		if why != "" {
			c.leaveOut(s, path, why)
		}
		return why != ""
	})
	return s.sift(ctx, c, c.paths, len(c.notes)+maxSifted)
}

// many is from how many files on their objects are put into one file: to make so
// many files takes longest.
const many = 1000

func (s *shots) addToIndex(ctx context.Context, paths []string) error {
	g := s.git
	if len(paths) >= many {
		if version, err := g.Text(ctx, nil, "version"); err == nil && packsObjects(version) {
			g.Settings = append(g.Settings[:len(g.Settings):len(g.Settings)], "core.bigFileThreshold=1")
		}
	}
	return g.Stage(ctx, paths)
}

// maxSifted is how many files with a filter that fails, say, are looked for.
const maxSifted = 20

// sift takes the paths into the index but for those that git can't take alone.
func (s *shots) sift(ctx context.Context, c *candidates, paths []string, most int) error {
	err := s.addToIndex(ctx, paths)
	if err == nil || ctx.Err() != nil || git.IsStuck(err) || len(c.notes) >= most {
		return err
	}
	if len(paths) == 1 {
		c.leaveOut(s, paths[0], err.Error())
		c.again = true
		return nil
	}
	half := len(paths) / 2
	if err := s.sift(ctx, c, paths[:half], most); err != nil {
		return err
	}
	return s.sift(ctx, c, paths[half:], most)
}

// leaveOut notes a path that isn't taken.
func (c *candidates) leaveOut(s *shots, path, why string) {
	s.noteLeft(path)
	c.notes = append(c.notes, fmt.Sprintf("%s (%s)", strings.TrimPrefix(path, s.book.prefix()), why))
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
