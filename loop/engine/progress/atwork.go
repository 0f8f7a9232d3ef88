package progress

import (
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// maxInput is how much other processes are told of what a tool was given, in bytes.
const maxInput = 1 << 10

// Recorded is how a loop stands, for the record of its owner: as much of it as other processes show, and of the agents at work
// those that the loop itself has work. What agents ask is cut until all of it can be read; nil: the state file tells.
func Recorded(s loop.Status) json.RawMessage {
	for most := ask.MaxFileDetail; ; most /= 2 {
		said := ask.JSON(recorded(s, most))
		if len(said) <= loopstate.MaxStatus {
			return json.RawMessage(said)
		}
		if most == 0 {
			return nil
		}
	}
}

func recorded(s loop.Status, most int) loop.Status {
	s.Agents = slices.DeleteFunc(slices.Clone(s.Agents), func(t loop.ToolStatus) bool {
		return t.Call.ParentToolCallID != "" || t.Call.Name != setup.StepCall && t.Call.Name != setup.ReviewCall
	})
	if t := s.Tool; t != nil && len(t.Call.Input) > maxInput {
		cut := *t
		cut.Call.Input = nil
		s.Tool = &cut
	}
	s.Questions = slices.Clone(s.Questions)
	for i := range s.Questions {
		s.Questions[i] = s.Questions[i].Short(most)
	}
	return s
}
