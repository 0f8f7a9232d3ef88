package history

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// turn collects one answer of the model with the results of its tools, until
// its usage is known and all of it can be written.
type turn struct {
	open      bool
	ended     bool // text is final
	messageID string
	text      []byte
	split     bool // text is the last piece of a long message
	calls     []stream.ToolCall
	results   []stream.ToolResult
	size      int // of calls and results, in bytes
}

// breakTurn writes a turn that has become large before it ends: some agents tell
// of no end before the run's.
func (w *Writer) breakTurn() {
	t := w.turn
	if t.size <= maxPiece && len(t.calls) < maxRunning {
		return
	}
	w.endTurn(stream.TurnEnd{})
	if !t.ended {
		w.message(t.messageID).split = true
	}
}

// maxPiece is how much of a message is kept in memory, in bytes: an agent of
// plain text may never end its only one.
const maxPiece = 2 << 20

// Handle writes the agent's messages, calls and results. Pieces of text and output aren't written, only the whole.
// The loop's journal has everything else that an event tells.
func (w *Writer) Handle(e stream.Event) {
	if w == nil {
		return
	}
	switch e := e.(type) {
	case stream.SessionStart:
		w.atWork(e)
	case stream.Text:
		if e.ParentToolCallID == "" {
			w.say(e)
		}
	case stream.Thinking: // it isn't kept: to another model it would look like something that was said
		if e.ParentToolCallID == "" {
			w.message(e.MessageID)
		}
	case stream.MessageEnd:
		w.endMessage(e)
	case stream.ToolCall:
		w.call(e)
	case stream.ToolResult:
		w.result(e)
	case stream.TurnEnd:
		w.message(w.turn.messageID)
		w.endTurn(e)
		w.settle()
	case stream.Usage:
		if w.due = e; !w.inTurn { // else the end of its turn may explain it
			w.settle()
		}
	}
}

// atWork writes pi's own entry for another model.
func (w *Writer) atWork(e stream.SessionStart) {
	w.session = e
	if name := w.provider() + "/" + e.Model; e.Model != "" && name != w.modelTold {
		w.modelTold = name
		w.append("model_change", &modelEntry{Provider: w.provider(), ModelID: w.model()})
	}
}

// provider is the word for who serves the model. Not every agent says it.
func (w *Writer) provider() string {
	switch {
	case w.session.Provider != "":
		return w.session.Provider
	case w.session.Backend == "claude":
		return "anthropic"
	}
	return unknown
}

func (w *Writer) model() string {
	if w.session.Model == "" {
		return unknown
	}
	return w.session.Model
}

// unknown stands where pi wants a word and the agent has none.
const unknown = "unknown"

// message returns the turn with that message, after writing the one before.
func (w *Writer) message(id string) *turn {
	if w.turn.ended && id != w.turn.messageID {
		w.endTurn(stream.TurnEnd{})
	}
	w.inTurn, w.turn.open, w.turn.messageID = true, true, id
	return &w.turn
}

// say collects a message's text, and writes it in pieces if it is long.
func (w *Writer) say(e stream.Text) {
	t := w.message(e.MessageID)
	if len(t.text) > maxPiece && len(t.calls) > 0 {
		return // it can't be written before its calls have results; its end will bring the rest
	}
	t.text = append(t.text, e.Delta...)
	if len(t.text) > maxPiece && len(t.calls) == 0 {
		w.endTurn(stream.TurnEnd{})
		w.message(e.MessageID).split = true
	}
}

// endMessage takes over a message's authoritative text. Subagents' messages aren't in the model's context.
func (w *Writer) endMessage(e stream.MessageEnd) {
	switch {
	case e.ParentToolCallID != "":
	case e.Discarded:
		w.turn.text = nil
	default:
		t := w.message(e.MessageID)
		t.ended = true
		shown := strings.TrimSpace(string(t.text))
		if !t.split && shown != strings.TrimSpace(e.Text) { // else the white space stays as it was shown
			t.text = []byte(e.Text)
		}
	}
}

// call takes note of a tool call: its message has to wait for the result.
func (w *Writer) call(e stream.ToolCall) {
	if e.ParentToolCallID == "" {
		if len(w.turn.calls) == 2*maxRunning { // they get no results
			w.breakTurn()
		}
		t := &w.turn
		w.inTurn, t.open = true, true
		t.calls = append(t.calls, e)
		t.size += len(e.Input)
	}
	if len(w.running) == maxRunning {
		w.running = slices.Delete(w.running, 0, 1)
	}
	w.running = append(w.running, e)
}

