package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// below hands on the events of a run that isn't the iteration's only one, as those of a
// subagent: all that watch show them under the call of its name.
type below struct {
	call stream.ToolCall
	show func(stream.Event) // tells of the call
	tell func(stream.Event) // hands on what the run did below it
	run  func(stream.Event) // takes what is about the run as a whole
	says func(text string)  // takes each message of its agent

	began time.Time
	spent stream.Spent
}

// begin tells that the run begins.
func (b *below) begin() {
	b.began = time.Now()
	b.show(b.call)
}

// end tells what it came to.
func (b *below) end(output string, isError bool) {
	b.show(b.result(output, isError))
}

// result is the end of the call, with what the run used.
func (b *below) result(output string, isError bool) stream.ToolResult {
	b.spent.Duration = time.Since(b.began).Round(time.Millisecond)
	return stream.ToolResult{ID: b.call.ID, Output: output, IsError: isError, Spent: b.spent}
}

// Handle follows the run. Its reader calls it.
func (b *below) Handle(e stream.Event) {
	if used, ok := e.(stream.Usage); ok {
		b.spent.Cost, b.spent.Tokens = used.Cost, used.Tokens.Total()
	}
	switch it := e.(type) {
	case stream.MessageEnd:
		if it.ParentToolCallID == "" {
			b.says(it.Text)
		}
		b.tell(stream.Below(e, b.call.ID))
	case stream.SessionStart, stream.Usage, stream.Retry, stream.Quota, stream.Compaction,
		stream.TurnEnd, stream.Error, stream.Heard, stream.Question, stream.Moot, stream.Answered, stream.Complete:
		b.run(e)
	default:
		b.tell(stream.Below(e, b.call.ID))
	}
}

// isOurs says whether an event begins or ends an agent of the loop's own.
func isOurs(e stream.Event) bool {
	switch e := e.(type) {
	case stream.ToolCall:
		return e.ParentToolCallID == ""
	case stream.ToolResult:
		return e.ParentToolCallID == ""
	}
	return false
}

// tellEvent hands an event on that is about no run of the iteration's own.
func (l *ground) tellEvent(e stream.Event) {
	switch e.(type) {
	case stream.ToolCall, stream.ToolResult:
		l.change(func(p *progress.State) { p.Status.Agents.Follow(e, time.Now()) })
		if isOurs(e) {
			l.setOwner()
		}
	}
	l.emitMu.Lock()
	defer l.emitMu.Unlock()
	l.obs.Handle(e)
}
