package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ralph-lsp/internal/tell"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// consoleStyle prints what comes, as it comes: text as the agent writes it, a
// line per tool call and result.
type consoleStyle struct {
	cfg     styleConfig
	calls   *callLog
	midLine bool // the cursor isn't at the beginning of a line
	speaks  speaker
	held    map[speaker]string // the lines that several agents are in the middle of
	mute
}

// speaker is whose text is printed.
type speaker struct {
	message  string
	parent   string // the tool call of the subagent's, "" for the agent
	thinking bool
}

// consoleTitle bounds a line about a tool, in cells.
const consoleTitle = 120

func (s *consoleStyle) Handle(e stream.Event) {
	switch e := e.(type) {
	case stream.SessionStart:
		if e.Model != "" {
			s.line(s.cfg.palette.dim("model " + wire.JoinFacts(plainLine(e.Model), plainLine(e.Provider))))
		}
	case stream.Text:
		s.text(stream.Plain(e.Delta), speaker{message: e.MessageID, parent: e.ParentToolCallID})
	case stream.Thinking:
		if s.cfg.thinking {
			s.text(stream.Plain(e.Delta), speaker{message: e.MessageID, parent: e.ParentToolCallID, thinking: true})
		}
	case stream.MessageEnd:
		s.release(e.ParentToolCallID)
		if e.ParentToolCallID == "" || !s.calls.several() {
			s.endText()
		}
		if e.Discarded {
			s.line(s.cfg.palette.yellow("(" + wire.DiscardText + ")"))
		}
	case stream.ToolCall:
		s.release(e.ParentToolCallID)
		title, bar := s.calls.begin(e, s.cfg.now()), s.calls.bar(e.ParentToolCallID)
		s.line(s.cfg.palette.dim(bar) + s.cfg.palette.cyan("> "+fit(title, consoleTitle)))
	case stream.ToolResult:
		s.result(e)
	case stream.Retry:
		s.line(s.cfg.palette.yellow(wire.RetryText(e)))
	case stream.Compaction:
		s.line(s.cfg.palette.dim(wire.CompactionText(e)))
	case stream.Error:
		s.line(s.cfg.palette.red("error: " + plainLine(e.Message)))
	}
}

func (s *consoleStyle) HandleLoop(e loop.Event) {
	p := s.cfg.palette
	switch e := e.(type) {
	case loop.IterationStart:
		s.calls.reset()
		s.line(p.bold(fmt.Sprintf("--- iteration %s ---", wire.JoinFacts(tell.OfMax(e.Iteration, e.MaxIterations), wire.HatText(e)))))
	case loop.IterationEnd:
		for _, by := range slices.SortedFunc(maps.Keys(s.held), func(a, b speaker) int { return strings.Compare(a.parent, b.parent) }) {
			s.release(by.parent)
		}
		s.line(p.dim(fmt.Sprintf("--- iteration %d: %s", e.Iteration, iterationLine(e))))
	case loop.StateChanged:
		if said := stateLine(e, s.cfg.now()); said != "" {
			s.line(p.yellow(said))
		}
	case loop.NearMiss:
		s.warn(wire.NearMissText(e), e.Offer)
	case loop.Goal:
		s.line(p.dim(wire.GoalText(e)))
	case loop.Verify:
		for _, line := range verifyLines(e) {
			s.line(p.class(wire.VerifyClass(e), line))
		}
		for _, line := range offerLines(e.Offer) {
			s.line(line)
		}
	case loop.Asked:
		for _, line := range s.cfg.ask(e.Question) {
			s.line(line)
		}
	case loop.Answered:
		s.line(p.yellow(wire.AnsweredText(e.Question, e.Answer)))
	case loop.Published:
		s.line(p.dim(wire.TopicText(stream.Topic(e))))
	case loop.Guidance:
		s.line(p.cyan(wire.GuidanceText(e)))
	case loop.Warning:
		s.warn("warning: "+plainLine(e.Message), e.Offer)
	case loop.LimitsChanged:
		s.line(p.dim(wire.LimitsText(e)))
	case loop.End:
		s.line(p.bold(wire.EndLine(e)))
		for _, line := range []string{changesLine(e), goOnLine(e)} {
			if line != "" {
				s.line(line)
			}
		}
	}
}

// warn prints a warning with what can be done about it.
func (s *consoleStyle) warn(text string, offer loop.Offer) {
	s.line(s.cfg.palette.yellow(text))
	for _, line := range offerLines(offer) {
		s.line(line)
	}
}

func (s *consoleStyle) Note(text string) {
	s.endText()
	fmt.Fprintln(s.cfg.notes, text)
}

// text prints a piece of a message or of reasoning. A subagent's lines are marked.
func (s *consoleStyle) text(delta string, by speaker) {
	if delta == "" {
		return
	}
	if by.parent != "" && s.calls.several() {
		s.hold(delta, by)
		return
	}
	if by != s.speaks {
		s.endText()
		s.speaks = by
	}
	s.calls.last = "" // a result that comes now isn't below its call any more
	p := s.cfg.palette
	for line := range strings.Lines(delta) {
		if by.parent != "" && !s.midLine {
			fmt.Fprint(s.cfg.out, p.dim(s.calls.bar(by.parent)))
		}
		s.midLine = !strings.HasSuffix(line, "\n")
		if by.thinking {
			line = p.dim(line)
		}
		fmt.Fprint(s.cfg.out, line)
	}
}

// hold prints the lines that a piece completes, and keeps the rest until then: several
// agents may speak at once.
func (s *consoleStyle) hold(delta string, by speaker) {
	by.message = ""
	for line := range strings.Lines(s.held[by] + delta) {
		whole, isWhole := strings.CutSuffix(line, "\n")
		if isWhole || len(line) > maxBlock {
			s.said(whole, by)
			line = ""
		}
		if s.held == nil {
			s.held = map[speaker]string{}
		}
		s.held[by] = line
	}
}

// release prints what is held of an agent, before something else of its is printed.
func (s *consoleStyle) release(parent string) {
	for _, thinking := range []bool{true, false} {
		by := speaker{parent: parent, thinking: thinking}
		if s.held[by] != "" {
			s.said(s.held[by], by)
		}
		delete(s.held, by)
	}
}

// said prints a whole line of one of several agents.
func (s *consoleStyle) said(line string, by speaker) {
	s.calls.last = ""
	if by.thinking {
		line = s.cfg.palette.dim(line)
	}
	s.line(s.cfg.palette.dim(s.calls.bar(by.parent)) + line)
}

// endText ends a line of text that is still open.
func (s *consoleStyle) endText() {
	if s.midLine {
		fmt.Fprintln(s.cfg.out)
	}
	s.midLine = false
}

func (s *consoleStyle) line(text string) {
	s.endText()
	fmt.Fprintln(s.cfg.out, text)
}

// result prints a line for a tool's result, with the beginning of its output.
func (s *consoleStyle) result(e stream.ToolResult) {
	s.release(e.ID)
	s.release(e.ParentToolCallID)
	bar, facts := s.calls.end(e, s.cfg.now())
	mark, paint := "ok", s.cfg.palette.dim
	if e.IsError {
		mark, paint = "failed", s.cfg.palette.red
	}
	output := ""
	if lines := linesOf(e.Output); len(lines) > 0 {
		output = lines[0]
		if more := len(lines) - 1; more > 0 {
			output += fmt.Sprintf(" (+ %s)", tell.Counted(more, "line"))
		}
	}
	s.line(s.cfg.palette.dim(bar) + paint("  "+fit(wire.JoinFacts(mark, facts, output), consoleTitle)))
}
