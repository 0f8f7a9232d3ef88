//go:build e2e

package clients

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

const (
	patience   = 10 * time.Minute  // bounds a client's whole run; its own waits are shorter
	goneWithin = proctest.Patience // every process of a client, after its end: only what hangs takes longer
)

func TestEglot(t *testing.T) { runERT(t, "eglot") }

func TestLSPMode(t *testing.T) { runERT(t, "lsp-mode") }

// runERT runs the tests of a client in Emacs, set up as docs/EDITORS.md says.
func runERT(t *testing.T, client string) {
	setUp := filepath.Join(t.TempDir(), "init.el")
	must.Write(t, setUp, recipe(t, "## Emacs", "elisp")[0]+recipe(t, "### "+client, "elisp")[0])
	out := drive(t, nil, emacs(t), "--batch", "--no-site-file", "-L", "emacs", "-l", "support", "-l", setUp, "-l", client+"-test", "-f", "ert-run-tests-batch-and-exit")
	demand(t, out, `Ran [1-9]\d* tests, [1-9]\d* results as expected, 0 unexpected`)
}

func TestProtocolLibrary(t *testing.T) {
	node, err := exec.LookPath("node")
	must.OK(t, err)
	library := []string{"PROTOCOL_LIBRARY=" + protocolLibrary(t)}
	out := drive(t, library, node, "--test-reporter=tap", "node/plain.test.mjs")
	demand(t, out, `\n# pass [1-9]\d*\n# fail 0\n`)
}

// The public client of the Model Context Protocol reads all that it is told by the protocol's schema.
func TestMCPClient(t *testing.T) {
	dir, err := agents.CacheDir()
	must.OK(t, err)
	set, err := agents.Install(t.Context(), dir, os.Stderr)
	must.OK(t, err)
	client := filepath.Join(filepath.Dir(set.BinDir(agents.MCPClient)), filepath.FromSlash(agents.MCPClient.Package))
	out := drive(t, []string{"MCP_CLIENT=" + client}, filepath.Join(set.NodeBinDir(), "node"), "--test-reporter=tap", "node/mcp.test.mjs")
	demand(t, out, `\n# pass 10\n# fail 0\n`)
}

// drive runs a client in a sandbox, with more variables in its environment,
// until it exits with success. It returns what the client printed, and checks
// that no process is left.
func drive(t *testing.T, environ []string, program string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	home := t.TempDir()
	mark := fmt.Sprintf("RALPH_CLIENTS_TEST=%s-%d", t.Name(), os.Getpid())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(environ, "RALPH_EDITOR_GRACE=0s", // a client that goes takes its loop with it at once
		mark,
		"HOME="+home,
		"TMPDIR="+home,
		"LANG=C.UTF-8",
		"PATH="+agentsDir, // no agent of this machine is found
		"RALPH_LSP="+ralph,
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", filepath.Base(program), err, out)
	}
	proctest.CheckNone(t, goneWithin, mark)
	return out
}

// demand fails the test when the client didn't print what is wanted.
func demand(t *testing.T, out []byte, want string) {
	t.Helper()
	if !regexp.MustCompile(want).Match(out) {
		t.Errorf("no %q in the output:\n%s", want, out)
	}
}
