package progress

import (
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// IsOthers says whether an agent isn't one that this loop itself has work.
func IsOthers(t loop.ToolStatus) bool {
	return t.Call.ParentToolCallID != "" || t.Call.Name != setup.StepCall && t.Call.Name != setup.ReviewCall
}

// Small is the tool that runs, for the record, which is small.
func Small(t *loop.ToolStatus) *loop.ToolStatus {
	const most = 1 << 10
	if t == nil || len(t.Call.Input) <= most {
		return t
	}
	cut := *t
	cut.Call.Input = nil
	return &cut
}
