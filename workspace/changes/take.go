package changes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/atwork"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/survey"
)

// Names in a loop's own folder.
const (
	indexName   = "index"
	tipName     = "tip"     // the last snapshot; its time is the time of the loop's last change
	pendingName = "tip.new" // the same until the ref leads to it
	begunName   = "begun"   // there while the index may have more than the last snapshot
	worksName   = "works"   // the files that an undo is writing

	exportName, mergeName = "export-", "merge" // beginnings of what it needs for a moment
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
	CutOff  int      // the iteration whose work a part of it is, as it was cut off; 0: none

	again bool // something failed that may not fail another time
}

// tip is the last snapshot: the tree that lists all snapshots, its own tree, the text of the list, and how many bytes
// all of them have added.
type tip struct {
	list, tree, listing string
	spent               int64
}

// text is how it is written down.
func (t tip) text() []byte {
	return fmt.Appendf(nil, "%s %s 3 %d\n%s", t.list, t.tree, t.spent, t.listing)
}

// Snapshots take snapshots of the loop's folder.
type Snapshots struct {
	in    *archive
	files *index
	seen  look // the folder as it was before the last look of git's
	large bool // it has too many entries for a stamp

	findPrinted Printed
}

// obey has the snapshots made as o says.
func (s *Snapshots) obey(o Options, theirs Printed) {
	s.in.book.Skip, s.in.book.Hidden, s.in.book.MaxFile = o.Skip, o.Hidden, o.MaxFile
	s.findPrinted, s.files.most = theirs, o.MaxKept
}

// Report tells how far the first snapshot is.
func (s *Snapshots) Report(to *survey.Survey) { s.files.survey = to }

// Start makes a snapshot of the folder as it is before iteration n. Changes since the one before belong to no
// iteration.
func (s *Snapshots) Start(ctx context.Context) (Taken, error) {
	return s.record(ctx, snapshot{Kind: kindBetween})
}

// Begin says that the agent of iteration n begins to work in the folder, until After. A snapshot that
// somebody else makes before that has what a run did which was cut off.
func (s *Snapshots) Begin(n int) error { return atWork(s.in.home).Set(n) }

// Saved says that the user has saved a file in an editor, by its path from the folder on. Where a run was cut off that
// isn't taken up yet, the file is the user's.
func Saved(s *Store, path string) error { return atWork(s.in.home).Save(path) }

func atWork(home string) atwork.Mark { return atwork.Mark{Home: home} }

// After makes a snapshot of the folder as iteration n has left it.
func (s *Snapshots) After(ctx context.Context, n int) (Taken, error) {
	return s.record(ctx, snapshot{Kind: kindIteration, Number: n})
}

func (s *Snapshots) record(ctx context.Context, next snapshot) (Taken, error) {
	release, err := s.in.hold(ctx)
	if err != nil {
		return Taken{}, err
	}
	defer release()
	return s.take(ctx, next)
}

