package changes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
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

// Undo takes back what iterations changed, file by file. What the user did
// elsewhere in a file stays; a file where both did something in the same place
// is refused, or gets conflict markers. It begins with a snapshot, so nothing is
// lost.
func (s *Store) Undo(ctx context.Context, u Undo) (Undone, error) {
	if err := s.bothNames(ctx, &u); err != nil {
		return Undone{}, err
	}
	return s.takeBack(ctx, snapshot{Kind: kindUndo}, u, func(st snapshot) bool {
		return st.isWork() && (st.Number == u.Iteration || u.Since > 0 && st.Number >= u.Since)
	})
}

// bothNames adds to the paths of an undo the other names of what was renamed: half
// of a rename leaves two files, or none.
func (s *Store) bothNames(ctx context.Context, u *Undo) error {
	if len(u.Paths) == 0 {
		return nil
	}
	r := Range{u.Iteration - 1, u.Iteration}
	if u.Since > 0 {
		r = Range{u.Since - 1, Latest}
	}
	within, err := s.book.within(u.Paths)
	if err != nil {
		return err
	}
	files, err := s.Files(ctx, r, nil)
	paths := slices.Clone(u.Paths)
	for _, f := range files {
		if f.From != "" && (covers(within, s.book.prefix()+f.Path) || covers(within, s.book.prefix()+f.From)) {
			paths = append(paths, f.Path, f.From)
		}
	}
	u.Paths = paths
	return err
}

// ErrNothingToRedo says that no undo is left to be taken back.
var ErrNothingToRedo = errors.New("there is no undo to take back")

// Redo takes back the last undo that wasn't yet; a dry run writes nothing.
//
// Errors: ErrNothingToRedo, and those of Undo.
func (s *Store) Redo(ctx context.Context, dryRun bool) (Undone, error) {
	if err := s.mayWrite(); err != nil {
		return Undone{}, err
	}
	undo, err := s.lastUndo(ctx)
	if err != nil {
		return Undone{}, err
	}
	return s.takeBack(ctx, snapshot{Kind: kindRedo, Number: undo}, Undo{DryRun: dryRun}, func(other snapshot) bool { return other.place == undo })
}

// CanRedo says whether there is an undo to take back.
func (s *Store) CanRedo(ctx context.Context) (bool, error) {
	_, err := s.lastUndo(ctx)
	if errors.Is(err, ErrNothingToRedo) {
		return false, nil
	}
	return err == nil, err
}

