package terminal

import (
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// told is the style for people: it says what is told of a loop, and when. Its look says
// how that is drawn.
type told struct {
	look
	cfg   Config
	calls *callLog
	marks marks
	held  map[speaker]*blockBuffer // what speakers have begun to say
}

// look draws what is told.
type look interface {
	Live(status func() loop.Status)
	Note(text string)
	Close()
	print(kind section, lines ...string)
	begin(title string)                  // an iteration
	shows(delta string, by speaker) bool // at once what somebody says; else it is held until it makes a block
	block(by speaker, text string)
	endMessage(e stream.MessageEnd)
	call(bar, title string) // a tool's; the bar stands before all lines that are about it
	result(bar, facts string, r stream.ToolResult)
}

// section is a kind of output.
type section int

const (
	sectionNone section = iota
	sectionHead
	sectionText
	sectionVerbatim
	sectionTool
	sectionNote
)

// speaker is whose text is shown.
type speaker struct {
	message  string // "" of what is held
	parent   string // the tool call of the subagent's, "" for the agent
	thinking bool
}

// mark is what stands before a line, and the colour of both.
type mark struct{ text, code string }

func (m mark) on(p Palette, line string) string { return p.paint(m.code, m.text+line) }

// marks are those of a look.
type marks struct {
	failed, warning, nearMiss, question mark
	over                                func(loop.IterationEnd) mark
	end                                 func(loop.Class) mark // of a loop
	more                                mark                  // below an end
	plain                               bool                  // blocks are lines, notes may stand between them, and no live line tells the model
}

func (s *told) Handle(e stream.Event) {
	p := s.cfg.Palette
	switch e := e.(type) {
	case stream.SessionStart:
		if s.marks.plain && e.Model != "" {
			s.note(p.Dim("model " + wire.JoinFacts(Line(e.Model), Line(e.Provider))))
		}
	case stream.Text:
		s.say(stream.Plain(e.Delta), speaker{message: e.MessageID, parent: e.ParentToolCallID})
	case stream.Thinking:
		if s.cfg.thinking {
			s.say(stream.Plain(e.Delta), speaker{message: e.MessageID, parent: e.ParentToolCallID, thinking: true})
		}
	case stream.MessageEnd:
		if e.Discarded && !s.marks.plain {
			delete(s.held, speaker{parent: e.ParentToolCallID})
		}
		s.release(e.ParentToolCallID)
		s.endMessage(e)
	case stream.ToolCall:
		s.called(e, wire.CallTitle(e))
	case stream.ToolResult:
		s.release(e.ID, e.ParentToolCallID)
		bar, facts := s.calls.end(e, s.cfg.Now())
		s.result(bar, facts, e)
	case stream.Retry:
		s.note(p.Yellow(wire.RetryText(e)))
	case stream.Compaction:
		s.note(p.Dim(wire.CompactionText(e)))
	case stream.Error:
		s.note(s.marks.failed.on(p, Line(e.Message)))
	}
}

func (s *told) HandleLoop(e loop.Event) {
	p := s.cfg.Palette
	switch e := e.(type) {
	case loop.IterationStart:
		s.releaseAll()
		*s.calls = callLog{} // those of the run before are over
		s.begin("iteration " + wire.JoinFacts(tell.OfMax(e.Iteration, e.MaxIterations), wire.HatText(e)))
	case loop.IterationEnd:
		s.releaseAll()
		s.note(s.marks.over(e).on(p, wire.JoinFacts(wire.IterationEndText(e), wire.ChangesText(e.Changes))))
	case loop.StateChanged:
		if said := stateLine(e, s.cfg.Now()); said != "" {
			s.note(p.Yellow(said))
		}
	case loop.NearMiss:
		s.note(s.marks.nearMiss.on(p, wire.NearMissText(e)))
		s.note(offerLines(e.Offer)...)
	case loop.Goal, loop.Published, loop.LimitsChanged:
		s.note(p.Dim(wire.SaidOf(e).Text))
	case loop.Verify:
		for _, line := range verifyLines(e) {
			s.note(p.class(wire.VerifyClass(e), line))
		}
		s.note(offerLines(e.Offer)...)
	case loop.Asked:
		s.asked(s.cfg, e.Question)
	case loop.Answered:
		s.note(p.Yellow(wire.AnsweredText(e.Question, e.Answer)))
	case loop.Guidance:
		s.note(p.Cyan(wire.GuidanceText(e)))
	case loop.Warning:
		s.note(s.marks.warning.on(p, Line(e.Message)))
		s.note(offerLines(e.Offer)...)
	case loop.End:
		s.releaseAll()
		s.print(sectionHead, s.marks.end(e.Reason.Ending().Class).on(p, wire.EndLine(e)))
		for _, more := range []string{changesLine(e), goOnLine(e)} {
			if more != "" {
				s.note(s.marks.more.on(p, more))
			}
		}
	}
}

// called shows that a tool call begins.
func (s *told) called(e stream.ToolCall, title string) {
	s.release(e.ParentToolCallID)
	s.calls.begin(e, title, s.cfg.Now())
	s.call(s.calls.bar(e.ParentToolCallID), title)
}

// asked shows a question, and how it is answered.
func (s *told) asked(how Config, q ask.Question) {
	lines := how.ask(q)
	lines[0] = s.marks.question.on(s.cfg.Palette, lines[0])
	s.note(lines...)
}

// retell shows what a loop told, in the words in which it did.
func (s *told) retell(kind string, u wire.Said, output string, update []byte, isLive bool) {
	var q wire.Question
	if kind == wire.KindQuestion && json.Unmarshal(update, &q) == nil {
		how := s.cfg
		if !isLive {
			how.Answer = ""
		}
		s.asked(how, q.Asked())
		return
	}
	p := s.cfg.Palette
	if u.Text != "" {
		s.note(p.class(u.Class, Line(u.Text)))
	}
	for _, text := range excerpt(output, errorLines) {
		s.note(p.class(u.Class, "  "+Fit(text, consoleTitle)))
	}
}

// say has a piece of what somebody says shown, or the blocks that it completes.
func (s *told) say(delta string, by speaker) {
	if !by.thinking && !s.marks.plain {
		s.show(speaker{parent: by.parent, thinking: true})
	}
	if s.shows(delta, by) {
		return
	}
	by.message = ""
	if s.held[by] == nil {
		s.held[by] = &blockBuffer{byLine: s.marks.plain}
	}
	for _, block := range s.held[by].add(delta) {
		s.block(by, block)
	}
}

// show shows what is held of a speaker.
func (s *told) show(by speaker) {
	if buffer := s.held[by]; buffer != nil {
		delete(s.held, by)
		if block := buffer.flush(); block != "" {
			s.block(by, block)
		}
	}
}

// release shows what is held of those whom calls have work, before something else of theirs.
// Others may be in the middle of a word.
func (s *told) release(parents ...string) {
	for _, parent := range parents {
		s.show(speaker{parent: parent, thinking: true})
		s.show(speaker{parent: parent})
	}
}

func (s *told) releaseAll() {
	var parents []string
	for by := range s.held {
		parents = append(parents, by.parent)
	}
	slices.Sort(parents)
	s.release(parents...)
}

// Note prints what this program says, not the loop.
func (s *told) Note(text string) {
	if !s.marks.plain {
		s.releaseAll()
	}
	s.look.Note(text)
}

// note prints lines about the loop.
func (s *told) note(lines ...string) {
	if !s.marks.plain {
		s.releaseAll()
	}
	for _, line := range lines {
		s.print(sectionNote, line)
	}
}
