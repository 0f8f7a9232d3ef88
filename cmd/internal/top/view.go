package top

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

const (
	wideFrom  = 110 // columns, from which on the loops stand beside the story
	gutter    = 2   // columns before a story's lines
	feet      = 2   // rows at the bottom: the last message, and the keys
	minWidth  = 30
	minHeight = 8
)

// picture is what is on the screen.
type picture struct {
	rows        []string
	width       int
	row, column int // of the cursor; -1: it isn't shown
}

// listWidth is how many of them the loops have there.
func (m *model) listWidth() int { return max(40, m.width*3/10) }

// mainWidth returns the width of the part that shows one loop.
func (m *model) mainWidth() int {
	if m.width >= wideFrom {
		return m.width - m.listWidth() - 3
	}
	return m.width
}

func (m *model) storyWidth() int { return max(m.mainWidth()-gutter, 10) }

// picture draws all of it.
func (m *model) picture() picture {
	p := picture{width: m.width, row: -1, column: -1}
	if m.width < minWidth || m.height < minHeight {
		p.rows = padded([]string{"too small"}, m.height)
		return p
	}
	height := m.height - feet
	if m.width >= wideFrom {
		bar := m.palette.Dim(" │ ")
		list, main := padded(m.listed(height, 2), height), m.main(height)
		for i, row := range list {
			p.rows = append(p.rows, filled(row, m.listWidth())+bar+main[i])
		}
	} else {
		list := m.listed(m.loops.height(height), 1)
		p.rows = append(list, m.main(height-len(list))...)
	}
	foot, column := m.foot()
	if column >= 0 {
		p.row, p.column = m.height-feet, min(column, m.width-1)
	}
	p.rows = append(p.rows, foot, m.keys())
	return p
}

func padded(rows []string, height int) []string {
	for len(rows) < height {
		rows = append(rows, "")
	}
	return rows[:height]
}

// filled is a row of a width.
func filled(row string, width int) string {
	row = terminal.Fit(row, width)
	return row + strings.Repeat(" ", max(width-terminal.Cells(row), 0))
}

// firstShown is which of n rows are shown so that one of them is.
func firstShown(at, n, height int) (first int) {
	return max(min(at-height/2, n-height), 0)
}

// named is a loop's name in the list, with how it stands in front.
func (m *model) named(st loop.Status, isAt bool) string {
	here, name := "  ", nameOf(st)
	switch {
	case isAt && m.inStory:
		here = "> "
	case isAt:
		here, name = m.palette.Yellow("> "), m.palette.Bold(name)
	}
	return here + markOf(m.palette, st) + " " + name
}

func nameOf(st loop.Status) string { return terminal.Line(filepath.Base(st.Folder)) }

// markOf tells at a glance how a loop stands.
func markOf(p terminal.Palette, st loop.Status) string {
	l := wire.StatusOf(st, false)
	class := l.Class
	if l.Last != nil {
		class = l.Last.Class
	}
	switch {
	case len(l.Questions) > 0:
		return p.Yellow("?")
	case l.Busy:
		return p.Cyan("●")
	case l.Live:
		return p.Yellow("‖")
	case class == loop.ClassOK:
		return p.Green("✓")
	case class == loop.ClassError:
		return p.Red("✗")
	}
	return p.Yellow("■")
}

// isTurning says whether the line of a loop that is shown moves by itself. All else is drawn with each list of loops.
func isTurning(st loop.Status, isShown bool) bool {
	return isShown && st.Iteration > 0 && !st.State.Over() && st.State != loop.StatePaused
}

// main shows one loop, or what stands in its place.
func (m *model) main(height int) []string {
	s, ok := m.seen()
	st := stands(s, m.now())
	width := m.mainWidth()
	title := "── ralph-lsp top "
	if ok {
		title = "── " + terminal.Fit(terminal.Line(wire.JoinFacts(nameOf(st), terminal.TitleOf(st))), width-8) + " "
	}
	title += strings.Repeat("─", max(width-terminal.Cells(title), 0))
	rows := []string{m.palette.Dim(title)}
	if m.inStory {
		rows[0] = m.palette.Bold(title)
	}
	switch {
	case m.choice != nil:
		return append(rows, m.choice.picture(m.palette, width, height-1)...)
	case m.page != nil:
		return append(rows, m.page.picture(m.palette, width, height-1)...)
	case !ok:
		return padded(rows, height)
	}
	last := terminal.LiveLine(st, m.frame, m.now(), width, m.palette)
	if last == "" {
		last = markOf(m.palette, st) + " " + m.palette.Bold(terminal.Fit(m.loops.standOf(st), width-2))
	}
	asked := m.asked(st, height/2)
	rows = append(rows, m.story.picture(m.palette, height-2-len(asked))...)
	rows = padded(rows, height-1-len(asked))
	return append(append(rows, asked...), last)
}

