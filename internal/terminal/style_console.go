package terminal

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// consoleLook prints what comes, as it comes: text line by line as the agent writes it, a
// line per tool call and result.
type consoleLook struct {
	cfg   Config
	calls *callLog
}

// consoleTitle bounds a line about a tool, in cells.
const consoleTitle = 120

func newConsole(cfg Config) *told {
	calls := new(callLog)
	return &told{look: &consoleLook{cfg: cfg, calls: calls}, cfg: cfg, calls: calls, marks: marks{
		failed: mark{"error: ", sgrRed}, warning: mark{"warning: ", sgrYellow}, nearMiss: mark{"", sgrYellow}, plain: true,
		over: func(e loop.IterationEnd) mark { return mark{fmt.Sprintf("--- iteration %d: ", e.Iteration), sgrDim} },
		end:  func(loop.Class) mark { return mark{"", sgrBold} },
	}, held: map[speaker]*blockBuffer{}}
}

func (s *consoleLook) Live(func() loop.Status) {}
func (s *consoleLook) Close()                  {}

func (s *consoleLook) begin(title string) {
	s.print(sectionHead, s.cfg.Palette.Bold("--- "+title+" ---"))
}

func (s *consoleLook) endMessage(_ string, discarded bool) {
	if discarded {
		s.print(sectionNote, s.cfg.Palette.Yellow("("+wire.DiscardText+")"))
	}
}

func (s *consoleLook) Note(text string) { fmt.Fprintln(s.cfg.Notes, text) }

func (s *consoleLook) shows(string, speaker) bool { return false }

// block prints a line of a message or of reasoning. A subagent's are marked; of several, blank ones tell nothing.
func (s *consoleLook) block(by speaker, line string) {
	if by.parent != "" && s.calls.several() && strings.TrimSpace(line) == "" {
		return
	}
	s.calls.last = "" // a result that comes now isn't below its call any more
	bar := s.calls.bar(by.parent)
	if by.thinking {
		line = s.cfg.Palette.Dim(line)
	}
	s.print(sectionText, s.cfg.Palette.Dim(bar)+line)
}

func (s *consoleLook) print(_ section, lines ...string) {
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
			output += fmt.Sprintf(" (+ %s)", format.Counted(more, "line"))
		}
	}
	s.print(sectionTool, s.cfg.Palette.Dim(bar)+paint("  "+Fit(wire.JoinFacts(mark, facts, output), consoleTitle)))
}
