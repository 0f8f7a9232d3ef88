package answers

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Description is what a pull request says of loops.
type Description struct {
	Title string // one line, no Markdown
	Body  string // Markdown
}

// String is it as text: the title, an empty line, the body.
func (d Description) String() string { return d.Title + "\n\n" + d.Body }

// Work is what a loop did.
type Work struct {
	Receipt wire.Receipt
	Changes []worktree.Change
}

// What bounds a description: its title in runes, and the files of a loop that it names.
const (
	maxSubject = 72
	maxNamed   = 50
)

// unsaid are the rows of a receipt that a description has in another form, or that are of interest
// only to who can let the loop go on.
var unsaid = map[string]bool{"Ended": true, "Changed": true, "Goes on": true}

// Describe writes title and body of a pull request with what loops did. Whatever an agent may have
// written stands in quotes or as code, so it is no heading, link, mention or HTML of ours.
func Describe(loops ...Work) (d Description) {
	var b strings.Builder
	for i, w := range loops {
		title := stream.Line(cmp.Or(w.Receipt.Title, w.Receipt.LoopID), maxSubject)
		if len(loops) > 1 {
			fmt.Fprintf(&b, "## %s\n\n", code(title))
		}
		if i == 0 {
			d.Title = title
		}
		w.describe(&b)
	}
	if more := len(loops) - 1; more > 0 {
		also := fmt.Sprintf(", and %d more", more)
		d.Title = stream.Line(d.Title, maxSubject-len(also)) + also
	}
	d.Body = strings.TrimRight(b.String(), "\n") + "\n"
	return d
}

func (w Work) describe(b *strings.Builder) {
	var rows strings.Builder
	label := ""
	for _, row := range w.Receipt.Rows {
		label = cmp.Or(row.Label, label) // one without goes on with the one above
		switch {
		case label == "Asked": // a comment in HTML that isn't closed would hide all that comes behind the quote
			fmt.Fprintf(b, "> %s\n", strings.ReplaceAll(wire.Whole(row.Text), "<", "&lt;"))
		case !unsaid[label]:
			fmt.Fprintf(&rows, "- %s: %s\n", label, code(row.Text))
		}
	}
	files := make([]changes.File, len(w.Changes))
	for i, c := range w.Changes {
		files[i] = changes.File{Path: c.Path, Added: c.Added, Removed: c.Removed, Binary: c.Binary}
	}
	if issue, ok := history.IssueOf(w.Receipt.Prompt); ok && issue.Fixes() != "" {
		fmt.Fprintf(b, "\n%s\n", issue.Fixes())
	}
	fmt.Fprintf(b, "\n%s- Changes: %s\n", &rows, SumText(changes.Sum(files)))
	for _, f := range files[:min(len(files), maxNamed)] {
		fmt.Fprintf(b, "  - %s %s\n", code(PathText(f.Path)), FileText(f))
	}
	if more := len(files) - maxNamed; more > 0 {
		fmt.Fprintf(b, "  - and %s\n", format.Counted(more, "more file"))
	}
	b.WriteByte('\n')
}

// code is a text as Markdown's code, in one line, whatever it has.
func code(text string) string {
	text = wire.Whole(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}
