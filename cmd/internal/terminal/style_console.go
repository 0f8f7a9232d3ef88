package terminal

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// consoleLook prints what comes, as it comes: text as the agent writes it, a line per tool
// call and result.
type consoleLook struct {
	cfg     Config
	calls   *callLog
	midLine bool // the cursor isn't at the beginning of a line
	speaks  speaker
}

// consoleTitle bounds a line about a tool, in cells.
const consoleTitle = 120

func newConsole(cfg Config) *told {
	calls := new(callLog)
	return &told{look: &consoleLook{cfg: cfg, calls: calls}, cfg: cfg, calls: calls, marks: marks{
		failed: mark{"error: ", sgrRed}, warning: mark{"warning: ", sgrYellow}, nearMiss: mark{"", sgrYellow}, plain: true,
		over: func(e wire.Iteration) mark { return mark{fmt.Sprintf("--- iteration %d: ", e.Iteration), sgrDim} },
		end:  func(loop.Class) mark { return mark{"", sgrBold} },
	}, held: map[speaker]*blockBuffer{}}
}

func (s *consoleLook) Live(func() loop.Status) {}
func (s *consoleLook) Close()                  {}

func (s *consoleLook) begin(title string) {
	s.print(sectionHead, s.cfg.Palette.Bold("--- "+title+" ---"))
}

func (s *consoleLook) endMessage(parent string, discarded bool) {
	if parent == "" || !s.calls.several() {
		s.endText()
	}
	if discarded {
		s.print(sectionNote, s.cfg.Palette.Yellow("("+wire.DiscardText+")"))
	}
}

func (s *consoleLook) Note(text string) {
	s.endText()
	fmt.Fprintln(s.cfg.Notes, text)
}

// shows prints a piece of a message or of reasoning, unless several agents speak at once. A
// subagent's lines are marked.
func (s *consoleLook) shows(delta string, by speaker) bool {
	if by.parent != "" && s.calls.several() {
		return false
	}
	if delta == "" {
		return true
	}
	if by != s.speaks {
		s.endText()
		s.speaks = by
	}
	s.calls.last = "" // a result that comes now isn't below its call any more
	for line := range strings.Lines(delta) {
		bar := ""
		if !s.midLine {
			bar = s.calls.bar(by.parent)
		}
		s.midLine = !strings.HasSuffix(line, "\n")
		fmt.Fprint(s.cfg.Out, s.spoken(bar, line, by))
	}
	return true
}

// spoken is text as it is printed behind a bar.
func (s *consoleLook) spoken(bar, text string, by speaker) string {
	if by.thinking {
		text = s.cfg.Palette.Dim(text)
	}
	return s.cfg.Palette.Dim(bar) + text
}

// block prints a line of one of several agents.
func (s *consoleLook) block(by speaker, line string) {
	s.calls.last = ""
	s.print(sectionText, s.spoken(s.calls.bar(by.parent), line, by))
}

// endText ends a line of text that is still open.
func (s *consoleLook) endText() {
	if s.midLine {
		fmt.Fprintln(s.cfg.Out)
	}
	s.midLine = false
}

func (s *consoleLook) print(_ section, lines ...string) {
	s.endText()
	for _, line := range lines {
		fmt.Fprintln(s.cfg.Out, line)
	}
}

func (s *consoleLook) call(bar, title string) {
	p := s.cfg.Palette
	s.print(sectionTool, p.Dim(bar)+p.Cyan("> "+Fit(title, consoleTitle)))
}

// result prints a line for a tool's result, with the beginning of its output.
func (s *consoleLook) result(bar, facts string, e stream.ToolResult) {
	mark, paint := "ok", s.cfg.Palette.Dim
	if e.IsError {
		mark, paint = "failed", s.cfg.Palette.Red
	}
	output := ""
	if lines := LinesOf(e.Output); len(lines) > 0 {
		output = lines[0]
		if more := len(lines) - 1; more > 0 {
			output += fmt.Sprintf(" (+ %s)", tell.Counted(more, "line"))
		}
	}
	s.print(sectionTool, s.cfg.Palette.Dim(bar)+paint("  "+Fit(wire.JoinFacts(mark, facts, output), consoleTitle)))
}
