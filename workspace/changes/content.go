package changes

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Content is a file as a snapshot has it.
type Content struct {
	Data   []byte // as a checkout would write it; of a link, where it leads
	Absent bool   // there was no such file
}

// MaxContent is how many bytes of a file, or of a patch, are read at most.
const MaxContent = 16 << 20

// TooLargeError says that a file has more than MaxContent bytes.
type TooLargeError struct{ Path string }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%q can't be shown: it has more than %d MiB", e.Path, MaxContent>>20)
}

// Reviewed as an iteration is the file as the user has kept it last, else as it
// was before the loop.
const Reviewed = -2

// Content reads a file as it was after iteration n: 0 is before the loop, and
// Latest the last snapshot.
//
// Errors: ErrNone, *OutsideError, *TooLargeError, and what git says.
func (d Diff) Content(ctx context.Context, n int, path string) (Content, error) {
	return d.read(ctx, path, func(snapshots []snapshot, name string) (tree string, err error) {
		switch n {
		case Latest:
			return snapshots[len(snapshots)-1].tree, nil
		case Reviewed:
			marks, err := Review(d).marks()
			if m, ok := marks[name]; ok && m.place == inPart {
				return "", err
			} else if ok {
				return snapshots[min(max(m.place, 0), len(snapshots)-1)].tree, err
			}
			return snapshots[0].tree, err
		}
		return snapshots[at(snapshots, n)].tree, nil
	})
}

// ContentBefore reads a file as iteration n has found it.
func (d Diff) ContentBefore(ctx context.Context, n int, path string) (Content, error) {
	return d.read(ctx, path, func(snapshots []snapshot, _ string) (string, error) {
		from, _ := ends(snapshots, Range{n - 1, n})
		return from.tree, nil
	})
}

// read reads a file of the chosen tree; without one: of the state that the user has reviewed. Its size is known
// before it is read; the size after a filter isn't.
func (d Diff) read(ctx context.Context, path string, treeFor func(snapshots []snapshot, name string) (string, error)) (Content, error) {
	within, snapshots, err := d.chosen(ctx, []string{path})
	if err == nil && len(within) == 0 {
		err = &OutsideError{path}
	}
	if err != nil {
		return Content{}, err
	}
	name := strings.TrimPrefix(within[0], d.in.book.prefix())
	tree, err := treeFor(snapshots, name)
	if err != nil {
		return Content{}, err
	}
	if tree == "" {
		data, err := regular.Read(filepath.Join(d.in.home, partName(name)), MaxContent)
		return Content{Data: data}, err
	}
	out, err := d.in.git.Run(ctx, nil, "ls-tree", "-z", "-l", tree, "--", within[0])
	if err != nil {
		return Content{}, lost(err)
	}
	entry, found, _ := strings.Cut(string(out), "\t") // "100644 blob oid    size"
	words := strings.Fields(entry)
	if len(words) != 4 || strings.TrimSuffix(found, "\x00") != within[0] || words[1] != "blob" {
		return Content{Absent: true}, nil
	}
	if size, err := strconv.ParseInt(words[3], 10, 64); err != nil || size > MaxContent {
		return Content{}, &TooLargeError{path}
	}
	if words[0] == symlink {
		data, err := d.in.git.Run(ctx, nil, "cat-file", "blob", words[2])
		return Content{Data: data}, err
	}
	data, all, err := d.in.git.UpTo(MaxContent).RunSome(ctx, "cat-file", "--filters", "--path="+within[0], words[2])
	if err == nil && !all {
		err = &TooLargeError{path}
	}
	return Content{Data: data}, err
}

// WritePatch writes the changes into a file beside the snapshots, for people to read, and returns its path. head is
// its first line. Text behind MaxContent bytes is left out, and the last line says so.
func (d Diff) WritePatch(ctx context.Context, r Range, paths []string, head string) (string, error) {
	patch, all, err := d.Text(ctx, r, paths, MaxContent)
	if err != nil {
		return "", err
	}
	text := head + "\n\n" + string(patch)
	if !all {
		text = text[:strings.LastIndexByte(text, '\n')+1] + "\nThe rest is left out: it is too long. git diff shows it all.\n"
	}
	name := "changes.patch"
	if r.To > 0 && r.From == r.To-1 {
		name = fmt.Sprintf("iteration-%d.patch", r.To)
	}
	if err := d.in.writeOwn(name, []byte(text)); err != nil {
		return "", fmt.Errorf("writing the patch: %w", err)
	}
	return filepath.Join(d.in.home, name), nil
}

// Text returns what changed as text for people, at most so many bytes of it. all says
// that nothing is left out.
func (d Diff) Text(ctx context.Context, r Range, paths []string, most int) (diff []byte, all bool, err error) {
	from, to, within, err := d.ends(ctx, r, paths)
	if err != nil {
		return nil, false, err
	}
	return d.diff(ctx, most, []string{"-p", "-M", "--no-color"}, from, to, within)
}

// Iteration is how much an iteration changed.
type Iteration struct {
	Number int
	Summary
}

// Iterations are those in a range that changed something, the first one first.
func (d Diff) Iterations(ctx context.Context, r Range, paths []string) ([]Iteration, error) {
	within, snapshots, err := d.chosen(ctx, paths)
	if err != nil {
		return nil, err
	}
	var found []Iteration
	var pairs strings.Builder
	last := 0
	for _, st := range snapshots {
		if n := st.Number; st.isWork() && n > max(last, r.From) && (r.To < 0 || n <= r.To) {
			last = n
			from, to := ends(snapshots, Range{n - 1, n})
			fmt.Fprintf(&pairs, "%s %s\n", from.tree, to.tree)
			found = append(found, Iteration{Number: n})
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	out, err := d.in.git.Run(ctx, []byte(pairs.String()), d.in.book.diffArgs([]string{"--stdin", "-M", "--numstat"}, "", "", within)...)
	if err != nil {
		return nil, lost(err)
	}
	at := -1
	for line := range strings.Lines(string(out)) { // "tree tree", and below it "1\t2\tpath"
		counts := strings.SplitN(line, "\t", 3)
		switch {
		case len(counts) < 3:
			at++
		case at < len(found):
			added, _ := strconv.Atoi(counts[0])
			removed, _ := strconv.Atoi(counts[1])
			sum := &found[at].Summary
			*sum = Summary{sum.Files + 1, sum.Added + added, sum.Removed + removed}
		}
	}
	changed := found[:0]
	for _, it := range found {
		if it.Files > 0 {
			changed = append(changed, it)
		}
	}
	return changed, nil
}
