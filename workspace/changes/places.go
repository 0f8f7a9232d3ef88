package changes

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/internal/git"
)

// Place is where lines of a file changed.
type Place struct {
	Line    int    // where to look in the file as the last snapshot has it, from 1
	Added   int    // lines
	Removed int    // lines
	Text    string // the first line that was added, else the first that was removed
}

// maxPlaces bounds the places of one file: nobody walks through more.
const maxPlaces = 100

// Places finds where text files changed, by path. Other changes have no place. Its errors are those of Files.
func (d Diff) Places(ctx context.Context, r Range, paths []string) (map[string][]Place, error) {
	from, to, within, err := d.ends(ctx, r, paths)
	if err != nil {
		return nil, err
	}
	changed, err := d.hunks(ctx, from, to, within)
	if err != nil {
		return nil, err
	}
	since := map[string][]git.Hunk{}
	if r.To >= 0 {
		if from, to, _, err = d.ends(ctx, Range{From: r.To, To: Latest}, nil); err != nil {
			return nil, err
		}
		if since, err = d.hunks(ctx, from, to, within); err != nil {
			return nil, err
		}
	}
	found := map[string][]Place{}
	for path, hunks := range changed {
		for _, h := range hunks[:min(len(hunks), maxPlaces)] {
			line := max(moved(h.NewAt, since[path]), 1)
			found[path] = append(found[path], Place{Line: line, Added: h.Added, Removed: h.Removed, Text: h.Text})
		}
	}
	return found, nil
}

// moved is where a line is after later changes.
func moved(line int, since []git.Hunk) int {
	now := line
	for _, h := range since {
		if line >= h.OldAt+max(h.Removed, 1) {
			now += h.Added - h.Removed
		}
	}
	return now
}

// hunks are what differs between two trees, by the path in the second one.
func (d Diff) hunks(ctx context.Context, from, to string, within []string) (map[string][]git.Hunk, error) {
	out, _, err := d.diff(ctx, MaxContent, append([]string{"-M"}, git.HunkArgs...), from, to, within)
	if err != nil {
		return nil, err
	}
	return git.Hunks(out)
}
