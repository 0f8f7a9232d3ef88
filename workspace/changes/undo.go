package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Undo chooses what is taken back.
type Undo struct {
	Iteration int      // this one, or
	Since     int      // this one and all behind it
	Paths     []string // files and folders; none: all
	DryRun    bool     // nothing is written
	Merge     bool     // texts that both changed in one place get conflict markers
}

// Undone is what became of an undo or a redo.
type Undone struct {
	Paths   []string  // were taken back, or would be
	Merged  []string  // have both sides now, between conflict markers; not in Paths
	Refused []Refusal // were left as they are

	// HeadMoved says that HEAD was moved since the loop began, by a commit of the
	// agent's, say. It stays where it is.
	HeadMoved bool
}

// Refusal is a file that was left as it is.
type Refusal struct {
	Path     string `json:"path"`
	Reason   string `json:"reason"`             // a part of a sentence
	CanMerge bool   `json:"canMerge,omitempty"` // Undo.Merge would write both sides
}

// Why files are left as they are.
const (
	whyEdited    = "it was changed since in the same place"
	whyBinary    = "it was changed since, and binary files can't be merged"
	whyGone      = "it was deleted since"
	whyThere     = "it was made anew since"
	whyNew       = "the iteration made it, and it was changed since"
	whyKind      = "it became another kind of file since"
	whySubmodule = "it is a repository of its own"
	whyNow       = "it is being changed right now"
	whyUnknown   = "a file is there that no snapshot has: too large, not readable, or ignored by git"
	whyLink      = "a folder on the way to it is a link"
	whyNested    = "it would get conflict markers inside of conflict markers"
)

// Undoer takes back what iterations changed, and what it took back itself.
type Undoer struct {
	in    *archive
	snaps *Snapshots

	// MayWrite is called before an undo or a redo begins, even a dry run. Its error is the caller's error; a nil
	// function permits everything.
	MayWrite func() error
}

// Undo undoes what iterations changed, file by file. The user's changes elsewhere in a file stay; a file where both
// changed the same place is refused, or gets conflict markers. It begins with a snapshot, so nothing is lost.
func (b *Undoer) Undo(ctx context.Context, u Undo) (Undone, error) {
	if err := b.bothNames(ctx, &u); err != nil {
		return Undone{}, err
	}
	return b.takeBack(ctx, snapshot{Kind: kindUndo}, u, func(st snapshot) bool {
		return st.isWork() && (st.Number == u.Iteration || u.Since > 0 && st.Number >= u.Since)
	})
}

// bothNames adds to the paths of an undo the other names of what was renamed: half
// of a rename leaves two files, or none.
func (b *Undoer) bothNames(ctx context.Context, u *Undo) error {
	if len(u.Paths) == 0 {
		return nil
	}
	r := Range{u.Iteration - 1, u.Iteration}
	if u.Since > 0 {
		r = Range{u.Since - 1, Latest}
	}
	within, err := b.in.book.within(u.Paths)
	if err != nil {
		return err
	}
	files, err := Diff{b.in}.Files(ctx, r, nil)
	paths := slices.Clone(u.Paths)
	for _, f := range files {
		if f.From != "" && (covers(within, b.in.book.prefix()+f.Path) || covers(within, b.in.book.prefix()+f.From)) {
			paths = append(paths, f.Path, f.From)
		}
	}
	u.Paths = paths
	return err
}

// ErrNothingToRedo says that no undo is left to be taken back.
var ErrNothingToRedo = errors.New("there is no undo to take back")

// Redo undoes the last undo that wasn't redone yet; a dry run writes nothing.
//
// Errors: ErrNothingToRedo, and those of Undo.
func (b *Undoer) Redo(ctx context.Context, dryRun bool) (Undone, error) {
	if err := b.mayWrite(); err != nil {
		return Undone{}, err
	}
	undo, err := b.lastUndo(ctx)
	if err != nil {
		return Undone{}, err
	}
	return b.takeBack(ctx, snapshot{Kind: kindRedo, Number: undo}, Undo{DryRun: dryRun},
		func(other snapshot) bool { return other.place == undo })
}

