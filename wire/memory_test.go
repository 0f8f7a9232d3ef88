package wire

import (
	"fmt"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Calls that never get a result are bounded, and the last ones end with their run.
func TestCallsWithoutResultsAreBounded(t *testing.T) {
	var p Projector
	for i := range 3 * maxCalls {
		p.Event(stream.ToolCall{ID: fmt.Sprint("t", i), Name: "bash"})
	}
	ends := p.Unfinished(loop.IterationEnd{})
	if len(ends) != maxCalls || ends[maxCalls-1].(ToolCallUpdate).ToolCallID != fmt.Sprint("t", 3*maxCalls-1) {
		t.Errorf("%d calls end, the last is %+v", len(ends), ends[len(ends)-1])
	}
}
