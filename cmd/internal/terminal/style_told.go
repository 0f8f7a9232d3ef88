package terminal

import (
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
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

// marks are those of a look.
type marks struct {
	failed, warning, nearMiss, question mark
	over                                func(wire.Iteration) mark
	end                                 func(loop.Class) mark // of a loop
	more                                mark                  // below an end
	plain                               bool                  // blocks are lines, and no live line tells the model
}

// anyUpdate is one as anybody may have written it.
type anyUpdate struct {
	SessionUpdate, MessageID, ParentToolCallID, Label, Output, State, Reason, Message string

	wire.Said
	Content json.RawMessage
}

// Show shows an update. What is asked can be answered only while it is live.
func (s *told) Show(it journal.Item, isLive bool) {
	var u anyUpdate
	if json.Unmarshal(it.JSON, &u) != nil {
		return
	}
	var content wire.TextContent
	json.Unmarshal(u.Content, &content) // a tool's is none
	switch by := (speaker{message: u.MessageID, parent: u.ParentToolCallID}); u.SessionUpdate {
	case wire.KindMessageChunk:
		s.begins(by)
		s.say(stream.Plain(content.Text), by)
	case wire.KindThoughtChunk:
		s.begins(by)
		if by.thinking = true; s.cfg.thinking {
			s.say(stream.Plain(content.Text), by)
		}
	case wire.KindDiscard:
		s.speak.Drop(by.parent)
		if !s.marks.plain {
			delete(s.held, speaker{parent: by.parent})
		}
		s.ended(by.parent, true)
	case wire.KindUsage: // the agent tells it behind a message, and nothing else may come for long
		if _, speaks := s.speak.Get(""); speaks {
			s.speak.Drop("")
			s.ended("", false)
		}
	case wire.KindUserChunk:
		if s.cfg.Here == "" { // else the user knows
			s.Note(Line("> " + content.Text))
		}
	case wire.KindNote:
		s.Note(Line(u.Label + ": " + u.Text))
	case wire.KindToolCall, wire.KindToolCallUpdate:
		s.tool(it)
	case wire.KindIteration:
		s.iteration(it.JSON)
	case wire.KindEnd:
		if e, ok := EndOf(it.JSON); ok && s.cfg.Here == "" {
			s.End(e)
		}
	case wire.KindQuestion:
		how := s.cfg
		if !isLive {
			how.Answer = ""
		}
		s.asked(how, it.JSON)
	default:
		s.retell(u)
	}
}

// iteration shows that one begins or ends.
func (s *told) iteration(update []byte) {
	u, ok := IterationOf(update)
	if !ok {
		return
	}
	s.releaseAll()
	if u.Phase != wire.PhaseBegin {
		s.note(s.marks.over(u).on(s.cfg.Palette, wire.JoinFacts(Line(u.Facts), wire.ChangesText(u.Changes))))
		return
	}
	*s.calls = callLog{} // those of the run before are over
	s.begin("iteration " + wire.JoinFacts(tell.OfMax(u.Iteration, u.MaxIterations), wire.HatText(loop.IterationStart{Hat: u.Hat, Topic: u.Topic}), Line(u.Task)))
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

// tool shows the begin or the end of a tool call.
func (s *told) tool(it journal.Item) {
	var end wire.ToolCallUpdate
	var begin wire.ToolCall
	switch {
	case json.Unmarshal(it.JSON, &end) != nil || json.Unmarshal(it.JSON, &begin) != nil:
	case end.SessionUpdate == wire.KindToolCall:
		call, title := stream.ToolCall{ID: begin.ToolCallID, Name: begin.Name, ParentToolCallID: begin.ParentToolCallID, Input: begin.RawInput}, Line(begin.Line())
		s.release(call.ParentToolCallID)
		s.calls.begin(call, title, it.At)
		s.call(s.calls.bar(call.ParentToolCallID), title)
	case end.Status != wire.StatusInProgress:
		r := stream.ToolResult{ID: end.ToolCallID, ParentToolCallID: end.ParentToolCallID, IsError: end.Status == wire.StatusFailed, Spent: end.Spent.Of()}
		for _, c := range end.Content {
			r.Output += c.Content.Text
		}
		s.speak.Drop(r.ID)
		s.ended(r.ID, false) // who worked for the call says no more
		s.release(r.ParentToolCallID)
		bar, facts := s.calls.end(r, it.At)
		s.result(bar, facts, r)
	}
}

// asked shows a question, and how it is answered.
func (s *told) asked(how Config, update []byte) {
	var q wire.Question
	if json.Unmarshal(update, &q) != nil {
		return
	}
	lines := how.ask(q.Question)
	lines[0] = s.marks.question.on(s.cfg.Palette, lines[0])
	s.note(lines...)
}

// retell shows what a loop tells, in its words.
func (s *told) retell(u anyUpdate) {
	m, text, isHere := mark{"", codeOf(u.Class)}, u.Text, s.cfg.Here != ""
	switch u.SessionUpdate {
	case wire.KindSession:
		if isHere && !s.marks.plain { // the live line tells the model
			return
		}
	case wire.KindError:
		m = s.marks.failed
	case wire.KindWarning:
		m, text = s.marks.warning, u.Message // which says where to read on
	case wire.KindPromise:
		m = s.marks.nearMiss
	case wire.KindGuidance:
		m.code = sgrCyan
	case wire.KindAnswer:
		m.code = sgrYellow
	case wire.KindState:
		m.code = sgrYellow
		if isPaused := u.State == string(loop.StatePaused); isPaused && isHere && u.Reason == loop.PauseUnchecked {
			return // it was told with what can be done
		} else if isPaused && isHere {
			text += "; " + GoOn
		}
	}
	if text == "" {
		return
	}
	s.note(m.on(s.cfg.Palette, Line(text)))
	if u.Class == loop.ClassWarning {
		for _, line := range excerpt(u.Output, errorLines) {
			s.note(s.cfg.Palette.paint(m.code, "  "+Fit(line, consoleTitle)))
		}
	}
	if isHere {
		s.note(offerLines(s.cfg.Here, u.Offers)...)
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
		if s.marks.plain && other != by && !s.calls.several() { // what others are in the middle of comes first
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

// maxHeld is how many speakers are in the middle of a block. Of more, what they have begun is shown.
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
