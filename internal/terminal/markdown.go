package terminal

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Markdown renders markdown for a terminal. It prints HTML as it is written:
// the tags of agents mean something to their reader.
type Markdown struct {
	parser  parser.Parser
	palette Palette
}

// tablesPriority comes after goldmark's own transformer, of link definitions.
const tablesPriority = 200

func NewMarkdown(p Palette) *Markdown {
	return &Markdown{parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(tables{}, tablesPriority))...),
	), p}
}

// Render returns the lines of source, wrapped at width cells. Source must be
// plain already: what it holds goes to the terminal.
func (m *Markdown) Render(source string, width int) []string {
	src := []byte(source)
	r := mdRun{m.palette, src}
	return r.blocks(m.parser.Parse(text.NewReader(src)), max(width, 20))
}

// mdRun is the rendering of one source.
type mdRun struct {
	palette Palette
	src     []byte
}

// blocks renders the children of a container, with a blank line between them.
func (r mdRun) blocks(parent ast.Node, width int) []string {
	var lines []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() && n.Kind() != ast.KindTextBlock && n.PreviousSibling().Kind() != ast.KindTextBlock {
			lines = append(lines, "")
		}
		lines = append(lines, r.block(n, width)...)
	}
	return lines
}

func (r mdRun) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		code := sgrBold
		if n.Level <= 2 {
			code = sgrBold + ";" + sgrCyan
		}
		title := r.inline(n, code)
		if !r.palette.On {
			title = append([]piece{{strings.Repeat("#", n.Level) + " ", ""}}, title...)
		}
		return r.wrap(title, width)
	case *ast.List:
		return r.list(n, width)
	case *ast.Blockquote:
		return prefixed(r.blocks(n, width-2), r.palette.Dim("│ "), r.palette.Dim("│ "))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return r.code(n)
	case *ast.ThematicBreak:
		return []string{r.palette.Dim(strings.Repeat("─", min(width, 40)))}
	case *ast.HTMLBlock:
		return r.htmlBlock(n)
	case *extast.Table:
		return r.table(n)
	}
	return r.wrap(r.inline(n, ""), width)
}

func (r mdRun) list(list *ast.List, width int) []string {
	var lines []string
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if list.IsOrdered() {
			marker = fmt.Sprintf("%d. ", number)
			number++
		}
		body := r.blocks(item, width-len(marker))
		if !list.IsTight && item != list.FirstChild() {
			lines = append(lines, "")
		}
		lines = append(lines, prefixed(body, r.palette.Cyan(marker), strings.Repeat(" ", Cells(marker)))...)
	}
	return lines
}

// code keeps its lines as they are: a wrapped command can't be copied.
func (r mdRun) code(n ast.Node) []string {
	var lines []string
	for _, line := range r.rawLines(n.Lines()) {
		lines = append(lines, r.palette.Cyan(line))
	}
	return prefixed(lines, "    ", "    ")
}

func (r mdRun) htmlBlock(n *ast.HTMLBlock) []string {
	lines := r.rawLines(n.Lines())
	if n.HasClosure() {
		lines = append(lines, strings.TrimRight(string(n.ClosureLine.Value(r.src)), "\n"))
	}
	return lines
}

func (r mdRun) rawLines(segments *text.Segments) []string {
	var lines []string
	for i := range segments.Len() {
		segment := segments.At(i)
		lines = append(lines, strings.ReplaceAll(strings.TrimRight(string(segment.Value(r.src)), "\n"), "\t", "    "))
	}
	return lines
}

// table renders with columns as wide as their widest cell.
func (r mdRun) table(table *extast.Table) []string {
	var rows [][]string
	var widths []int
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var shown []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			code := ""
			if row == table.FirstChild() {
				code = sgrBold
			}
			content := strings.Join(r.wrap(r.inline(cell, code), 1<<20), " ")
			if len(shown) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(shown)] = max(widths[len(shown)], Cells(content))
			shown = append(shown, content)
		}
		rows = append(rows, shown)
	}
	var lines []string
	for i, row := range rows {
		for column, content := range row {
			row[column] = content + strings.Repeat(" ", widths[column]-Cells(content))
		}
		lines = append(lines, strings.TrimRight(strings.Join(row, r.palette.Dim(" │ ")), " "))
		if i == 0 {
			lines = append(lines, r.palette.Dim(rule(widths)))
		}
	}
	return lines
}

