//go:build e2e

package clients

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// acpx is the real client, which starts the program and gives it a prompt, in a folder of its own.
func acpx(t *testing.T, prompt string) *exec.Cmd {
	t.Helper()
	dir, err := agents.CacheDir()
	must.OK(t, err)
	set, err := agents.Install(context.Background(), dir, os.Stderr)
	must.OK(t, err)
	home := t.TempDir()
	mark := "ACPX_TEST=" + home
	cmd := exec.Command(filepath.Join(set.BinDir(agents.ACPX), "acpx"), "--agent", ralph+" acp", "--approve-all", "exec", prompt)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + set.NodeBinDir() + ":" + agentsDir + ":/usr/bin:/bin", mark}
	t.Cleanup(func() { proctest.CheckNone(t, goneWithin, mark) })
	return cmd
}

func TestALoopInACPX(t *testing.T) {
	cmd := acpx(t, "Make all tests pass --completion-promise DONE")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("acpx: %v", err)
	}
	for _, want := range []string{"[in_progress] iteration 1 of ", "── iteration 1 of ", "One test still fails.", "── iteration 2 of ", "All tests pass.", "done: DONE after 2 iterations", "[completed] iteration 2 of ", "[done] end_turn"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "Error handling notification") {
		t.Errorf("acpx doesn't know what it is told:\n%s", out)
	}
}

// Whatever becomes of acpx, nothing of its loop is left.
func TestACPXDies(t *testing.T) {
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(by.String(), func(t *testing.T) {
			cmd := acpx(t, "Work "+endless)
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.StdoutPipe()
			must.OK(t, err)
			must.OK(t, cmd.Start())
			for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "[tool]"); {
				t.Log(lines.Text())
			}
			_, ran := os.Stat(filepath.Join(cmd.Dir, "agent.pid"))
			must.OK(t, cmd.Process.Signal(by))
			_ = cmd.Wait()
			if ran != nil {
				t.Errorf("no agent ran: %v\n%s", ran, said.String())
			}
		})
	}
}