// lastUndo is the place of the last undo that wasn't taken back.
func (s *Store) lastUndo(ctx context.Context) (place int, err error) {
	snapshots, err := s.snapshots()
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

func (s *Store) mayWrite() error {
	if s.MayWrite == nil {
		return nil
	}
	return s.MayWrite()
}

// takeBack takes back what the chosen snapshots brought, the newest first, and makes a snapshot
// of that.
func (s *Store) takeBack(ctx context.Context, as snapshot, u Undo, chosen func(snapshot) bool) (undone Undone, err error) {
	within, err := s.book.within(u.Paths)
	if err != nil {
		return Undone{}, err
	}
	release, err := s.hold(ctx)
	if err != nil {
		return Undone{}, err
	}
	defer release()
	if err := s.mayWrite(); err != nil {
		return Undone{}, err
	}
	s.seen, s.takesAll = look{}, true // here it is git that has to look
	defer func() { s.takesAll = false }()
	if _, err := s.take(ctx, snapshot{Kind: kindBetween}); err != nil {
		return Undone{}, fmt.Errorf("making a snapshot first: %w", err)
	}
	snapshots, err := s.snapshots()
	if err != nil {
		return Undone{}, err
	}
	p := restoration{store: s, as: as, markers: u.Merge, now: map[string]version{}, then: map[string]version{}, marked: map[string]bool{}, refused: map[string]string{}}
	for _, sp := range slices.Backward(spans(snapshots, chosen)) {
		if err := p.takeBack(ctx, sp, snapshots[len(snapshots)-1], within); err != nil {
			return Undone{}, err
		}
	}
	maps.DeleteFunc(p.then, func(path string, v version) bool { return p.refused[path] != "" || v == p.now[path] })
	if len(p.then) > 0 && !u.DryRun {
		err = s.restore(ctx, &p)
		if _, taken := s.take(ctx, as); err == nil && taken != nil {
			err = fmt.Errorf("making a snapshot of what was undone: %w", taken)
		}
	}
	done := p.outcome()
	done.HeadMoved = s.hasHeadMoved(ctx, p.then, snapshots[0])
	return done, err
}

// hasHeadMoved says whether HEAD was moved in a second behind that of a snapshot, in the repository of one of the files.
// Where that keeps no reflog, nobody knows.
func (s *Store) hasHeadMoved(ctx context.Context, files map[string]version, since snapshot) bool {
	repositories := map[string]git.Git{}
	for path := range files {
		switch name := s.book.belowAt(path); {
		case name != "" && s.below.dirs[name] != "":
			repositories[name] = s.git.Within(s.book.topOf(name)).With("GIT_DIR=" + s.below.dirs[name])
		case name == "" && !s.book.Own:
			repositories[name] = s.git
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

// restoration is what is to become of files.
type restoration struct {
	store   *Store
	as      snapshot
	markers bool               // where both sides changed the same place
	now     map[string]version // as they are
	then    map[string]version // as they shall be
	marked  map[string]bool    // those that get markers
	refused map[string]string  // why they stay
}

func (p *restoration) outcome() Undone {
	var done Undone
	for _, path := range slices.Sorted(maps.Keys(p.then)) {
		if p.marked[path] {
			done.Merged = append(done.Merged, path)
		} else {
			done.Paths = append(done.Paths, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(p.refused)) {
		why := p.refused[path]
		done.Refused = append(done.Refused, Refusal{path, why, why == whyEdited && p.as.Kind == kindUndo})
	}
	return done
}

// refuse leaves a file as it is.
func (p *restoration) refuse(path, why string) {
	delete(p.then, path)
	p.refused[path] = why
}

// takeBack adds what takes back one span of snapshots.
func (p *restoration) takeBack(ctx context.Context, sp span, last snapshot, within []string) error {
	changed, err := p.store.entries(ctx, sp.from.tree, sp.to.tree, within)
	if err != nil || len(changed) == 0 {
		return err
	}
	since, err := p.store.entries(ctx, sp.to.tree, last.tree, within)
	if err != nil {
		return err
	}
	for path, e := range changed {
		if p.refused[path] != "" {
			continue
		}
		if _, known := p.then[path]; !known {
			p.now[path] = e.new
			if later, ok := since[path]; ok {
				p.now[path] = later.new
			}
			p.then[path] = p.now[path]
		}
		merged, why, err := p.store.merge(ctx, p.then[path], e.new, e.old)
		if err == nil && why == whyEdited && p.markers {
			merged.oid, why, err = p.store.mark(ctx, sp, p.then[path].oid, e.new.oid, e.old.oid)
			p.marked[path] = true
		}
		if err != nil {
			return err
		}
		if why != "" {
			p.refuse(path, why)
			continue
		}
		p.then[path] = merged
	}
	return nil
}

// merge is what becomes of a file that is mine when the change from base to
// theirs is taken; why says that it can't be.
func (s *Store) merge(ctx context.Context, mine, base, theirs version) (merged version, why string, err error) {
	none := version{}
	switch {
	case base.mode == gitlink || theirs.mode == gitlink || mine.mode == gitlink:
		return none, whySubmodule, nil
	case mine == base:
		return theirs, "", nil
	case mine == theirs:
		return mine, "", nil
	case mine == none:
		return none, whyGone, nil
	case base == none:
		return none, whyThere, nil
	case theirs == none:
		return none, whyNew, nil
	case !isFile(mine) || !isFile(base) || !isFile(theirs):
		return none, whyKind, nil
	}
	merged = mine
	if mine.mode == base.mode {
		merged.mode = theirs.mode
	}
	switch {
	case mine.oid == base.oid:
		merged.oid = theirs.oid
	case base.oid != theirs.oid && mine.oid != theirs.oid:
		merged.oid, why, err = s.mergeFile(ctx, nil, mine.oid, base.oid, theirs.oid)
	}
	return merged, why, err
}

func isFile(v version) bool { return strings.HasPrefix(v.mode, "100") }

// mark merges three texts that can't be into one with conflict markers.
func (s *Store) mark(ctx context.Context, sp span, mine, base, theirs string) (merged, why string, err error) {
	text, err := s.git.Run(ctx, nil, "cat-file", "blob", mine)
	if err != nil {
		return "", "", err
	}
	if bytes.HasPrefix(text, []byte("<<<<<<< ")) || bytes.Contains(text, []byte("\n<<<<<<< ")) {
		return "", whyNested, nil
	}
	labels := []string{"--diff3", "-L", "yours", "-L", fmt.Sprintf("after iteration %d", sp.to.Number), "-L", fmt.Sprintf("before iteration %d", sp.first.Number)}
	merged, _, err = s.mergeFile(ctx, labels, mine, base, theirs)
	return merged, "", err
}

// mergeFile merges three texts into one that git keeps. Where they can't be, that has conflict markers.
func (s *Store) mergeFile(ctx context.Context, how []string, oids ...string) (merged, why string, err error) {
	dir, err := os.MkdirTemp(s.home, mergeName)
	if err != nil {
		return "", "", fmt.Errorf("merging: %w", err)
	}
	defer os.RemoveAll(dir)
	args := append([]string{"merge-file", "-p", "-q"}, how...)
	for i, oid := range oids {
		text, err := s.git.Run(ctx, nil, "cat-file", "blob", oid)
		if err != nil {
			return "", "", err
		}
		name := filepath.Join(dir, []string{"mine", "base", "theirs"}[i])
		if err := regular.Write(name, text, 0o600); err != nil {
			return "", "", fmt.Errorf("merging: %w", err)
		}
		args = append(args, name)
	}
	text, err := s.git.Run(ctx, nil, args...)
	switch code := git.ExitCode(err); {
	case code > 0 && code < 128: // the number of conflicts
		why = whyEdited
	case code >= 128:
		return "", whyBinary, nil
	case err != nil:
		return "", "", err
	}
	merged, err = s.git.Text(ctx, text, "hash-object", "-w", "--stdin")
	return merged, why, err
}
