package terminal

import (
	"encoding/json"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Viewer shows with a style what was told of a loop elsewhere, or earlier: updates of the wire,
// which anybody may have written.
type Viewer struct {
	Style
	at    time.Time             // when what is shown happened; zero: nobody knows
	speak stream.Recent[string] // the message that is at work, of each call that has an agent work
}

// NewViewer returns the Viewer with the style called name. Its clock is that of the story.
func NewViewer(name string, cfg Config) *Viewer {
	v := new(Viewer)
	cfg.Now = func() time.Time { return v.at }
	v.Style = New(name, cfg)
	return v
}

// Show shows an update. What is asked can be answered only while it is live.
func (v *Viewer) Show(it journal.Item, isLive bool) {
	v.at = it.At
	if s, ok := v.Style.(*jsonStyle); ok {
		s.stamp.Iteration = it.Iteration
		s.write(wire.Raw(it.JSON))
		return
	}
	var u struct {
		SessionUpdate, MessageID, ParentToolCallID, FromAgentID, Label, Output string

		wire.Said
		Content json.RawMessage
	}
	if json.Unmarshal(it.JSON, &u) != nil {
		return
	}
	var content wire.TextContent
	json.Unmarshal(u.Content, &content) // a tool's is none
	switch u.SessionUpdate {
	case wire.KindMessageChunk:
		v.begins(u.MessageID, u.ParentToolCallID)
		v.Handle(stream.Text{Delta: content.Text, MessageID: u.MessageID, ParentToolCallID: u.ParentToolCallID})
	case wire.KindThoughtChunk:
		v.begins(u.MessageID, u.ParentToolCallID)
		v.Handle(stream.Thinking{Delta: content.Text, MessageID: u.MessageID, ParentToolCallID: u.ParentToolCallID})
	case wire.KindDiscard:
		v.speak.Drop(u.ParentToolCallID)
		v.Handle(stream.MessageEnd{MessageID: u.MessageID, ParentToolCallID: u.ParentToolCallID, Discarded: true})
	case wire.KindUserChunk:
		who := ""
		if u.FromAgentID != "" {
			who = u.FromAgentID + ": "
		}
		v.Note(Line("> " + who + content.Text))
	case wire.KindNote:
		v.Note(Line(u.Label + ": " + u.Text))
	case wire.KindToolCall, wire.KindToolCallUpdate:
		v.tool(it.JSON)
	case wire.KindIteration, wire.KindEnd:
		if e := EventOf(it.JSON); e != nil {
			v.HandleLoop(e)
		}
	default:
		if s, ok := v.Style.(*told); ok {
			s.retell(u.SessionUpdate, u.Said, u.Output, it.JSON, isLive)
		}
	}
}

// Tell shows a line about the loop.
func (v *Viewer) Tell(text string) {
	if s, ok := v.Style.(*told); ok {
		s.note(Line(text))
	}
}

// begins ends the message before, as nothing else says that it is over.
func (v *Viewer) begins(message, parent string) {
	if last, ok := v.speak.Get(parent); ok && last != message {
		v.Handle(stream.MessageEnd{MessageID: last, ParentToolCallID: parent})
	}
	v.speak.Put(parent, message)
}

// tool shows the begin or the end of a tool call.
func (v *Viewer) tool(update []byte) {
	var end wire.ToolCallUpdate
	var begin wire.ToolCall
	s, ok := v.Style.(*told)
	switch {
	case !ok || json.Unmarshal(update, &end) != nil || json.Unmarshal(update, &begin) != nil:
	case end.SessionUpdate == wire.KindToolCall:
		s.called(stream.ToolCall{ID: begin.ToolCallID, Name: begin.Name, ParentToolCallID: begin.ParentToolCallID, Input: begin.RawInput}, Line(begin.Line()))
	case end.Status != wire.StatusInProgress:
		r := stream.ToolResult{ID: end.ToolCallID, ParentToolCallID: end.ParentToolCallID, IsError: end.Status == wire.StatusFailed}
		for _, c := range end.Content {
			r.Output += c.Content.Text
		}
		if p := end.Spent; p != nil {
			r.Spent = stream.Spent{Cost: wire.CostOf(p.CostUSD), Tokens: p.Tokens, Duration: history.DurationOf(p.DurationMs)}
		}
		v.Handle(r)
	}
}

// EventOf is what an update of an iteration, or of a loop's end, was made of; nil for another one.
func EventOf(update []byte) loop.Event {
	var u wire.Iteration
	if json.Unmarshal(update, &u) != nil {
		return nil
	}
	switch {
	case u.SessionUpdate == wire.KindEnd:
		var end struct { // its keys are those of the record, but for one
			history.LoopEnd
			UnknownCosts int
		}
		if json.Unmarshal(update, &end) != nil {
			return nil
		}
		end.LoopEnd.UnknownCosts = end.UnknownCosts
		return loop.EndOfRecord(end.LoopEnd)
	case u.SessionUpdate != wire.KindIteration:
		return nil
	case u.Phase == wire.PhaseBegin:
		return loop.IterationStart{Iteration: u.Iteration, MaxIterations: u.MaxIterations, Hat: u.Hat, Topic: u.Topic}
	}
	return loop.IterationEnd{
		Iteration: u.Iteration, Hat: u.Hat, Outcome: loop.Outcome(u.Outcome), Error: u.Error, Cost: wire.CostOf(u.CostUSD), Turns: known(u.Turns), ToolCalls: known(u.ToolCalls),
		Duration: history.DurationOf(known(u.DurationMs)), Tokens: known(u.Tokens), Skipped: known(u.SkippedLines), Changes: u.Changes,
	}
}

// known is a value, the zero one where it isn't known.
func known[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