// take makes a snapshot, which is none when nothing has changed. The lock is held.
func (s *Snapshots) take(ctx context.Context, next snapshot) (taken Taken, err error) {
	last, err := s.in.tip()
	if err != nil {
		return Taken{}, err
	}
	if last, err = s.in.anew(last); err != nil {
		return Taken{}, err
	}
	cutOff, isMarked := atWork(s.in.home).Get()
	defer func() {
		if err == nil {
			err = atWork(s.in.home).Clear()
		}
	}()
	s.files.printed = printedOf(s.findPrinted)
	var now look
	if !s.large { // it stays so
		now.Stamp, s.large = s.in.book.look(s.files.printed)
	}
	if s.files.below.why == nil {
		if err := s.files.below.join(ctx, s.in, s.files.ration(last).fresh); err != nil {
			return Taken{}, err
		}
	}
	refs := s.files.below.refsNow(s.in.book)
	if last.list != "" && s.seen.tip == last && now.Same(s.seen.Stamp) {
		return Taken{State: s.state(last.tree, refs)}, nil
	}
	var work Taken
	if isMarked && next.Kind == kindBetween && last.list != "" {
		if s.files.theirs, err = atWork(s.in.home).Saved(); err == nil { // they are the user's
			work, last, err = s.takeWithGit(ctx, last, snapshot{Kind: kindCutOff, Number: cutOff})
		}
		if s.files.theirs, work.CutOff = nil, cutOff; err != nil {
			return work, err
		}
	}
	var made tip
	taken, made, err = s.takeWithGit(ctx, last, next)
	taken.CutOff = work.CutOff
	taken.Files, taken.Added, taken.Removed = taken.Files+work.Files, taken.Added+work.Added, taken.Removed+work.Removed
	if err != nil && last.list == "" && !s.in.book.Own && ctx.Err() == nil && !git.IsStuck(err) {
		// A repository that is broken or can't be written to, maybe.
		if err = s.in.useOwn(); err == nil {
			lock := s.in.git.Lock
			s.in.git = newGit(s.in.git.Program, s.in.home, s.in.book)
			s.in.git.Lock = lock
			os.Remove(filepath.Join(s.in.home, indexName))
			if err = s.in.writeBook(); err == nil {
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
		s.seen = look{}
	}
	return taken, nil
}

// takeWithGit has git look what changed, and writes the snapshot down.
func (s *Snapshots) takeWithGit(ctx context.Context, last tip, next snapshot) (taken Taken, made tip, err error) {
	var submodules []string
	var until time.Time
	begun := filepath.Join(s.in.home, begunName)
	_, unfinished := os.Lstat(begun)
	if unfinished == nil && last.list != "" { // git may have removed what the index has beyond the last snapshot
		if _, err := s.in.git.Run(ctx, nil, "read-tree", "--reset", last.tree); err != nil {
			return taken, last, lost(err)
		}
	}
	if last.list == "" {
		next, until = snapshot{Kind: kindStart}, time.Now().Add(maxFirst)
		if submodules, err = s.files.seed(ctx); err != nil {
			return taken, last, err
		}
		shown, err := s.in.hide(ctx)
		if submodules = append(submodules, shown...); err != nil {
			return taken, last, err
		}
	}
	early := make(chan string, 1)
	go func() {
		tree := ""
		if last.list == "" { // mostly the folder is as its index has it
			tree, _ = s.in.git.Text(ctx, nil, "write-tree", "--missing-ok") // a failure shows below
		}
		early <- tree
	}()
	seen, err := s.files.look(ctx, s.files.ration(last))
	made.tree = <-early
	seen.notes = append(submodules, seen.notes...)
	taken.Notes = seen.notes
	if err != nil {
		return taken, last, err
	}
	if len(seen.paths)+len(seen.beyond) == 0 && last.list != "" && unfinished != nil {
		return taken, last, nil
	}
	if err := regular.Write(begun, nil, 0o600); err != nil {
		return taken, last, fmt.Errorf("beginning a snapshot: %w", err)
	}
	if err := s.files.update(ctx, &seen, until); err != nil {
		return taken, last, err
	}
	taken.Notes, taken.again = seen.notes, seen.again
	if made.tree == "" || len(seen.paths)+len(seen.beyond) > 0 {
		made.tree, err = s.in.git.Text(ctx, nil, "write-tree", "--missing-ok")
	}
	if err != nil {
		return taken, last, err
	}
	if made.tree == last.tree {
		if unfinished != nil {
			os.Remove(begun)
			return taken, last, nil
		}
		return taken, last, s.in.name(ctx, last, last) // which may be all that was missing
	}
	tree, counted, added := made.tree, make(chan error, 1), int64(0)
	go func() {
		if last.list == "" {
			counted <- nil
			return
		}
		files, err := Diff{s.in}.compare(ctx, last.tree, tree, nil)
		taken.Summary, added = Sum(files), s.in.book.loose(files)
		counted <- err
	}()
	made, err = s.in.keep(ctx, last, tree, next)
	err = cmp.Or(err, <-counted) // before taken is read: it has the sum then
	s.in.owed += added
	return taken, made, err
}

// keep stores a tree as the last snapshot: its data, the ref by which git keeps it, and only then that it is the last
// one. A kill before the ref leaves none; after that it is settled later.
func (s *archive) keep(ctx context.Context, last tip, tree string, as snapshot) (made tip, err error) {
	l := readList(last.listing)
	gone, err := s.shorten(&l)
	if err != nil {
		return last, fmt.Errorf("writing down older snapshots: %w", err)
	}
	as.made, as.tree = time.Now().Unix(), tree
	l.append(as)
	made.tree, made.listing, made.spent = tree, l.text(), last.spent+s.owed
	s.owed = 0
	if made.list, err = s.makeList(made.listing); err != nil {
		return last, err
	}
	if err := regular.Write(filepath.Join(s.home, pendingName), made.text(), 0o600); err != nil {
		return last, fmt.Errorf("writing down a snapshot: %w", err)
	}
	unnamed := s.name(ctx, made, last) // the next snapshot tries again
	if err := settle(s.home); err != nil {
		return last, err
	}
	for _, o := range gone {
		os.Remove(filepath.Join(s.home, olderName(o.place)))
	}
	return made, unnamed
}

// settle makes the snapshot that is pending the last one. It has what the agent did that was at work.
func settle(home string) error {
	err := atWork(home).Clear()
	if err == nil {
		err = paths.Rename(filepath.Join(home, pendingName), filepath.Join(home, tipName))
	}
	if err != nil {
		return fmt.Errorf("writing down a snapshot: %w", err)
	}
	return nil
}

// makeList makes a list's tree. Nobody looks what it names: name does.
func (s *archive) makeList(text string) (tree string, err error) {
	tree, size, err := git.PutTree(s.book.objects(), text)
	s.owed += size
	return tree, err
}

// refName is what stands behind a loop's id in the name of its ref.
const refName = "files"

func (s *archive) refsOf() string { return "refs/ralph/" + s.id + "/" }

// tip reads which snapshot was the last one; the zero value is none.
func (s *archive) tip() (tip, error) {
	if last, ok := pending(s.git, s.home, s.refsOf()); ok {
		return last, nil
	}
	last, err := readTip(filepath.Join(s.home, tipName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tip{}, fmt.Errorf("reading which snapshot was the last one: %w", err)
	}
	return last, nil
}

// pending returns the last snapshot while it has to be settled, as its ref says: its maker was killed, or is about to
// settle it.
func pending(g git.Git, home, refs string) (tip, bool) {
	made, err := readTip(filepath.Join(home, pendingName))
	if err != nil {
		return tip{}, false
	}
	list, err := g.Text(context.Background(), nil, "rev-parse", "--quiet", "--verify", refs+refName)
	return made, err == nil && list == made.list
}

func readTip(path string) (t tip, err error) {
	data, err := regular.Read(path, regular.Long)
	if err != nil {
		return tip{}, err
	}
	first, listing, _ := strings.Cut(string(data), "\n")
	words := strings.Fields(first)
	if len(words) < 2 {
		return tip{}, errors.New("it is incomplete")
	}
	t = tip{list: words[0], tree: words[1], listing: listing}
	if len(words) > 3 {
		t.spent, _ = strconv.ParseInt(words[3], 10, 64)
	}
	return t, nil
}

// seed begins with what the user's index knows of the files, which git
// then needn't read again. Sparse checkouts stay sparse. It notes the submodules.
func (x *index) seed(ctx context.Context) (notes []string, err error) {
	if x.in.book.Own {
		return nil, nil
	}
	data, _, err := git.CopyIndex(filepath.Join(x.in.book.GitDir, "index"), filepath.Join(x.in.home, indexName))
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(data, []byte{0, 0, 0xe0, 0}) { // a submodule's mode
		return nil, nil
	}
	paths, err := x.in.git.Submodules(ctx, x.in.book.scope()...)
	for _, path := range paths {
		if name := x.in.book.inFolder(path); !slices.Contains(x.in.book.Below, name) && x.below.dirs[name] == "" {
			notes = append(notes, name+" (a submodule)")
		}
	}
	return notes, err
}

// scope has git look at the loop's folder only.
func (b book) scope() []string {
	prefix := b.prefix()
	if prefix == "" {
		return nil
	}
	return []string{"--", strings.TrimSuffix(prefix, "/")}
}