func rule(widths []int) string {
	var parts []string
	for _, width := range widths {
		parts = append(parts, strings.Repeat("─", width))
	}
	return strings.Join(parts, "─┼─")
}

// with adds a code to another.
func with(code, more string) string { return strings.TrimPrefix(code+";"+more, ";") }

// piece is text in one style. A piece that is "\n" ends the line.
type piece struct {
	text string
	code string // of the palette
}

// inline flattens the inline content of n.
func (r mdRun) inline(n ast.Node, code string) []piece {
	var pieces []piece
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		pieces = append(pieces, r.inlineNode(c, code)...)
	}
	return pieces
}

func (r mdRun) inlineNode(n ast.Node, code string) []piece {
	switch n := n.(type) {
	case *ast.Text:
		return r.textNode(n, code)
	case *ast.CodeSpan:
		content := textOf(r.inline(n, ""))
		if !r.palette.On {
			return []piece{{"`" + content + "`", code}}
		}
		return []piece{{content, with(code, sgrCyan)}}
	case *ast.Emphasis:
		if n.Level == 2 {
			return r.inline(n, with(code, sgrBold))
		}
		return r.inline(n, with(code, sgrItalic))
	case *ast.Link:
		return r.link(r.inline(n, with(code, sgrUnder)), string(n.Destination), code)
	case *ast.Image:
		return r.link(r.inline(n, code), string(n.Destination), code)
	case *ast.AutoLink:
		return []piece{{string(n.URL(r.src)), with(code, sgrUnder)}}
	case *ast.RawHTML:
		return []piece{{string(n.Segments.Value(r.src)), code}}
	}
	return r.inline(n, code)
}

// textNode resolves escapes and entities, which may spell control characters,
// so the result is made plain again.
func (r mdRun) textNode(n *ast.Text, code string) []piece {
	value := string(n.Value(r.src))
	if !n.IsRaw() && n.Parent().Kind() != ast.KindCodeSpan {
		value = stream.Sanitize(html.UnescapeString(string(util.UnescapePunctuations([]byte(value)))))
	}
	pieces := []piece{{strings.ReplaceAll(value, "\n", " "), code}}
	switch {
	case n.HardLineBreak():
		return append(pieces, piece{"\n", ""})
	case n.SoftLineBreak():
		return append(pieces, piece{" ", ""})
	}
	return pieces
}

// textOf is what pieces say.
func textOf(pieces []piece) (text string) {
	for _, p := range pieces {
		text += p.text
	}
	return text
}

// link shows where a link leads, unless its text says so already.
func (r mdRun) link(label []piece, destination, code string) []piece {
	shown := textOf(label)
	if destination == "" || shown != "" && strings.Contains(destination, shown) {
		return label
	}
	return append(label, piece{" (" + destination + ")", with(code, sgrDim)})
}

// wrap breaks pieces into lines of at most width cells. Of several blanks one is left.
func (r mdRun) wrap(pieces []piece, width int) []string {
	var lines []string
	var line []piece
	endLine := func() {
		lines = append(lines, Parts(Wrapped(r.paint(line), width, 0))...)
		line = nil
	}
	isGap := true // nothing stands in the line, or a blank does
	for _, p := range pieces {
		if p.text == "\n" {
			endLine()
			isGap = true
			continue
		}
		text := strings.Map(func(c rune) rune {
			wasGap := isGap
			switch isGap = unicode.IsSpace(c); {
			case isGap && wasGap:
				return -1
			case isGap:
				return ' '
			}
			return c
		}, p.text)
		line = append(line, piece{text, p.code})
	}
	if len(line) > 0 || len(lines) == 0 {
		endLine()
	}
	return lines
}

// paint colours a line, with neighbours of one style together.
func (r mdRun) paint(line []piece) string {
	var b, run strings.Builder
	for i, p := range line {
		run.WriteString(p.text)
		if i+1 == len(line) || line[i+1].code != p.code {
			b.WriteString(r.palette.paint(p.code, run.String()))
			run.Reset()
		}
	}
	return b.String()
}

// prefixed puts first in front of the first line, and rest in front of the others.
func prefixed(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		out[i] = strings.TrimRight(prefix+line, " ")
	}
	return out
}
