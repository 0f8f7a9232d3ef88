package top

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
)

const (
	// enters takes the terminal's other screen, where lines end at the margin, and has what is
	// pasted told apart from what is typed.
	enters = "\x1b[?1049h\x1b[?7l\x1b[?2004h\x1b[?25l\x1b[2J"
	leaves = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l"
)

// screen is all of a terminal. Its rows are written where they have changed.
type screen struct {
	in, out *os.File
	shown   func(string) string // what may be shown of a line

	mu      sync.Mutex
	before  *term.State // how the terminal was; nil: it isn't ours
	rows    []string    // that are drawn
	width   int
	pointer string // how the cursor was left
}

// enter takes the terminal.
func (s *screen) enter() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		return nil
	}
	if s.before, err = term.MakeRaw(int(s.in.Fd())); err != nil {
		return fmt.Errorf("taking the terminal: %w", err)
	}
	s.rows, s.pointer = nil, ""
	_, err = s.out.WriteString(enters)
	return err
}

// leave gives the terminal back as it was.
func (s *screen) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		_, _ = s.out.WriteString(leaves)
		_ = term.Restore(int(s.in.Fd()), s.before)
		s.before = nil
	}
}

// size asks the terminal.
func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// forget has everything drawn anew.
func (s *screen) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = nil
}

// draw shows a picture.
func (s *screen) draw(p picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before == nil {
		return
	}
	var b strings.Builder
	if len(s.rows) != len(p.rows) || s.width != p.width {
		s.rows, s.width = make([]string, len(p.rows)), p.width
		b.WriteString("\x1b[2J")
	}
	for i, row := range p.rows {
		if row = terminal.Fit(s.shown(row), p.width); row != s.rows[i] {
			s.rows[i] = row
			if terminal.Cells(row) < p.width { // else the last column is erased
				row += "\x1b[0m\x1b[K"
			}
			fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[0m", i+1, row)
		}
	}
	pointer := "\x1b[?25l"
	if p.column >= 0 {
		pointer = fmt.Sprintf("\x1b[%d;%dH\x1b[?25h", p.row+1, p.column+1)
	}
	if b.Len() > 0 || pointer != s.pointer {
		_, _ = s.out.WriteString(b.String() + pointer)
		s.pointer = pointer
	}
}
