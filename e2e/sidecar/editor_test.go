//go:build e2e

package sidecar

import (
	"os"
	"os/exec"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

// editor is a client of the built sidecar, with the process and its output in
// its hands.
type editor struct {
	*lsptest.Client
	cmd  *exec.Cmd
	out  *os.File // the sidecar's stdout
	done chan struct{}
}

// launch starts a sidecar for some folders. command is the sidecar, or a
// program that starts it.
func launch(t testing.TB, command *exec.Cmd, folders ...string) *editor {
	t.Helper()
	stdin, err := command.StdinPipe()
	must.OK(t, err)
	r, w, err := os.Pipe()
	must.OK(t, err)
	command.Stdout = w
	must.OK(t, command.Start())
	w.Close()
	e := &editor{lsptest.New(t, stdin, r, patience), command, r, make(chan struct{})}
	go func() {
		command.Wait()
		close(e.done)
	}()
	t.Cleanup(func() {
		e.Close()
		<-e.done
		r.Close()
	})
	e.Initialize(map[string]any{
		"window":       map[string]any{"workDoneProgress": true},
		"experimental": map[string]any{"ralph": map[string]any{"version": 2, "updates": true}},
	}, folders...)
	return e
}

// start starts a loop of an agent that plays the role in its environment and
// speaks pi's stream.
func (e *editor) start(dir, prompt string) {
	e.Must(e.begin(dir, prompt)())
}

// begin starts the loop without waiting for the answer: an editor that doesn't
// read doesn't get it.
func (e *editor) begin(dir, prompt string) (answer func() lsptest.Message) {
	return e.beginWith(os.Args[0], dir, prompt)
}

// beginWith starts a loop of another agent that speaks pi's stream.
func (e *editor) beginWith(agent, dir, prompt string) (answer func() lsptest.Message) {
	return e.BeginCommand("ralph.loop.start", map[string]any{
		"folder": "file://" + dir, "backend": agent, "text": prompt + " --backend-output pi-stream-json --completion-promise DONE",
	})
}
