package top

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
)

// maxLines is how many lines are kept of an iteration: the last.
const maxLines = 5000

// section is an iteration of the transcript, which folds.
type section struct {
	told
	isOpen, isChosen bool // isChosen: by its user
	isLoaded         bool // or will be
}

// rows are its headline and, where it is open, its lines.
func (s *section) rows() int {
	if s.isOpen {
		return 1 + len(s.lines)
	}
	return 1
}

// transcript is what a loop did.
type transcript struct {
	sections []*section
	at       int  // the section that its user is at
	top      int  // the first row that is shown
	height   int  // how many are shown
	follows  bool // the last row is shown
	hit      int  // the row that a search is at; -1: none
}

func newTranscript() transcript { return transcript{follows: true, hit: -1} }

func (t *transcript) of(iteration int) (at int, s *section) {
	for i := len(t.sections) - 1; i >= 0; i-- {
		if t.sections[i].iteration == iteration {
			return i, t.sections[i]
		}
	}
	return -1, nil
}

// take takes new pieces. A piece of another iteration than the last begins a section, and folds the last one, unless
// somebody reads it.
func (t *transcript) take(pieces []told) {
	for _, piece := range pieces {
		_, s := t.of(piece.iteration)
		if n := len(t.sections); piece.iteration == 0 && n > 0 { // it goes on after a pause
			s = t.sections[n-1]
		}
		if s == nil {
			if n := len(t.sections); n > 0 && t.follows && !t.sections[n-1].isChosen {
				t.keep(nil, func() int { t.sections[n-1].fold(); return 0 })
			}
			s = &section{told: told{iteration: piece.iteration}, isOpen: true, isLoaded: true}
			t.sections = append(t.sections, s)
			if t.follows {
				t.at = len(t.sections) - 1
			}
		}
		t.add(s, piece)
	}
}

// heads takes what is known of iterations before the story is told from the last of them on.
func (t *transcript) heads(pieces []told) {
	for _, piece := range pieces {
		if _, s := t.of(piece.iteration); s == nil {
			t.sections = append(t.sections, &section{told: piece})
		}
	}
	if n := len(t.sections); n > 0 {
		t.sections[n-1].isOpen, t.sections[n-1].isLoaded, t.at = true, true, n-1
	}
}

func (s *section) fold() { s.isOpen, s.isLoaded, s.lines = false, false, nil }

// keep makes a change to a section, after which the same lines are shown and found as before. The
// change says how many of the section's first lines are gone.
func (t *transcript) keep(changed *section, change func() (gone int)) {
	top, line := t.row(t.top)
	hit, found := t.row(t.hit)
	gone := change()
	back := func(s *section, line int) int {
		if s == nil {
			return -1
		} else if s == changed {
			line = max(line-gone, -1)
		}
		at, _ := t.of(s.iteration)
		return t.rowOf(at) + min(1+line, s.rows()-1)
	}
	t.top, t.hit = max(back(top, line), 0), back(hit, found)
}

func (t *transcript) add(s *section, piece told) {
	if piece.head != "" {
		s.head, s.isOver = piece.head, piece.isOver
	}
	if !s.isOpen && !s.isLoaded {
		return // it is read when it is unfolded
	}
	if piece.isCut && len(s.lines) > 0 {
		piece.lines = append([]string{"… lines that came too fast are left out …"}, piece.lines...)
	}
	t.keep(s, func() (gone int) {
		s.isCut = s.isCut || piece.isCut && len(s.lines) == 0
		s.lines = append(s.lines, piece.lines...)
		if gone = max(len(s.lines)-maxLines, 0); gone > 0 {
			s.lines, s.isCut = append([]string(nil), s.lines[gone:]...), true
		}
		return gone
	})
}

// rowOf is the row of a section's headline.
func (t *transcript) rowOf(section int) (row int) {
	for _, s := range t.sections[:section] {
		row += s.rows()
	}
	return row
}

func (t *transcript) rows() int { return t.rowOf(len(t.sections)) }

// row returns what stands in a row: a line of a section, -1 is its headline. It is nil for no row.
func (t *transcript) row(n int) (s *section, line int) {
	if n < 0 {
		return nil, 0
	}
	for _, s := range t.sections {
		if n < s.rows() {
			return s, n - 1
		}
		n -= s.rows()
	}
	return nil, 0
}

// settle keeps the rows that are shown where there are some.
func (t *transcript) settle(height int) {
	t.height = height
	last := max(t.rows()-height, 0)
	if t.follows {
		t.top = last
	}
	t.top = max(min(t.top, last), 0)
}

// scroll moves what is shown by rows. At its end it follows again.
func (t *transcript) scroll(rows int) {
	t.settle(t.height)
	t.top += rows
	t.follows = t.top+t.height >= t.rows()
	t.settle(t.height)
}

// show has a row shown with some before it.
func (t *transcript) show(row int) {
	t.follows = false
	t.top = row - min(2, t.height/3)
	t.settle(t.height)
}

// choose goes to another section.
func (t *transcript) choose(by int) {
	if n := len(t.sections); n > 0 {
		t.at = max(min(t.at+by, n-1), 0)
		t.show(t.rowOf(t.at))
	}
}

// chosen is the section that its user is at, nil where there is none.
func (t *transcript) chosen() *section {
	if t.at < len(t.sections) {
		return t.sections[t.at]
	}
	return nil
}

// search goes to the next row with a text, or the one before; false if there is none.
func (t *transcript) search(text string, by int) bool {
	n := t.rows()
	from := t.hit
	if from < 0 { // the first is the last that was said
		from, by = n, -1
	}
	for row := from + by; row >= 0 && row < n; row += by {
		if s, line := t.row(row); line >= 0 && isIn(s.lines[line], text) || line < 0 && isIn(s.head, text) {
			t.hit = row
			t.at, _ = t.of(s.iteration)
			t.show(row)
			return true
		}
	}
	return false
}

// picture draws the rows that are shown, each with two columns in front that tell where one is.
func (t *transcript) picture(p terminal.Palette, height int) (rows []string) {
	t.settle(height)
	s, line := t.row(t.top)
	at := -1
	if s != nil {
		at, _ = t.of(s.iteration)
	}
	for n := t.top; at >= 0 && at < len(t.sections) && len(rows) < height; n++ {
		s = t.sections[at]
		mark := "  "
		if n == t.hit || line < 0 && at == t.at {
			mark = p.Yellow("> ")
		}
		if line < 0 {
			rows = append(rows, mark+s.headline(p))
		} else {
			rows = append(rows, mark+s.lines[line])
		}
		if line++; line >= s.rows()-1 {
			at, line = at+1, -1
		}
	}
	return rows
}

func (s *section) headline(p terminal.Palette) string {
	fold, head := "▸ ", s.head
	if s.isOpen {
		fold = "▾ "
	}
	if head == "" {
		head = fmt.Sprintf("iteration %d", s.iteration)
	}
	if s.iteration == 0 {
		head = "its start"
	}
	if s.isCut && s.isOpen {
		head += p.Dim(" (its last part)")
	}
	return p.Cyan(fold) + p.Bold(head)
}
