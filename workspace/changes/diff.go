package changes

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Diff compares the snapshots of a loop, and reads in them.
type Diff struct{ in *archive }

// Status says what became of a file.
type Status string

// The kinds of changes of files.
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Renamed  Status = "renamed"
	Mode     Status = "mode" // only whether it can be executed
)

// File is a file that changed. Paths are relative to the loop's folder, with
// slashes, in whatever bytes they have.
type File struct {
	Path    string `json:"path"`
	Status  Status `json:"status"`
	From    string `json:"from,omitempty"` // its path before, when it was renamed
	Added   int    `json:"added"`          // lines
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
	Kept    bool   `json:"kept,omitempty"` // the user has reviewed it as it is
	Last    bool   `json:"-"`              // no later iteration changed it

	version version // as it is
}

// Sum adds up what changed in files.
func Sum(files []File) Summary {
	sum := Summary{Files: len(files)}
	for _, f := range files {
		sum.Added += f.Added
		sum.Removed += f.Removed
	}
	return sum
}

// Range chooses snapshots: the changes between the ends of two iterations. 0 is the start, and Latest the present.
type Range struct{ From, To int }

// Latest as a Range's To is the last snapshot.
const Latest = -1

// Files lists what changed, by path. paths are files and folders to look at;
// none: all.
//
// Errors: ErrNone, *OutsideError, and what git says.
func (d Diff) Files(ctx context.Context, r Range, paths []string) ([]File, error) {
	within, snapshots, err := d.chosen(ctx, paths)
	if err != nil {
		return nil, err
	}
	from, to := ends(snapshots, r)
	files, err := d.compare(ctx, from.tree, to.tree, within)
	if err != nil {
		return nil, err
	}
	if err := Review(d).markKept(files, to.place); err != nil {
		return nil, err
	}
	return files, d.markLast(ctx, files, snapshots[to.place:])
}

// markLast says of each file whether no iteration has changed it in the snapshots
// behind the first one.
func (d Diff) markLast(ctx context.Context, files []File, snapshots []snapshot) error {
	later := map[string]entry{}
	for _, sp := range spans(snapshots, snapshot.isWork) {
		changed, err := d.entries(ctx, sp.from.tree, sp.to.tree, nil)
		if err != nil {
			return err
		}
		maps.Copy(later, changed)
	}
	for i, f := range files {
		_, again := later[f.Path]
		files[i].Last = !again
	}
	return nil
}

// Patch returns what changed as git writes it, also of binary files.
func (d Diff) Patch(ctx context.Context, r Range, paths []string) ([]byte, error) {
	from, to, within, err := d.ends(ctx, r, paths)
	if err != nil {
		return nil, err
	}
	patch, _, err := d.diff(ctx, 0, []string{"-p", "--binary", "-M", "--no-color"}, from, to, within)
	return patch, err
}

// diff has git print what differs between two trees, at most so many bytes; 0: any number.
func (d Diff) diff(ctx context.Context, most int, how []string, from, to string, within []string) (out []byte, all bool, err error) {
	if from == to {
		return nil, true, nil
	}
	out, all, err = d.in.git.UpTo(most).RunSome(ctx, d.in.book.diffArgs(how, from, to, within)...)
	return out, all, lost(err)
}

// ends are the trees that a range leads from and to, and the paths as git has them.
func (d Diff) ends(ctx context.Context, r Range, paths []string) (from, to string, within []string, err error) {
	within, snapshots, err := d.chosen(ctx, paths)
	if err != nil {
		return "", "", nil, err
	}
	first, last := ends(snapshots, r)
	return first.tree, last.tree, within, nil
}

// ends are the snapshots that a range leads from and to.
func ends(snapshots []snapshot, r Range) (from, to snapshot) {
	if r.To >= 0 && r.From == r.To-1 { // one iteration: without what was changed before it began
		if own := spans(snapshots, func(st snapshot) bool { return st.isWork() && st.Number == r.To }); len(own) > 0 {
			return own[0].from, own[len(own)-1].to
		}
	}
	to = snapshots[len(snapshots)-1]
	if r.To >= 0 {
		to = snapshots[at(snapshots, r.To)]
	}
	return snapshots[at(snapshots, r.From)], to
}

