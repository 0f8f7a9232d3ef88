package executor

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Subagent passes on the events of a run that isn't the iteration's only one, as a subagent's: observers show them
// under the call with its name.
type Subagent struct {
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
func (s *Subagent) Begin() {
	s.began = time.Now()
	s.Show(s.Call)
}

// End tells what it came to, and what it used.
func (s *Subagent) End(output string, isError bool) {
	s.spent.Duration = stream.Duration(time.Since(s.began).Round(time.Millisecond))
	s.Show(stream.ToolResult{ID: s.Call.ID, Output: output, IsError: isError, Spent: s.spent})
}

// Handle follows the run. Its reader calls it.
func (s *Subagent) Handle(e stream.Event) {
	if used, ok := e.(stream.Usage); ok {
		s.spent.Cost, s.spent.Tokens = used.Cost, used.Tokens.Total()
	}
	switch it := e.(type) {
	case stream.MessageEnd:
		if it.ParentToolCallID == "" {
			s.Says(it.Text)
		}
		s.Tell(stream.Below(e, s.Call.ID))
	case stream.SessionStart, stream.Usage, stream.Retry, stream.Quota, stream.Compaction,
		stream.TurnEnd, stream.Error, stream.Heard, stream.Question, stream.Withdrawn, stream.Answered, stream.Complete:
		s.Run(e)
	default:
		s.Tell(stream.Below(e, s.Call.ID))
	}
}
