package tooluse

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// A run that never ends keeps no more than one that does.
func TestALogIsBounded(t *testing.T) {
	var d Log
	now := time.Now()
	for i := range 5000 {
		id := strconv.Itoa(i)
		d.Begin(stream.ToolCall{ID: id, Name: "write", Input: fmt.Appendf(nil, `{"path":"f%d","content":%q}`, i, strings.Repeat("x", 1000))}, now)
		if i%2 == 0 {
			d.End(stream.ToolResult{ID: id, IsError: i%4 == 0}, now)
		}
		d.End(stream.ToolResult{ID: "unknown"}, now)
	}
	if d.calls.Len() > 1024 || d.failed.Len() > 1024 || len(d.Wrote) != maxWrote || d.Wrote[0] != "f2" {
		t.Errorf("%d calls, %d that failed, %q", d.calls.Len(), d.failed.Len(), d.Wrote)
	}
}