// maxRunning is how many calls without a result are remembered, to end them with
// the run: an agent that never tells results has no end of them.
const maxRunning = 1024

// result keeps a result for its message, if that is still to be written. Any
// other can't be part of the context any more: a result must follow its call.
func (w *Writer) result(e stream.ToolResult) {
	e.Output = kept(e.Output)
	isIt := func(c stream.ToolCall) bool { return c.ID == e.ID }
	known := slices.ContainsFunc(w.running, isIt)
	w.running = slices.DeleteFunc(w.running, isIt)
	if e.ParentToolCallID == "" && slices.ContainsFunc(w.turn.calls, isIt) {
		w.turn.results = append(w.turn.results, e)
		w.turn.size += len(e.Output)
		if len(w.turn.results) == len(w.turn.calls) {
			w.breakTurn()
		}
		return
	}
	w.event(eventToolResult, resultPayload{e.ID, e.Output, !known})
}

// maxOutput is how much of a tool's output an entry can have, in bytes as JSON: a
// longer line isn't read back, and the rest of the entry is short.
const maxOutput = maxLine - 64<<10

// kept is what a session keeps of a tool's output: all, or its beginning and its end.
func kept(output string) string {
	all := output
	for limit := maxOutput; !fits(output); limit /= 2 {
		output, _, _ = format.Excerpt(all, limit)
	}
	return output
}

// fits says whether an entry can have an output.
func fits(output string) bool {
	if len(output) <= maxOutput/6 { // no byte takes more than that
		return true
	}
	line, err := marshalLine(output)
	return err == nil && len(line) <= maxOutput
}

// endTurn writes the message with its results.
func (w *Writer) endTurn(end stream.TurnEnd) {
	t := w.turn
	if !t.open {
		return
	}
	w.turn = turn{}
	m := assistantMessage{
		Role: "assistant", Content: []block{}, API: unknown, Provider: w.provider(), Model: w.model(),
		Usage: usageOf(end.Usage), StopReason: stopReason(end, len(t.calls)), ErrorMessage: end.Error,
		Timestamp: time.Now().UnixMilli(),
	}
	if len(t.text) > 0 {
		m.Content = append(m.Content, textBlock(string(t.text)))
	}
	for _, c := range t.calls {
		m.Content = append(m.Content, callBlock(c))
	}
	w.append("message", &messageEntry{Message: m})
	w.run = w.run.Plus(end.Usage)
	for _, r := range t.results {
		i := slices.IndexFunc(t.calls, func(c stream.ToolCall) bool { return c.ID == r.ID })
		w.append("message", &messageEntry{Message: toolResultMessage{
			Role: "toolResult", ToolCallID: r.ID, ToolName: t.calls[i].Name, Content: []block{textBlock(r.Output)},
			IsError: r.IsError, Timestamp: time.Now().UnixMilli(),
		}})
	}
}

// settle ends a turn, and writes usage that isn't the sum of the turns.
func (w *Writer) settle() {
	w.inTurn = false
	u, was := w.due, w.run
	if w.due = (stream.Usage{}); u == was || u == (stream.Usage{}) {
		return
	}
	w.run = u
	more := stream.Usage{
		Tokens: u.Tokens.Minus(was.Tokens),
		Cost:   stream.Cost{USD: u.Cost.USD - was.Cost.USD, Known: u.Cost.Known},
	}
	w.append("usage", &usageEntry{Kind: usageKind, Provider: w.provider(), Model: w.model(), Usage: usageOf(more), Total: u.Cost})
}

// endRun writes what is left of a run: a message that never ended, and results
// for the tools that never did.
func (w *Writer) endRun(interrupted bool) {
	if len(w.turn.text) > 0 || len(w.turn.calls) > 0 {
		end := stream.TurnEnd{}
		if !w.turn.ended && interrupted {
			end.StopReason = "aborted"
		}
		w.endTurn(end)
	}
	w.settle()
	for _, c := range w.running {
		w.event(eventToolResult, resultPayload{ToolCallID: c.ID, Result: InterruptedText})
	}
	w.turn, w.running, w.run, w.due = turn{}, nil, stream.Usage{}, stream.Usage{}
}

// InterruptedText is the result of a tool that was stopped.
const InterruptedText = "interrupted"
