package terminal

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
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
	speak stream.Recent[string]    // the message that is at work, of each call that has an agent work
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
	endMessage(parent string, discarded bool)
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

// marks are a look's marks.
type marks struct {
	failed, warning, nearMiss, question mark
	over                                func(loop.IterationEnd) mark
	end                                 func(loop.Class) mark // of a loop
	more                                mark                  // below an end
	plain                               bool                  // blocks are lines, and no live line tells the model
}

// Show shows an update. A question can be answered only while it is live.
func (s *told) Show(it journal.Item, isLive bool) {
	switch u := wire.Decode(it.JSON).(type) {
	case nil: // nobody can read it
	case wire.Chunk:
		by := speaker{message: u.MessageID, parent: u.ParentToolCallID}
		s.begins(by)
		if by.thinking = u.SessionUpdate == wire.KindThoughtChunk; s.cfg.thinking || !by.thinking {
			s.say(stream.Sanitize(u.Content.Text), by)
		}
	case wire.Discard:
		s.speak.Drop(u.ParentToolCallID)
		if !s.marks.plain {
			delete(s.held, speaker{parent: u.ParentToolCallID})
		}
		s.ended(u.ParentToolCallID, true)
	case wire.UsageUpdate: // the agent tells it behind a message, and nothing else may come for long
		if _, speaks := s.speak.Get(""); speaks {
			s.speak.Drop("")
			s.ended("", false)
		}
	case wire.UserChunk:
		if s.cfg.Here == "" { // else the user knows
			s.Note(Line("> " + u.Content.Text))
		}
	case wire.Note:
		s.Note(Line(u.Label + ": " + u.Text))
	case wire.ToolCall:
		title := Line(u.Line())
		s.release(u.ParentToolCallID)
		s.calls.begin(u, title, it.At)
		s.call(s.calls.bar(u.ParentToolCallID), title)
	case wire.ToolCallUpdate:
		s.callEnds(u, it.At)
	case wire.Iteration:
		s.releaseAll()
		*s.calls = callLog{} // the calls of the run before are over
		s.begin("iteration " + wire.JoinFacts(format.OfMax(u.Iteration, u.MaxIterations), wire.HatText(u.IterationStart), Line(u.Task)))
	case wire.IterationEnd:
		s.releaseAll()
		s.note(s.marks.over(u.IterationEnd).on(s.cfg.Palette, wire.JoinFacts(Line(u.Facts), wire.ChangesText(u.Changes))))
	case wire.End:
		if s.cfg.Here == "" {
			s.End(u.End)
		}
	case wire.Question:
		how := s.cfg
		if !isLive {
			how.Answer = ""
		}
		s.asked(how, u)
	default:
		s.retell(u)
	}
}

// End shows how the loop ended.
func (s *told) End(e loop.End) {
	p := s.cfg.Palette
	s.releaseAll()
	s.print(sectionHead, s.marks.end(e.Reason.Ending().Class).on(p, wire.EndLine(e)))
	for _, more := range []string{troubleLine(e), changesLine(e), goOnLine(e)} {
		if more != "" {
			s.note(s.marks.more.on(p, more))
		}
	}
}

// begins ends the message before, where nothing else has said that it is over.
func (s *told) begins(by speaker) {
	if last, ok := s.speak.Get(by.parent); ok && last != by.message {
		s.ended(by.parent, false)
	}
	s.speak.Put(by.parent, by.message)
}

// ended shows what is held of a message, or that it was taken back.
func (s *told) ended(parent string, discarded bool) {
	s.release(parent)
	s.endMessage(parent, discarded)
}

// callEnds shows the end of a tool call. What it has printed so far isn't shown.
func (s *told) callEnds(u wire.ToolCallUpdate, at time.Time) {
	if u.Status == wire.StatusInProgress {
		return
	}
	r := stream.ToolResult{ID: u.ToolCallID, ParentToolCallID: u.ParentToolCallID, Output: u.Output(),
		IsError: u.Status == wire.StatusFailed, Spent: u.Spent}
	s.speak.Drop(r.ID)
	s.ended(r.ID, false) // the agent of the call has ended
	s.release(r.ParentToolCallID)
	bar, facts := s.calls.end(r, at)
	s.result(bar, facts, r)
}

// asked shows a question, and how it is answered.
func (s *told) asked(how Config, q wire.Question) {
	lines := how.ask(q.Question)
	lines[0] = s.marks.question.on(s.cfg.Palette, lines[0])
	s.note(lines...)
}

// retell shows what a loop tells, in its words.
func (s *told) retell(u wire.Update) {
	said, output, isHere := wire.NoticeIn(u), "", s.cfg.Here != ""
	m := mark{"", codeOf(said.Class)}
	switch u := u.(type) {
	case wire.SessionUpdate:
		if isHere && !s.marks.plain { // the live line tells the model
			return
		}
	case wire.ErrorUpdate:
		m = s.marks.failed
	case wire.Warning:
		m, said.Text = s.marks.warning, u.Message // which says where to read on
	case wire.Promise:
		m = s.marks.nearMiss
	case wire.Verify:
		output = u.Output
	case wire.SteeringMessage:
		m.code = sgrCyan
	case wire.Answered:
		m.code = sgrYellow
	case wire.StateChange:
		m.code = sgrYellow
		if isPaused := u.State == loop.StatePaused; isPaused && isHere && u.Reason == loop.PauseUnchecked {
			return // it was told with what can be done
		} else if isPaused && isHere {
			said.Text += "; " + GoOn
		}
	}
	if said.Text == "" {
		return
	}
	s.note(m.on(s.cfg.Palette, Line(said.Text)))
	if said.Class == loop.ClassWarning {
		for _, line := range excerpt(output, errorLines) {
			s.note(s.cfg.Palette.paint(m.code, "  "+Fit(line, consoleTitle)))
		}
	}
	if isHere {
		s.note(offerLines(s.cfg.Here, said.Offers)...)
	}
}

// Close shows what is held of an end that nobody has told.
func (s *told) Close() {
	s.releaseAll()
	s.look.Close()
}

// Look does nothing: the live line looks by itself.
func (s *told) Look() {}

// Tell shows a line about the loop.
func (s *told) Tell(text string) { s.note(Line(text)) }

// say has a piece of what somebody says shown, or the blocks that it completes.
func (s *told) say(delta string, by speaker) {
	if !by.thinking {
		s.show(speaker{parent: by.parent, thinking: true})
	}
	if s.shows(delta, by) {
		return
	}
	by.message = ""
	for other := range s.held {
		if s.marks.plain && other != by && !s.calls.several() { // unfinished blocks of others come first
			s.show(other)
		}
	}
	if s.held[by] == nil {
		if len(s.held) == maxHeld {
			s.releaseAll()
		}
		s.held[by] = &blockBuffer{byLine: s.marks.plain}
	}
	for _, block := range s.held[by].add(delta) {
		s.block(by, block)
	}
}

// maxHeld is how many speakers may have an unfinished block. Of more, the text is shown at once.
const maxHeld = 64

// show shows what is held of a speaker.
func (s *told) show(by speaker) {
	if buffer := s.held[by]; buffer != nil {
		delete(s.held, by)
		if block := buffer.flush(); block != "" {
			s.block(by, block)
		}
	}
}

// release prints the buffered text of these subagents before their next output. Others may be in the middle of a
// word.
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
	s.releaseAll()
	s.look.Note(text)
}

// note prints lines about the loop.
func (s *told) note(lines ...string) {
	s.releaseAll()
	for _, line := range lines {
		s.print(sectionNote, line)
	}
}
