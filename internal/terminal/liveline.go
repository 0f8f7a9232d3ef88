package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// spinner turns while an agent works.
var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// minActivity is how far what the agent does is cut, in cells, before the
// model's name gives way.
const minActivity = 16

// LiveLine is what the last line of the terminal says about a running loop:
// "⠋ Ralph 3/50 · $1.42 · 2m13s · bash go test ./... · opus". It takes at most
// width cells, and is "" for a loop that doesn't run.
func LiveLine(st loop.Status, frame int, now time.Time, width int, p Palette) string {
	if st.Iteration == 0 || st.State.Over() {
		return ""
	}
	mark := spinner[frame%len(spinner)]
	if st.State == loop.StatePaused {
		mark = "‖"
	}
	cost := wire.CostText(st.Cost, st.UnknownCosts)
	head := wire.JoinFacts(fmt.Sprintf("%s Ralph %s", mark, format.OfMax(st.Iteration, st.Limits.MaxIterations)),
		wire.TasksText(wire.TasksOf(st)), cost, wire.RefutedText(st.Refuted), format.Elapsed(st.Elapsed.Truncate(time.Second)))
	doing := wire.Activity(st, nil, now)
	if st.State == loop.StatePaused {
		doing += ", " + GoOn
	}
	model := Line(st.Session.Model)

	const dot = 3 // " · "
	room := width - Cells(head) - dot
	if model != "" && room-Cells(model)-dot >= min(Cells(doing), minActivity) {
		doing = Fit(doing, room-Cells(model)-dot)
	} else {
		model, doing = "", Fit(doing, room)
	}
	return Fit(wire.JoinFacts(p.Bold(head), p.Cyan(doing), p.Dim(model)), width)
}

// screen is a terminal with a live line below what was printed. It may be used
// from several goroutines.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	live   string // the live line that is drawn, or ""
	hidden bool   // the cursor
	away   bool   // nothing is drawn until resume
	closed bool
}

// The cursor waits at the beginning of the live line, however it is wrapped when
// the window becomes narrower: what is below it is the live line and no more.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearLive  = "\r\x1b[J"
	cutLines   = "\x1b[?7l" // lines end at the margin, for a line that was made for a wider window
	wrapLines  = "\x1b[?7h"
)

// liveText writes the live line below what is there.
func liveText(line string) string {
	if line == "" {
		return ""
	}
	return cutLines + line + wrapLines + "\r"
}

// print writes whole lines above the live line.
func (s *screen) print(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	if s.live != "" {
		b.WriteString(clearLive)
	}
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	b.WriteString(liveText(s.live))
	io.WriteString(s.out, b.String())
}

// draw replaces the live line.
func (s *screen) draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.away || line == s.live {
		return
	}
	cursor := ""
	if !s.hidden {
		cursor, s.hidden = hideCursor, true
	}
	s.live = line
	fmt.Fprint(s.out, cursor, clearLive, liveText(line))
}

// suspend removes the live line until resume, and shows the cursor: the
// terminal will be the shell's.
func (s *screen) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(clearLive)
	s.away = true
}

// resume lets the live line be drawn again.
func (s *screen) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = false
}

// abandon leaves the live line as it is: somebody else writes there by now.
func (s *screen) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave("")
}

// close removes the live line for good and shows the cursor again.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(clearLive)
	s.closed = true
}

// leave ends the live line with a code of the terminal's, and shows the cursor.
func (s *screen) leave(end string) {
	if s.live != "" {
		io.WriteString(s.out, end)
	}
	if s.hidden {
		io.WriteString(s.out, showCursor)
	}
	s.live, s.hidden = "", false
}
