package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// BenchmarkIterationGap measures what the loop adds between one agent's exit
// and the next one's start: an iteration with a trivial agent (loop), less
// starting that agent without a loop (agent), less the one write of the state
// file with its fsync (statefile). The difference is the metric gap-ms.
func BenchmarkIterationGap(b *testing.B) {
	const program = "/bin/echo"
	b.Run("agent", func(b *testing.B) {
		for b.Loop() {
			must.OK(b, must.Err(exec.Command(program, "hello").Output()))
		}
	})
	b.Run("statefile", func(b *testing.B) {
		file, err := loopstate.Open(b.TempDir())
		must.OK(b, err)
		must.OK(b, file.Create(loopstate.State{Active: true, Iteration: 1, Prompt: "x"}))
		for b.Loop() {
			must.OK(b, must.Err(file.Update(func(s *loopstate.State) error { s.Iteration++; return nil })))
		}
	})
	// Runs that use no tool would be paced.
	said := filepath.Join(b.TempDir(), "said")
	if err := os.WriteFile(said, []byte(`{"type":"tool_execution_start","toolCallId":"t","toolName":"bash","args":{}}
{"type":"tool_execution_end","toolCallId":"t","toolName":"bash","result":{"content":[]},"isError":false}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"hello"}],"stopReason":"stop"}}
{"type":"agent_settled"}
`), 0o600); err != nil {
		b.Fatal(err)
	}
	for name, agent := range map[string][]string{
		"loop":         {"/bin/cat", said},
		"loop/changes": {"/bin/sh", "-c", `echo $$ >file; exec cat "$0"`, said}, // git keeps a file of each
	} {
		b.Run(name, func(b *testing.B) {
			w := &timer{}
			bounds := limits.Default()
			bounds.MaxIterations, bounds.MaxUnchanged = max(b.N, 2), 0
			l, err := drive(setup.Config{
				Folder: b.TempDir(), Storage: setup.Storage{History: history.Options{Folder: b.TempDir()},
					Changes: changes.Options{Keep: time.Hour, MaxFile: 1 << 20,
						Dir: b.TempDir()}}, Prompt: "x", Limits: bounds, Values: settings.Values{Instruct: new(false)},
				Backend: backends.Custom(agent[0], agent[1:], backends.PromptStdin, decode.FormatPi),
			}, setup.Host{}, w)
			must.OK(b, err)
			if end := l.Wait(); end.Reason != loop.StopMaxIterations {
				b.Fatalf("%+v", end)
			}
			b.ReportMetric(float64(w.gaps.Microseconds())/1000/float64(bounds.MaxIterations-1), "end-to-start-ms/op")
		})
	}
}

// timer adds up the time between an iteration's end and the next one's begin.
type timer struct {
	ended time.Time
	gaps  time.Duration
}

func (*timer) Handle(stream.Event) {}

func (t *timer) HandleLoop(e loop.Event) {
	switch e.(type) {
	case loop.IterationEnd:
		t.ended = time.Now()
	case loop.IterationStart:
		if !t.ended.IsZero() {
			t.gaps += time.Since(t.ended)
		}
	}
}

// BenchmarkHandle is what the loop itself does with a piece of text.
func BenchmarkHandle(b *testing.B) {
	l := bare(func(l *Loop) { l.engine.obs = &timer{} })
	var e stream.Event = stream.Text{Delta: "some words ", MessageID: "m1"}
	b.ReportAllocs()
	for b.Loop() {
		l.engine.runs.handle(e)
	}
}

// bare is a loop that isn't begun.
func bare(with func(*Loop)) *Loop {
	l := &Loop{assemble(&core{host: setup.Host{Presence: &nearby{}}})}
	l.engine.inbox.Open()
	with(l)
	l.engine.pending = &ask.Pending{}
	l.engine.state.Pending = l.engine.pending
	l.engine.snapshots.Folder = l.engine.cfg.Folder
	return l
}
