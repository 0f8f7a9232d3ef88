package top

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

const (
	besideFrom = 70 // columns, from which on files stand beside the hunks of the chosen one
	minFiles   = 28 // columns that they have there
)

// changed is what a loop changed: its files, and how one of them differs.
type changed struct {
	files []changes.File
	patch func(changes.File) string
}

// changesOf reads what an iteration changed; 0: what the loop did.
func changesOf(s loop.Status, iteration int) (c changed, err error) {
	work, err := new(service.Service).Work(context.Background(), service.Which{LoopID: s.LoopID, Folders: []string{s.Folder}})
	if err != nil {
		return c, err
	}
	during := changes.Range{To: changes.Latest}
	if iteration > 0 {
		during = changes.Range{From: iteration - 1, To: iteration}
	}
	found, err := work.Changes(context.Background(), service.ChangesRequest{Range: during})
	return changed{found.Files, func(f changes.File) string {
		paths := []string{f.Path}
		if f.From != "" {
			paths = append(paths, f.From)
		}
		patch, err := work.Patch(context.Background(), during, paths)
		if err != nil {
			return err.Error()
		}
		return string(patch[:min(len(patch), maxPrinted)])
	}}, err
}

// tree is the files that a page tells of, by folders. The page's text is how the chosen one differs.
type tree struct {
	changed
	at int
}

func newTree(c changed) *tree {
	slices.SortFunc(c.files, func(a, b changes.File) int {
		return cmp.Or(cmp.Compare(path.Dir(a.Path), path.Dir(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	return &tree{changed: c}
}

// hunksMsg is how a page's file differs.
type hunksMsg struct {
	page *page
	at   int
	text string
}

// hunks is how the chosen file differs, without the lines that name it.
func (t *tree) hunks() string {
	var kept []string
	inHead := true
	for line := range strings.Lines(t.patch(t.files[t.at])) {
		if inHead = inHead && !strings.HasPrefix(line, "@@"); inHead && isHead(line) {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

func isHead(line string) bool {
	return slices.ContainsFunc([]string{"diff --git ", "index ", "--- ", "+++ "}, func(begin string) bool { return strings.HasPrefix(line, begin) })
}

// choose goes to another file, and reads it.
func (g *page) choose(by int) []effect {
	to := max(min(g.tree.at+by, len(g.tree.files)-1), 0)
	if to == g.tree.at {
		return nil
	}
	g.tree.at, g.text, g.top = to, "…", 0
	chosen := *g.tree
	return []effect{func() message { return hunksMsg{g, to, chosen.hunks()} }}
}

// rows are those of the tree that are shown: a folder, and its files below it.
func (t *tree) rows(p terminal.Palette, width, height int) []string {
	var rows []string
	at, folder := 0, "."
	for i, f := range t.files {
		indent := "  "
		if dir := path.Dir(f.Path); dir != folder {
			folder = dir
			rows = append(rows, "  "+p.Cyan(terminal.Fit(terminal.Line(dir)+"/", width-2)))
		}
		if folder != "." {
			indent = "    "
		}
		name := path.Base(f.Path)
		if f.From != "" {
			name = path.Base(f.From) + " -> " + name
		}
		kind := strings.ToUpper(string(f.Status[:1])) // as git's short status has it
		counts := " · " + answers.FileText(f)
		row := terminal.Fit(indent+kind+" "+terminal.Line(name), width-terminal.Cells(counts)) + counts
		if i == t.at {
			at = len(rows)
			row = p.Yellow("> ") + p.Bold(strings.TrimPrefix(row, "  "))
		}
		rows = append(rows, row)
	}
	first := firstShown(at, len(rows), height)
	return padded(rows[first:min(first+height, len(rows))], height)
}

// picture shows the tree beside the hunks of the chosen file, or above them where that is too narrow.
func (t *tree) picture(p terminal.Palette, g *page, width, height int) (rows []string) {
	if width < besideFrom {
		above := max(min(len(t.files)+1, height/3), 1)
		return append(append(t.rows(p, width, above), ""), textRows(p, g.text, width, height-above-1, &g.top)...)
	}
	left := max(width*3/10, minFiles)
	hunks := padded(textRows(p, g.text, width-left-3, height, &g.top), height)
	for i, row := range t.rows(p, left, height) {
		rows = append(rows, filled(row, left)+p.Dim(" │ ")+hunks[i])
	}
	return rows
}
