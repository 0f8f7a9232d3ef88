package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/cmd/internal/cli"
)

// demoRuns are what the demo's agent prints in each of its runs, in pi's JSON mode.
//
//go:embed demo/*.jsonl
var demoRuns embed.FS

// demoPauses are made behind events of a kind, so that one can read along.
var demoPauses = map[string]time.Duration{
	"turn_start":           350 * time.Millisecond, // it thinks
	"message_update":       12 * time.Millisecond,
	"tool_execution_start": 200 * time.Millisecond,
}

// newDemoAgent is the scripted agent of the demo: it plays a recording, and really
// makes the edits that are in it.
func newDemoAgent() *cobra.Command {
	var fast bool
	cmd := &cobra.Command{
		Use:    "demo-agent",
		Hidden: true,
		Args:   cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// It knows what to do; but who closes a pipe unread breaks it for the writer.
			if _, err := io.Copy(io.Discard, cmd.InOrStdin()); err != nil {
				return fmt.Errorf("reading the prompt: %w", err)
			}
			run, err := demoRuns.ReadFile("demo/" + os.Getenv(backends.EnvIteration) + ".jsonl")
			if err != nil {
				return fmt.Errorf("finding what to play: %w", err)
			}
			return playDemo(verbatim(cmd.OutOrStdout()), run, fast)
		},
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "don't pause for the reader")
	return cmd
}

func playDemo(out io.Writer, run []byte, fast bool) error {
	for line := range bytes.Lines(run) {
		var event demoEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("reading the recording: %w", err)
		}
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("writing the stream: %w", err)
		}
		if !fast {
			time.Sleep(demoPauses[event.Type])
		}
		if err := event.edit(); err != nil {
			return fmt.Errorf("mending %s: %w", event.Args.Path, err)
		}
	}
	return nil
}

// demoEvent is what matters of an event of a run.
type demoEvent struct {
	Type string
	Args struct { // of a tool
		Path  string
		Edits []struct{ OldText, NewText string }
	}
}

// edit does what a call of the edit tool asks for, and nothing for other events.
func (e demoEvent) edit() error {
	for _, edit := range e.Args.Edits {
		source, err := os.ReadFile(e.Args.Path)
		if err != nil {
			return err
		}
		mended := bytes.Replace(source, []byte(edit.OldText), []byte(edit.NewText), 1)
		if bytes.Equal(mended, source) {
			return fmt.Errorf("there is no %q in it", edit.OldText)
		}
		if err := os.WriteFile(e.Args.Path, mended, 0o600); err != nil {
			return err
		}
	}
	return nil
}
