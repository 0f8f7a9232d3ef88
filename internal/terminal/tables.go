package terminal

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// tables makes tables, as GitHub's markdown has them, from the paragraphs they
// are in. goldmark could too, in a package with patterns for links, whose
// compilation would cost every start of the sidecar a sixth of its time.
type tables struct{}

// Transform is goldmark's call for each paragraph. The row above the one of dashes is the table's head; the text
// before it stays a paragraph.
func (tables) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, lines := reader.Source(), p.Lines()
	for i := 1; i < lines.Len(); i++ {
		columns := len(cellsOf(lines.At(i-1), source))
		if !isRuleOf(cellsOf(lines.At(i), source), columns, source) {
			continue
		}
		table := extast.NewTable()
		table.AppendChild(table, extast.NewTableHeader(row(lines.At(i-1), source, columns)))
		for _, line := range lines.Sliced(i+1, lines.Len()) {
			table.AppendChild(table, row(line, source, columns))
		}
		p.Parent().InsertAfter(p.Parent(), p, table)
		if lines.SetSliced(0, i-1); lines.Len() == 0 {
			p.Parent().RemoveChild(p.Parent(), p)
			return
		}
		last := lines.At(i - 2)
		lines.Set(i-2, last.TrimRightSpace(source))
		return
	}
}

// isRuleOf says whether the cells are the dashes under a head of so many columns.
func isRuleOf(cells []text.Segment, columns int, source []byte) bool {
	for _, cell := range cells {
		dashes := bytes.TrimSuffix(bytes.TrimPrefix(cell.Value(source), []byte{':'}), []byte{':'})
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return false
		}
	}
	return columns > 0 && len(cells) == columns
}

// row makes a row of so many cells: missing ones are empty, further ones are dropped.
func row(line text.Segment, source []byte, columns int) *extast.TableRow {
	r := extast.NewTableRow(nil)
	cells := cellsOf(line, source)
	for column := range columns {
		cell := extast.NewTableCell()
		if column < len(cells) {
			cell.Lines().Append(cells[column])
		}
		r.AppendChild(r, cell)
	}
	return r
}

// cellsOf splits a line at its bars, but for escaped ones. A line without a bar
// has no cells.
func cellsOf(line text.Segment, source []byte) (cells []text.Segment) {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	start := line.Start
	add := func(end int) {
		cell := text.NewSegment(start, end)
		cell = cell.TrimLeftSpace(source)
		cells = append(cells, cell.TrimRightSpace(source))
	}
	for at := line.Start; at < line.Stop; at++ {
		if source[at] != '|' || at > line.Start && source[at-1] == '\\' {
			continue
		}
		if at > line.Start { // the outer bars have nothing outside
			add(at)
		}
		start = at + 1
	}
	if start > line.Start && start < line.Stop {
		add(line.Stop)
	}
	return cells
}