// OutsideError says that a path isn't in the loop's folder.
type OutsideError struct{ Path string }

func (e *OutsideError) Error() string { return fmt.Sprintf("%q is not in the loop's folder", e.Path) }

// within makes git's paths of paths in the folder.
func (b book) within(paths []string) ([]string, error) {
	var within []string
	for _, p := range paths {
		p = path.Clean(filepath.ToSlash(p))
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return nil, &OutsideError{p}
		}
		if p == "." {
			return nil, nil
		}
		within = append(within, b.prefix()+p)
	}
	return within, nil
}

// chosen are git's paths of paths in the folder, and the loop's snapshots.
func (d Diff) chosen(ctx context.Context, paths []string) (within []string, snapshots []snapshot, err error) {
	if within, err = d.in.book.within(paths); err == nil {
		snapshots, err = d.in.snapshots()
	}
	return within, snapshots, err
}

func (b book) diffArgs(how []string, from, to string, within []string) []string {
	args := append([]string{"diff-tree", "-r", "--no-ext-diff", "--no-textconv"}, how...)
	if prefix := b.prefix(); prefix != "" {
		args = append(args, "--relative="+prefix)
	}
	if from != "" {
		args = append(args, from, to)
	}
	if len(within) > 0 {
		args = append(append(args, "--"), within...)
	}
	return args
}

// compare lists what differs between two trees.
func (d Diff) compare(ctx context.Context, from, to string, within []string) ([]File, error) {
	out, _, err := d.diff(ctx, 0, []string{"-z", "-M", "--raw", "--numstat"}, from, to, within)
	if err != nil {
		return nil, err
	}
	files := []File{}
	at := map[string]int{}
	for f := git.Fields(out); len(f) > 0; {
		head := f[0]
		f = f[1:]
		if strings.HasPrefix(head, ":") && len(f) > 0 { // ":100644 100644 oid oid M", "path", of a rename "from", "path"
			entry := entryOf(head)
			file := File{Path: f[0], Status: entry.status(), version: entry.new}
			f = f[1:]
			if file.Status == Renamed && len(f) > 0 {
				file.From, file.Path, f = file.Path, f[0], f[1:]
			}
			at[file.Path] = len(files)
			files = append(files, file)
			continue
		}
		counts := strings.SplitN(head, "\t", 3) // "1\t2\tpath", of a rename "1\t2\t", "from", "path"
		if len(counts) < 3 {
			return nil, fmt.Errorf("git diff-tree: what it prints can't be read: %q", head)
		}
		name := counts[2]
		if name == "" && len(f) > 1 {
			name, f = f[1], f[2:]
		}
		if i, ok := at[name]; ok {
			files[i].Binary = counts[0] == "-"
			files[i].Added, _ = strconv.Atoi(counts[0])
			files[i].Removed, _ = strconv.Atoi(counts[1])
		}
	}
	return files, nil
}

// version is a file in a snapshot; the zero value is none.
type version struct{ mode, oid string }

// entry is a line of a raw diff.
type entry struct {
	old, new version
	isRename bool
}

func entryOf(line string) entry {
	words := append(strings.Fields(strings.TrimPrefix(line, ":")), "", "", "", "", "")
	e := entry{version{words[0], words[2]}, version{words[1], words[3]}, strings.HasPrefix(words[4], "R")}
	switch words[4] {
	case "A":
		e.old = version{}
	case "D":
		e.new = version{}
	}
	return e
}

func (e entry) status() Status {
	switch none := (version{}); {
	case e.old == none:
		return Added
	case e.new == none:
		return Deleted
	case e.isRename:
		return Renamed
	case e.old.oid == e.new.oid:
		return Mode
	}
	return Modified
}

// entries are what differs between two trees, by path in the folder.
func (d Diff) entries(ctx context.Context, from, to string, within []string) (map[string]entry, error) {
	out, _, err := d.diff(ctx, 0, []string{"-z", "--raw", "--no-renames"}, from, to, within)
	if err != nil {
		return nil, err
	}
	found := map[string]entry{}
	for f := git.Fields(out); len(f) > 1; f = f[2:] {
		found[f[1]] = entryOf(f[0])
	}
	return found, nil
}
