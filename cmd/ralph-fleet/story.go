package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// story makes lines for a terminal of a loop's updates, like those of ralph-lsp run.
type story struct {
	out   io.Writer
	loop  string // its id
	name  string // stands before each line; "" where it is the only loop
	flags string // of command lines about the bus
	stood string // how the loop stood last

	speaks  string // whose message is printed, and whether its line is open
	midLine bool
	held    string // the line that is open, where other loops may say something between
	call    string // the call that was shown last, as long as nothing came behind it
	calls   stream.Recent[string]
}

// told is what a terminal shows of an update.
type told struct {
	SessionUpdate, Phase, State, StopReason, Text, MessageID, ParentToolCallID, ToolCallID, Title, Status, Facts string

	Content json.RawMessage
}

const (
	maxTitle    = 120    // of a line about a tool, in characters
	maxRepeated = 40     // of a title that is said again
	belowBar    = "  ┊ " // stands before what an agent of an agent does
)

// take takes an update. Only what is said now can be answered.
func (s *story) take(line []byte, isLive bool) error {
	var u told
	if json.Unmarshal(line, &u) != nil {
		return nil
	}
	bar := ""
	if u.ParentToolCallID != "" {
		bar = belowBar
	}
	switch u.SessionUpdate {
	case wire.KindMessageChunk:
		var c wire.TextContent
		json.Unmarshal(u.Content, &c) // without a text there is none
		return s.text(stream.Plain(c.Text), u.MessageID+"\n"+u.ParentToolCallID, bar)
	case wire.KindThoughtChunk, wire.KindEnd: // the loop's end is the record's to tell
		return nil
	case wire.KindState:
		if loop.State(u.State).Over() {
			return nil
		}
	case wire.KindDiscard:
		return s.line("(" + u.Text + ")")
	case wire.KindToolCall:
		s.calls.Put(u.ToolCallID, u.Title)
		defer func() { s.call = u.ToolCallID }()
		return s.line(bar + "> " + stream.Line(u.Title, maxTitle))
	case wire.KindToolCallUpdate:
		return s.result(u, bar)
	case wire.KindIteration:
		if u.Phase == wire.PhaseBegin {
			return s.line("--- " + u.Text + " ---")
		}
		return s.line("--- " + u.Text)
	case wire.KindQuestion:
		return s.question(line, isLive)
	}
	if u.Text == "" {
		return nil
	}
	return s.line(u.Text)
}

// result is a line for a tool's result, with the beginning of its output.
func (s *story) result(u told, bar string) error {
	if u.Status == wire.StatusInProgress {
		return nil
	}
	title := ""
	if called, ok := s.calls.Get(u.ToolCallID); ok && s.call != u.ToolCallID {
		title = stream.Line(called, maxRepeated)
	}
	s.calls.Drop(u.ToolCallID)
	var contents []wire.ToolContent
	json.Unmarshal(u.Content, &contents) // without a content there is no output
	output := ""
	for _, c := range contents {
		output += c.Content.Text
	}
	output = strings.TrimSpace(stream.Plain(output))
	first, rest, more := strings.Cut(output, "\n")
	if more {
		first += fmt.Sprintf(" (+ %s)", tell.Counted(strings.Count(rest, "\n")+1, "line"))
	}
	mark := "ok"
	if u.Status == wire.StatusFailed {
		mark = "failed"
	}
	return s.line(bar + "  " + stream.Line(wire.JoinFacts(mark, title, u.Facts, first), maxTitle))
}

// question shows what an agent asks and, if it still waits, the command line that answers.
func (s *story) question(line []byte, isLive bool) error {
	var q wire.Question
	if json.Unmarshal(line, &q) != nil {
		return nil
	}
	lines := wire.AskedLines(asked(q), maxAskedLines, "ralph-fleet answer "+s.loop)
	if isLive {
		lines = append(lines, howToAnswer(asked(q), "ralph-fleet answer "+s.loop+s.flags))
	}
	return s.line(strings.Join(lines, "\n"))
}

// maxAskedLines is how many lines of a question are shown while a loop runs.
const maxAskedLines = 40

// text prints a piece of a message: as it comes, or in whole lines where others speak, too.
func (s *story) text(text, by, bar string) error {
	if text == "" {
		return nil
	}
	var out bytes.Buffer
	if by != s.speaks {
		s.end(&out)
	}
	s.speaks, s.call = by, ""
	for line := range strings.Lines(text) {
		if !s.midLine {
			line = s.before() + bar + line
		}
		s.midLine = !strings.HasSuffix(line, "\n")
		if s.name == "" || !s.midLine && s.held == "" {
			out.WriteString(line)
			continue
		}
		if s.held += line; !s.midLine || len(s.held) > wire.MaxText {
			out.WriteString(s.held)
			s.held = ""
		}
	}
	_, err := s.out.Write(out.Bytes())
	return err
}

func (s *story) before() string {
	if s.name == "" {
		return ""
	}
	return s.name + " | "
}

// end ends a line of text that is open.
func (s *story) end(out *bytes.Buffer) {
	if s.midLine {
		out.WriteString(s.held + "\n")
	}
	s.midLine, s.held = false, ""
}

// line prints lines of their own.
func (s *story) line(text string) error {
	var out bytes.Buffer
	s.end(&out)
	s.call, s.speaks = "", ""
	for line := range strings.Lines(text) {
		fmt.Fprintln(&out, s.before()+strings.TrimRight(cmp.Or(line, ""), "\n"))
	}
	_, err := s.out.Write(out.Bytes())
	return err
}
