package demo

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// What the demo's agent is recorded to have seen is what it would see: the check
// and the file say so after each of its edits.
func TestTheDemoIsTrue(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.WriteFile(File, []byte(Program), 0o600))
	for run := 1; run <= 3; run++ {
		recording, err := runs.ReadFile(fmt.Sprintf("runs/%d.jsonl", run))
		must.OK(t, err)
		var calls []stream.ToolCall
		for line := range bytes.Lines(recording) {
			must.OK(t, play(io.Discard, line, true))
			_, err := decode.Reader{Format: decode.FormatPi, Handler: stream.HandlerFunc(func(e stream.Event) {
				switch e := e.(type) {
				case stream.ToolCall:
					calls = append(calls, e)
				case stream.ToolResult:
					checkResult(t, run, calls[len(calls)-1].Name, e)
				}
			})}.Run(bytes.NewReader(line))
			must.OK(t, err)
		}
		if len(calls) < 4 {
			t.Errorf("run %d calls only %d tools", run, len(calls))
		}
	}
}

func checkResult(t *testing.T, run int, tool string, got stream.ToolResult) {
	t.Helper()
	data := must.Read(t, File)
	program := string(data)
	switch tool {
	case "read":
		if got.Output != program {
			t.Errorf("run %d reads %q, and there is %q", run, got.Output, program)
		}
	case "bash":
		var said strings.Builder
		wrong, err := Check(&said, program)
		must.OK(t, err)
		failed := wrong > 0
		if output, _, _ := strings.Cut(got.Output, "\nCommand exited"); output != said.String() || got.IsError != failed {
			t.Errorf("run %d hears %q (failed %t), and the check says %q (failed %t)", run, output, got.IsError, said.String(), failed)
		}
	}
}
