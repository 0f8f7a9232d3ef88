package server

import (
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
)

// patience bounds every wait of a test for something that must happen.
const patience = lsptest.Patience

// TestConversations has each of them twice: with a server in this process and
// with the program as editors start it.
func TestConversations(t *testing.T) {
	t.Parallel()
	program := buildProgram(t)
	for _, c := range lsptest.ReadConversations(t, "testdata/conversations/*.txt") {
		t.Run(c.Title, func(t *testing.T) {
			t.Parallel()
			if c.Runs != "outside" {
				t.Run("inside", func(t *testing.T) { startInside(t, Options{}).Play(c.Steps) })
			}
			if c.Runs != "inside" {
				t.Run("outside", func(t *testing.T) { startOutside(t, program).Play(c.Steps) })
			}
		})
	}
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

func startInside(t *testing.T, o Options) *lsptest.Speaker {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	exit := make(chan int, 1)
	log := new(lsptest.LogBuffer)
	o.Version, o.Log = "test", slog.New(slog.NewTextHandler(log, nil))
	go func() {
		exit <- Run(t.Context(), inR, outW, o)
		_, _ = inR.Close(), outW.Close() // as the end of a process does
	}()
	t.Cleanup(func() { _, _ = inW.Close(), outR.Close() })
	return lsptest.NewSpeaker(t, inW, outR, log, exit, nil)
}

func startOutside(t *testing.T, program string) *lsptest.Speaker {
	cmd := exec.Command(program)
	cmd.Dir = t.TempDir()
	log := new(lsptest.LogBuffer)
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = outW
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = outW.Close()
	exit := make(chan int, 1)
	go func() {
		_ = cmd.Wait()
		exit <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() { _, _, _ = in.Close(), out.Close(), cmd.Process.Kill() })
	return lsptest.NewSpeaker(t, in, out, log, exit, cmd.Process.Signal)
}
