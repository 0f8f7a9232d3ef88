package top

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

const (
	besideFrom = 70 // columns, from which on files stand beside the hunks of the chosen one
	minFiles   = 28 // columns that they have there
)

// changed is what a loop changed: its files, and how one of them differs.
type changed struct {
	files []changes.File
	patch func(context.Context, changes.File) string
}

// changesOf reads the changes of an iteration; 0: of the loop.
func changesOf(s loop.Status, iteration int) (c changed, err error) {
	work, err := new(service.Service).Work(context.Background(), service.Which{LoopID: s.LoopID, Folders: []string{s.Folder}})
	if err != nil {
		return c, err
	}
	during := changes.Range{To: changes.Latest}
	if iteration > 0 {
		during = changes.Range{From: iteration - 1, To: iteration}
	}
	files, err := work.Files(context.Background(), during, nil)
	return changed{files, func(ctx context.Context, f changes.File) string {
		paths := []string{f.Path}
		if f.From != "" {
			paths = append(paths, f.From)
		}
		patch, err := work.Patch(ctx, during, paths)
		if err != nil {
			return err.Error()
		}
		return string(patch[:min(len(patch), maxPrinted)])
	}}, err
}

// tree is the files that a page tells of, by folders. The page's text is how the chosen one differs.
type tree struct {
	changed
	at      int
	lines   []treeLine
	reading sync.Mutex         // one file is read at a time
	stop    context.CancelFunc // ends the read of the chosen one
}

// treeLine is a row of a tree.
type treeLine struct {
	folder string
	file   int // which of the files; -1: it is the folder
}

func newTree(c changed) *tree {
	slices.SortFunc(c.files, func(a, b changes.File) int {
		return cmp.Or(cmp.Compare(path.Dir(a.Path), path.Dir(b.Path)), cmp.Compare(a.Path, b.Path))
	})
	t := &tree{changed: c, stop: func() {}}
	folder := "."
	for i, f := range c.files {
		if dir := path.Dir(f.Path); dir != folder {
			folder = dir
			t.lines = append(t.lines, treeLine{dir, -1})
		}
		t.lines = append(t.lines, treeLine{folder, i})
	}
	return t
}

// hunksMsg is how a page's file differs.
type hunksMsg struct {
	page *page
	at   int
	text string
}

// hunks is how a file differs, without the lines that name it.
func (t *tree) hunks(ctx context.Context, f changes.File) string {
	if f.Binary {
		return "a binary file"
	}
	var kept []string
	inHead := true
	for line := range strings.Lines(t.patch(ctx, f)) {
		if inHead = inHead && !strings.HasPrefix(line, "@@"); inHead && isHead(line) {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

func isHead(line string) bool {
	return slices.ContainsFunc([]string{"diff --git ", "index ", "--- ", "+++ "},
		func(begin string) bool { return strings.HasPrefix(line, begin) })
}

// choose goes to another file, and reads it in place of the one before.
func (g *page) choose(by int) []effect {
	t := g.tree
	to := max(min(t.at+by, len(t.files)-1), 0)
	if to == t.at {
		return nil
	}
	t.stop()
	ctx, stop := context.WithCancel(context.Background())
	t.at, t.stop, g.text, g.top = to, stop, "…", 0
	return []effect{func() message {
		t.reading.Lock()
		defer t.reading.Unlock()
		if ctx.Err() != nil {
			return nil
		}
		text := t.hunks(ctx, t.files[to])
		if ctx.Err() != nil { // it is only a part
			return nil
		}
		return hunksMsg{g, to, text}
	}}
}

// rows returns the rows of the tree that are shown: a folder, and its files below it.
func (t *tree) rows(p terminal.Palette, width, height int) []string {
	at := slices.IndexFunc(t.lines, func(l treeLine) bool { return l.file == t.at })
	first := firstShown(at, len(t.lines), height)
	var rows []string
	for _, l := range t.lines[first:min(first+height, len(t.lines))] {
		rows = append(rows, t.row(l, p, width))
	}
	return padded(rows, height)
}

func (t *tree) row(l treeLine, p terminal.Palette, width int) string {
	if l.file < 0 {
		return "  " + p.Cyan(terminal.Fit(terminal.Line(l.folder)+"/", width-2))
	}
	f, indent := t.files[l.file], "  "
	if l.folder != "." {
		indent = "    "
	}
	name := path.Base(f.Path)
	if f.From != "" {
		name = path.Base(f.From) + " -> " + name
	}
	kind := strings.ToUpper(string(f.Status[:1])) // as git's short status has it
	counts := " · " + answers.FileText(f)
	row := terminal.Fit(indent+kind+" "+terminal.Line(name), width-terminal.Cells(counts)) + counts
	if l.file == t.at {
		row = p.Yellow("> ") + p.Bold(strings.TrimPrefix(row, "  "))
	}
	return row
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
