package crew

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Below hands on the events of a run that isn't the iteration's only one, as those of a
// subagent: all that watch show them under the call of its name.
type Below struct {
	Call stream.ToolCall
	Show func(stream.Event) // tells of the call
	Tell func(stream.Event) // hands on what the run did below it
	Run  func(stream.Event) // takes what is about the run as a whole
	Says func(text string)  // takes each message of its agent

	began time.Time
	spent stream.Spent
}

// IsOurs says whether an event begins or ends an agent of the loop's own.
func IsOurs(e stream.Event) bool {
	switch e := e.(type) {
	case stream.ToolCall:
		return e.ParentToolCallID == ""
	case stream.ToolResult:
		return e.ParentToolCallID == ""
	}
	return false
}

// Begin tells that the run begins.
func (b *Below) Begin() {
	b.began = time.Now()
	b.Show(b.Call)
}

// End tells what it came to, and what it used.
func (b *Below) End(output string, isError bool) {
	b.spent.Duration = time.Since(b.began).Round(time.Millisecond)
	b.Show(stream.ToolResult{ID: b.Call.ID, Output: output, IsError: isError, Spent: b.spent})
}

// Handle follows the run. Its reader calls it.
func (b *Below) Handle(e stream.Event) {
	if used, ok := e.(stream.Usage); ok {
		b.spent.Cost, b.spent.Tokens = used.Cost, used.Tokens.Total()
	}
	switch it := e.(type) {
	case stream.MessageEnd:
		if it.ParentToolCallID == "" {
			b.Says(it.Text)
		}
		b.Tell(stream.Below(e, b.Call.ID))
	case stream.SessionStart, stream.Usage, stream.Retry, stream.Quota, stream.Compaction,
		stream.TurnEnd, stream.Error, stream.Heard, stream.Question, stream.Moot, stream.Answered, stream.Complete:
		b.Run(e)
	default:
		b.Tell(stream.Below(e, b.Call.ID))
	}
}
