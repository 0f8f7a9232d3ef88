//go:build unix

package server

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWhatIsNoFileIsRefusedAtOnce has things in the places of files that would
// block whoever opens or reads them.
func TestWhatIsNoFileIsRefusedAtOnce(t *testing.T) {
	agent := agentThat(t, "never")
	fifo := func(t *testing.T, path string) {
		t.Helper()
		os.MkdirAll(filepath.Dir(path), 0o700)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := func(t *testing.T, path string) {
		t.Helper()
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := func(t *testing.T, path string) { writeFile(t, path, "x") }
	start := map[string]any{"prompt": "x", "backend": agent}
	for name, tt := range map[string]struct {
		make     func(*testing.T, string)
		path     string
		command  string
		argument map[string]any
		want     string
	}{
		"promptUri is a pipe":         {fifo, "TASK.md", CommandStart, map[string]any{"promptUri": "DIR/TASK.md", "backend": agent}, ReasonBadPrompt},
		"promptUri is a folder":       {folder, "TASK.md", CommandStart, map[string]any{"promptUri": "DIR/TASK.md", "backend": agent}, ReasonBadPrompt},
		"the prompt file is a pipe":   {fifo, "PROMPT.md", CommandStart, map[string]any{"backend": agent}, ReasonBadPrompt},
		"the backend is a folder":     {folder, "agent", CommandStart, map[string]any{"prompt": "x", "backend": "DIR/agent"}, ReasonBackendNotFound},
		"the backend isn't a program": {file, "agent", CommandStart, map[string]any{"prompt": "x", "backend": "DIR/agent"}, ReasonBackendNotFound},
		"the state file is a pipe":    {fifo, ".pi/ralph-loop.local.md", CommandStart, start, ReasonBadStateFile},
		"the state file is a folder":  {folder, ".pi/ralph-loop.local.md", CommandStart, start, ReasonBadStateFile},
		"resume of a pipe":            {fifo, ".pi/ralph-loop.local.md", CommandResume, map[string]any{}, ReasonBadStateFile},
		"cancel of a folder":          {folder, ".pi/ralph-loop.local.md", CommandCancel, map[string]any{}, ReasonBadStateFile},
		".pi is a file":               {file, ".pi", CommandStart, start, ReasonBadStateFile},
		"ralph.toml is a pipe":        {fifo, "ralph.toml", CommandStart, start, ReasonBadConfig},
		"ralph.toml is a folder":      {folder, "ralph.toml", CommandPlan, map[string]any{"backend": agent}, ReasonBadConfig},
		"a transcript of a pipe":      {fifo, "s.jsonl", CommandTranscript, map[string]any{"sessionFileUri": "DIR/s.jsonl"}, ReasonNoSession},
		"a transcript of a folder":    {folder, "s.jsonl", CommandTranscript, map[string]any{"sessionFileUri": "DIR/s.jsonl"}, ReasonNoSession},
		"a transcript of a device":    {file, "x", CommandTranscript, map[string]any{"sessionFileUri": "file:///dev/zero"}, ReasonNoSession},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(t, filepath.Join(dir, tt.path))
			argument := map[string]any{}
			for key, value := range tt.argument {
				if text, ok := value.(string); ok {
					root := dir
					if strings.HasSuffix(key, "Uri") {
						root = FileURI(dir)
					}
					value = strings.Replace(text, "DIR", root, 1)
				}
				argument[key] = value
			}
			c := dial(t, optedIn, dir)
			m := c.Command(tt.command, argument)
			if got := reason(t, m); got != tt.want || m.Error.Code != codeRequestFailed {
				t.Errorf("%d %q (%s), want %q", m.Error.Code, got, m.Error.Message, tt.want)
			}
		})
	}
}
