//go:build unix

package server

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// TestWhatIsNoFileIsRefusedAtOnce has things in the places of files that would
// block whoever opens or reads them.
func TestWhatIsNoFileIsRefusedAtOnce(t *testing.T) {
	agent := agentThat(t, "never")
	fifo := func(t *testing.T, path string) {
		t.Helper()
		os.MkdirAll(filepath.Dir(path), 0o700)
		must.OK(t, syscall.Mkfifo(path, 0o600))
	}
	folder := func(t *testing.T, path string) {
		t.Helper()
		must.OK(t, os.MkdirAll(path, 0o700))
	}
	file := func(t *testing.T, path string) { must.Write(t, path, "x") }
	start := map[string]any{"prompt": "x", "backend": agent}
	for name, tt := range map[string]struct {
		make     func(*testing.T, string)
		path     string
		command  string
		argument map[string]any
		want     string
	}{
		"promptUri is a pipe":         {fifo, "TASK.md", wire.CommandStart, map[string]any{"promptUri": "DIR/TASK.md", "backend": agent}, wire.ReasonBadPrompt},
		"promptUri is a folder":       {folder, "TASK.md", wire.CommandStart, map[string]any{"promptUri": "DIR/TASK.md", "backend": agent}, wire.ReasonBadPrompt},
		"the prompt file is a pipe":   {fifo, "PROMPT.md", wire.CommandStart, map[string]any{"backend": agent}, wire.ReasonBadPrompt},
		"the backend is a folder":     {folder, "agent", wire.CommandStart, map[string]any{"prompt": "x", "backend": "DIR/agent"}, wire.ReasonBackendNotFound},
		"the backend isn't a program": {file, "agent", wire.CommandStart, map[string]any{"prompt": "x", "backend": "DIR/agent"}, wire.ReasonBackendNotFound},
		"the state file is a pipe":    {fifo, ".pi/ralph-loop.local.md", wire.CommandStart, start, wire.ReasonBadStateFile},
		"the state file is a folder":  {folder, ".pi/ralph-loop.local.md", wire.CommandStart, start, wire.ReasonBadStateFile},
		"resume of a pipe":            {fifo, ".pi/ralph-loop.local.md", wire.CommandResume, map[string]any{}, wire.ReasonBadStateFile},
		"cancel of a folder":          {folder, ".pi/ralph-loop.local.md", wire.CommandCancel, map[string]any{}, wire.ReasonBadStateFile},
		".pi is a file":               {file, ".pi", wire.CommandStart, start, wire.ReasonBadStateFile},
		"ralph.toml is a pipe":        {fifo, "ralph.toml", wire.CommandStart, start, wire.ReasonBadConfig},
		"ralph.toml is a folder":      {folder, "ralph.toml", wire.CommandPlan, map[string]any{"backend": agent}, wire.ReasonBadConfig},
		"the log of a pipe":           {fifo, "s.jsonl", wire.CommandRead, map[string]any{"sessionFileUri": "DIR/s.jsonl"}, wire.ReasonNoSession},
		"the log of a folder":         {folder, "s.jsonl", wire.CommandRead, map[string]any{"sessionFileUri": "DIR/s.jsonl"}, wire.ReasonNoSession},
		"the log of a device":         {file, "x", wire.CommandRead, map[string]any{"sessionFileUri": "file:///dev/zero"}, wire.ReasonNoSession},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(t, filepath.Join(dir, tt.path))
			argument := map[string]any{}
			for key, value := range tt.argument {
				if text, ok := value.(string); ok {
					root := dir
					if strings.HasSuffix(key, "Uri") {
						root = wire.FileURI(dir)
					}
					value = strings.Replace(text, "DIR", root, 1)
				}
				argument[key] = value
			}
			c := dial(t, optedIn, dir)
			m := c.Command(tt.command, argument)
			if got := reason(t, m); got != tt.want || m.Error.Code != rpc.CodeRequestFailed {
				t.Errorf("%d %q (%s), want %q", m.Error.Code, got, m.Error.Message, tt.want)
			}
		})
	}
}