// CanRedo says whether there is an undo to take back.
func (b *Undoer) CanRedo(ctx context.Context) (bool, error) {
	_, err := b.lastUndo(ctx)
	if errors.Is(err, ErrNothingToRedo) {
		return false, nil
	}
	return err == nil, err
}

// lastUndo is the place of the last undo that wasn't taken back.
func (b *Undoer) lastUndo(ctx context.Context) (place int, err error) {
	snapshots, err := b.in.snapshots()
	if err != nil {
		return 0, err
	}
	redone := map[int]bool{}
	for _, st := range slices.Backward(snapshots) {
		switch {
		case st.Kind == kindRedo:
			redone[st.Number] = true
		case st.Kind == kindUndo && !redone[st.place]:
			return st.place, nil
		}
	}
	return 0, ErrNothingToRedo
}

func (b *Undoer) mayWrite() error {
	if b.MayWrite == nil {
		return nil
	}
	return b.MayWrite()
}

// takeBack takes back what the chosen snapshots brought, the newest first, and makes a snapshot
// of that.
func (b *Undoer) takeBack(ctx context.Context, as snapshot, u Undo, chosen func(snapshot) bool) (undone Undone, err error) {
	within, err := b.in.book.within(u.Paths)
	if err != nil {
		return Undone{}, err
	}
	release, err := b.in.hold(ctx)
	if err != nil {
		return Undone{}, err
	}
	defer release()
	if err := b.mayWrite(); err != nil {
		return Undone{}, err
	}
	b.snaps.seen, b.snaps.files.takesAll = look{}, true // here it is git that has to look
	defer func() { b.snaps.files.takesAll = false }()
	if _, err := b.snaps.take(ctx, snapshot{Kind: kindBetween}); err != nil {
		return Undone{}, fmt.Errorf("making a snapshot first: %w", err)
	}
	snapshots, err := b.in.snapshots()
	if err != nil {
		return Undone{}, err
	}
	p := b.snaps.restoration(as)
	p.markers = u.Merge
	for _, sp := range slices.Backward(spans(snapshots, chosen)) {
		if err := p.takeBack(ctx, sp, snapshots[len(snapshots)-1], within); err != nil {
			return Undone{}, err
		}
	}
	maps.DeleteFunc(p.then, func(path string, v version) bool { return p.refused[path] != "" || v == p.now[path] })
	if len(p.then) > 0 && !u.DryRun {
		err = p.write(ctx)
		if _, taken := b.snaps.take(ctx, as); err == nil && taken != nil {
			err = fmt.Errorf("making a snapshot of what was undone: %w", taken)
		}
	}
	done := p.outcome()
	done.HeadMoved = b.hasHeadMoved(ctx, p.then, snapshots[0])
	return done, err
}

// hasHeadMoved says whether HEAD was moved in a later second than a snapshot's, in the repository of one of the files.
// It is false in a repository without a reflog.
func (b *Undoer) hasHeadMoved(ctx context.Context, files map[string]version, since snapshot) bool {
	repositories := map[string]git.Git{}
	for path := range files {
		switch name := b.in.book.belowAt(path); {
		case name != "" && b.snaps.files.below.dirs[name] != "":
			repositories[name] = b.in.git.Within(b.in.book.topOf(name)).With("GIT_DIR=" + b.snaps.files.below.dirs[name])
		case name == "" && !b.in.book.Own:
			repositories[name] = b.in.git
		}
	}
	for _, g := range repositories {
		moved, err := g.Text(ctx, nil, "log", "-1", "--walk-reflogs", "--date=unix", "--format=%gd", "HEAD", "--") // HEAD@{1700000000}
		_, moved, _ = strings.Cut(strings.TrimSuffix(moved, "}"), "@{")
		now, parseErr := strconv.ParseInt(moved, 10, 64)
		if cmp.Or(err, parseErr) == nil && now > since.made {
			return true
		}
	}
	return false
}
