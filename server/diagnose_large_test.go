//go:build !race

package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestAHundredThousandErrorsProveNothing(t *testing.T) {
	c, dir := diagnosed(t, diagnosing)
	many := shown(dir, 1, "")
	for i := range 100_000 {
		many.Diagnostics = append(many.Diagnostics, wire.Diagnostic{URI: many.Seen[0], Severity: 1, Message: fmt.Sprint("error ", i%1000)})
	}
	c.Answer(wire.MethodDiagnostics, func(json.RawMessage) any { return many })
	c.startDiagnosed()
	if paused := c.status(dir, inState(string(loop.StatePaused))); !strings.Contains(paused.Unchecked, "there are more than 2000 errors") {
		t.Errorf("paused: %q", paused.Unchecked)
	}
}
