package changes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// keptName is the file of what the user has kept: "100644 oid PLACE\tpath\0"
// each, "- - snapshot\tpath\0" for a deletion.
const keptName = "kept"

// Review is what the user has reviewed of the files that a loop changed.
type Review struct{ in *archive }

// mark says which version of a file the user has reviewed, in which snapshot. One that is in none,
// inPart, is in a file of its own.
type mark struct {
	version
	place int
}

const inPart = -1

// partName is the file that has what the user has reviewed of the one at a path in the folder.
func partName(path string) string { return fmt.Sprintf("kept-%x", sha256.Sum256([]byte(path))) }

// marks are what the user has kept, by path in the folder.
func (r Review) marks() (map[string]mark, error) {
	data, err := regular.Read(filepath.Join(r.in.home, keptName), regular.Long)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]mark{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was kept: %w", err)
	}
	marks := map[string]mark{}
	for _, line := range git.Fields(data) {
		of, path, _ := strings.Cut(line, "\t")
		words := strings.Fields(of)
		if len(words) != 3 {
			return nil, fmt.Errorf("reading what was kept: %s is damaged", filepath.Join(r.in.home, keptName))
		}
		m := mark{version: version{words[0], words[1]}}
		m.place, _ = strconv.Atoi(words[2])
		if m.mode == "-" {
			m.version = version{}
		}
		marks[path] = m
	}
	return marks, nil
}

func (r Review) writeMarks(marks map[string]mark) error {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(marks)) {
		m := marks[path]
		if m.version == (version{}) {
			m.version = version{"-", "-"}
		}
		fmt.Fprintf(&b, "%s %s %d\t%s\x00", m.mode, m.oid, m.place, path)
	}
	if err := r.in.writeOwn(keptName, []byte(b.String())); err != nil {
		return fmt.Errorf("writing what was kept: %w", err)
	}
	return nil
}

// Keep marks files as reviewed, as they were after iteration n (Latest: in the last snapshot), or
// takes their marks away. paths are files and folders; none: all. It returns the paths of these
// files. A file that was reviewed in a later snapshot stays so.
//
// Errors: ErrNone, *OutsideError, and what git says.
func (r Review) Keep(ctx context.Context, n int, paths []string, kept bool) ([]string, error) {
	within, err := r.in.book.within(paths)
	if err != nil {
		return nil, err
	}
	release, err := r.in.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	snapshots, err := r.in.snapshots()
	if err != nil {
		return nil, err
	}
	marks, err := r.marks()
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	to := len(snapshots) - 1
	if n >= 0 {
		to = at(snapshots, n)
	}
	for path, m := range marks { // also of what is as before the loop again
		if covers(within, r.in.book.prefix()+path) && (!kept || m.place <= to) {
			delete(marks, path)
			done[path] = !kept
		}
	}
	if kept {
		changed, err := Diff(r).entries(ctx, snapshots[0].tree, snapshots[to].tree, within)
		if err != nil {
			return nil, err
		}
		for path, e := range changed {
			done[path] = true
			if _, later := marks[path]; !later {
				marks[path] = mark{e.new, to}
			}
		}
	}
	maps.DeleteFunc(done, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(done)), r.writeMarks(marks)
}

// KeepText marks a part of what changed in a file as reviewed: text is the file, as a checkout would
// write it, with that part and without what is still to review. It says whether that is all.
//
// Errors: ErrNone, *OutsideError, *TooLargeError, ErrUnchanged, and what git says.
func (r Review) KeepText(ctx context.Context, path string, text []byte) (all bool, err error) {
	if len(text) > MaxContent {
		return false, &TooLargeError{path}
	}
	within, err := r.in.book.within([]string{path})
	if err != nil {
		return false, err
	}
	release, err := r.in.hold(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	snapshots, err := r.in.snapshots()
	if err != nil {
		return false, err
	}
	last := snapshots[len(snapshots)-1]
	changed, err := Diff(r).entries(ctx, snapshots[0].tree, last.tree, within)
	if err != nil {
		return false, err
	}
	name := strings.TrimPrefix(strings.Join(within, ""), r.in.book.prefix())
	e, ok := changed[name]
	if !ok {
		return false, fmt.Errorf("%q: %w", path, ErrUnchanged)
	}
	oid, err := r.in.git.Text(ctx, text, "hash-object", "--stdin", "--path="+within[0])
	if err != nil {
		return false, err
	}
	marks, err := r.marks()
	if err != nil {
		return false, err
	}
	if all = oid == e.new.oid; all {
		marks[name] = mark{e.new, last.place}
	} else {
		marks[name] = mark{version{cmp.Or(e.new.mode, e.old.mode), oid}, inPart}
		if err := r.in.writeOwn(partName(name), text); err != nil {
			return false, fmt.Errorf("writing what was kept: %w", err)
		}
	}
	return all, r.writeMarks(marks)
}

// ErrUnchanged says that the loop changed nothing in a file.
var ErrUnchanged = errors.New("the loop changed nothing there")

// covers says whether a path is one of paths, or below one; none are all.
func covers(paths []string, path string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+"/")
	})
}

// markKept says of each file whether the user has reviewed it as it is in the
// snapshot to, or later.
func (r Review) markKept(files []File, to int) error {
	marks, err := r.marks()
	if err != nil {
		return err
	}
	for i, f := range files {
		m, ok := marks[f.Path]
		files[i].Kept = ok && (m.version == f.version || m.place >= to)
	}
	return nil
}
