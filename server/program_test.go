//go:build !race

package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// TestConversationsWithTheProgram has them with the program, as editors start it.
func TestConversationsWithTheProgram(t *testing.T) {
	t.Parallel()
	program := buildProgram(t)
	converse(t, "inside", func(t *testing.T) *lsptest.Speaker { return startOutside(t, program) })
}

func buildProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "ralph-lsp")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "../cmd/ralph-lsp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built, and other parts of make ci
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	return program
}

func startOutside(t *testing.T, program string) *lsptest.Speaker {
	cmd := exec.Command(program)
	cmd.Dir = t.TempDir()
	log := new(lsptest.LogBuffer)
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	must.OK(t, err)
	out, outW, err := os.Pipe()
	must.OK(t, err)
	cmd.Stdout = outW
	must.OK(t, cmd.Start())
	_ = outW.Close()
	exit := make(chan int, 1)
	go func() {
		_ = cmd.Wait()
		exit <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _, _, _ = in.Close(), out.Close(), cmd.Process.Kill() })
	return lsptest.NewSpeaker(t, in, out, log, exit, cmd.Process.Signal)
}
