package changes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Touched is a file that isn't as the loop has found it.
type Touched struct {
	Path   string
	Status Status // Added, Modified, Deleted or Mode
	// CutOff: a run that was cut off did it, or somebody since, in no editor; nobody can tell.
	CutOff bool

	before, now version
}

// Touched lists the files that iterations, and runs that were cut off, changed, by path. The user's changes aren't
// among them, nor is a file that is again as it was found.
//
// Errors: ErrNone, and git's.
func (d Diff) Touched(ctx context.Context) ([]Touched, error) {
	snapshots, err := d.in.snapshots()
	if err != nil {
		return nil, err
	}
	each, err := d.eachStep(ctx, snapshots)
	if err != nil {
		return nil, err
	}
	touched := map[string]Touched{}
	for i, changed := range each {
		kind := snapshots[i+1].Kind
		byLoop := kind == kindIteration || kind == kindCutOff // with any number
		for path, e := range changed {
			t, ok := touched[path]
			switch {
			case !ok && !byLoop: // the loop finds what the user made of it
				continue
			case !ok:
				t = Touched{Path: path, before: e.old}
			}
			if t.now = e.new; t.now == t.before {
				delete(touched, path)
				continue
			}
			if byLoop {
				t.CutOff = kind == kindCutOff && (!ok || t.CutOff)
			}
			touched[path] = t
		}
	}
	list := slices.SortedFunc(maps.Values(touched), func(a, b Touched) int { return strings.Compare(a.Path, b.Path) })
	for i, t := range list {
		list[i].Status = entry{old: t.before, new: t.now}.status()
	}
	return list, nil
}

// eachStep is what changed from each snapshot to the next, by path in the folder.
// One git looks at them all.
func (d Diff) eachStep(ctx context.Context, snapshots []snapshot) ([]map[string]entry, error) {
	each := make([]map[string]entry, 0, len(snapshots))
	var pairs strings.Builder
	for i := 1; i < len(snapshots); i++ {
		fmt.Fprintf(&pairs, "%s %s\n", snapshots[i-1].tree, snapshots[i].tree)
	}
	if pairs.Len() == 0 {
		return nil, nil
	}
	out, err := d.in.git.Run(ctx, []byte(pairs.String()),
		d.in.book.diffArgs([]string{"--stdin", "-z", "--raw", "--no-renames"}, "", "", nil)...)
	if err != nil {
		return nil, lost(err)
	}
	for f := git.Fields(out); len(f) > 0; f = f[1:] { // "tree tree\n" before the first of a snapshot, ":100644 100644 oid oid M", "path"
		head := f[0]
		for !strings.HasPrefix(head, ":") && head != "" {
			each = append(each, map[string]entry{})
			_, head, _ = strings.Cut(head, "\n")
		}
		if head == "" {
			continue
		}
		if len(f) < 2 || len(each) == 0 {
			return nil, fmt.Errorf("git diff-tree: what it prints can't be read: %q", head)
		}
		f = f[1:]
		each[len(each)-1][f[0]] = entryOf(head)
	}
	if len(each) != len(snapshots)-1 {
		return nil, fmt.Errorf("git diff-tree: %d of %d snapshots are told", len(each), len(snapshots)-1)
	}
	return each, nil
}

// Found reads a file as the loop has found it, and as it is in the last snapshot.
func (d Diff) Found(ctx context.Context, t Touched) (before, now []byte, err error) {
	read := func(v version) ([]byte, error) {
		if v == (version{}) {
			return nil, nil
		}
		data, all, err := d.in.git.UpTo(MaxContent).RunSome(ctx, "cat-file", "blob", v.oid)
		if err == nil && !all {
			err = &TooLargeError{t.Path}
		}
		return data, err
	}
	if before, err = read(t.before); err != nil {
		return nil, nil, err
	}
	now, err = read(t.now)
	return before, now, err
}