// asked shows the question that has waited longest, as far as there is room.
func (m *model) asked(st loop.Status, height int) (rows []string) {
	if len(st.Questions) == 0 {
		return nil
	}
	q := st.Questions[0]
	for _, line := range answers.AskedLines(q, height-3, "key a") {
		rows = append(rows, wrapped(line, m.mainWidth())...)
	}
	rows = append(rows[:min(len(rows), height-1)], "  a: "+answers.AnswersTo(q))
	rows[0] = m.palette.Yellow("? " + rows[0])
	return rows
}

// picture shows a question above its answers.
func (c *choice) picture(p terminal.Palette, width, height int) []string {
	rows := []string{p.Yellow(terminal.Line(c.title)), ""}
	room := height - len(rows) - len(c.rows) - 2
	rows = append(rows, textRows(p, c.detail, width, room, &c.top)...)
	rows = append(padded(rows, min(len(rows), height-len(c.rows)-1)), "")
	for i, option := range c.rows {
		row := "  " + option.title
		if i == c.at {
			row = p.Yellow("> ") + p.Bold(option.title)
		}
		rows = append(rows, row)
	}
	return padded(rows, height)
}

func (g *page) picture(p terminal.Palette, width, height int) []string {
	rows := []string{p.Bold(terminal.Fit(g.title, width)), ""}
	if g.tree != nil {
		return padded(append(rows, g.tree.picture(p, g, width, height-len(rows))...), height)
	}
	return padded(append(rows, textRows(p, g.text, width, height-len(rows), &g.top)...), height)
}

// textRows returns the rows of a text that are shown, from top on, with a word on the rows below. Lines of a diff are
// coloured.
func textRows(p terminal.Palette, text string, width, height int, top *int) []string {
	var rows []string
	for _, line := range terminal.LinesOf(text) {
		parts := wrapped(line, width)
		for _, part := range parts {
			switch {
			case strings.HasPrefix(line, "+"):
				part = p.Green(part)
			case strings.HasPrefix(line, "-"):
				part = p.Red(part)
			case strings.HasPrefix(line, "@@"):
				part = p.Cyan(part)
			}
			rows = append(rows, part)
		}
	}
	if height < 2 || len(rows) <= height {
		*top = 0
		return rows[:max(min(len(rows), height), 0)]
	}
	*top = max(min(*top, len(rows)-height+1), 0)
	shown := rows[*top : *top+height-1]
	below := len(rows) - *top - len(shown)
	return append(shown[:len(shown):len(shown)], p.Dim(fmt.Sprintf("%d rows above, %d below (PgUp, PgDn)", *top, below)))
}

// foot is the row in which is said or typed something, and where the cursor stands in it.
func (m *model) foot() (row string, column int) {
	if in := m.input; in != nil {
		before := in.ask + in.text
		for terminal.Cells(before) >= m.width && before != "" { // its end is what is typed
			before = before[1:]
		}
		return before + in.behind, terminal.Cells(before)
	}
	text := terminal.Line(m.said.text)
	if m.said.isError {
		return m.palette.Red(text), -1
	}
	return text, -1
}

// keys names those that have a use now.
func (m *model) keys() string {
	switch {
	case m.input != nil:
		return m.palette.Dim("Enter  Esc: leave it")
	case m.choice != nil:
		return m.palette.Dim("Up, Down: choose  Enter  Esc: leave it")
	case m.page != nil && m.page.tree != nil:
		return m.palette.Dim("Up, Down: another file  PgUp, PgDn: read  Esc: back")
	case m.page != nil:
		return m.palette.Dim("Up, Down, PgUp, PgDn: read  Esc: back")
	}
	names := []string{"? help", "q leave"}
	if s, ok := m.seen(); ok {
		for _, b := range bindings() {
			if may(b, s) {
				names = append(names, b.key+" "+b.name)
			}
		}
	}
	return m.palette.Dim(strings.Join(append(names, "f filter", "o order"), "  "))
}

// help shows all keys.
func (m *model) help() *page {
	var b strings.Builder
	line := func(key, does string) { fmt.Fprintf(&b, "%-12s %s\n", key, does) }
	for _, k := range bindings() {
		line(k.key+"  "+k.name, k.does)
	}
	b.WriteByte('\n')
	var names []string
	for _, o := range orders {
		names = append(names, o.name)
	}
	line("Up, Down", "another loop; Tab: move in the story instead, and back")
	line("PgUp, PgDn", "move in the story; Home, End: to its beginning, or to what happens now")
	line("Left, Right", "another iteration; Enter folds or unfolds it")
	line("o", "the next order: "+strings.Join(names, ", "))
	line("f", "lists only loops with a text in their id, folder, title or state; Esc: all")
	line("Esc", "back")
	line("Ctrl-Z", "to the shell; fg comes back")
	line("q", "leaves; no loop ends by that")
	line("kill -9", "leaves the terminal as it is drawn: type reset, in tmux tput rmcup, too")
	return &page{title: "Keys", text: strings.TrimRight(b.String(), "\n")}
}
