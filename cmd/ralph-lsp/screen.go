package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// screen is a terminal with a live line below what was printed. It may be used
// from several goroutines.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	live   string // the live line that is drawn, or ""
	hidden bool   // the cursor
	closed bool
}

const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearLine  = "\r\x1b[K"
)

// print writes whole lines above the live line.
func (s *screen) print(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	if s.live != "" {
		b.WriteString(clearLine)
	}
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	b.WriteString(s.live)
	io.WriteString(s.out, b.String())
}

// draw replaces the live line.
func (s *screen) draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || line == s.live {
		return
	}
	cursor := ""
	if !s.hidden {
		cursor, s.hidden = hideCursor, true
	}
	s.live = line
	fmt.Fprint(s.out, cursor, clearLine, line)
}

// close removes the live line for good and shows the cursor again.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != "" {
		fmt.Fprint(s.out, clearLine)
	}
	if s.hidden {
		fmt.Fprint(s.out, showCursor)
	}
	s.live, s.hidden, s.closed = "", false, true
}
