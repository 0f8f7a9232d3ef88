//go:build e2e

package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// acpClient is a client of the Agent Client Protocol. It starts the program and a session.
type acpClient struct {
	t       *testing.T
	dir     string
	mark    string // in the environment of all that it starts
	program *exec.Cmd
	in      io.WriteCloser
	heard   chan acpMessage
	session string
}

type acpMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Update struct {
			SessionUpdate, Title string
			Content              json.RawMessage
		}
	}
	Result struct {
		SessionID, StopReason string
		Sessions              []struct{ SessionID string }
	}
	Error *struct{ Message string }
}

func newACP(t *testing.T) *acpClient { return dialACP(t, t.TempDir(), t.TempDir()) }

// again is the next client in the same folder, of the same user.
func again(t *testing.T, c *acpClient) *acpClient {
	return dialACP(t, strings.TrimPrefix(c.mark, "ACP_TEST="), c.dir)
}

func dialACP(t *testing.T, home, dir string) *acpClient {
	t.Helper()
	c := &acpClient{t: t, dir: dir, mark: "ACP_TEST=" + home, program: exec.Command(ralph, "acp"), heard: make(chan acpMessage, 1000)}
	c.program.Env = []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + agentsDir + ":/usr/bin:/bin", c.mark}
	var err error
	if c.in, err = c.program.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.program.StdoutPipe()
	must.OK(t, err)
	must.OK(t, c.program.Start())
	t.Cleanup(func() { _ = c.in.Close(); _ = c.program.Wait(); proctest.CheckNone(t, goneWithin, c.mark) })
	go func() {
		defer close(c.heard)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var m acpMessage
			if err := json.Unmarshal(line, &m); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			c.heard <- m
		}
	}()
	c.ask(0, "initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	c.ask(1, "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, c.dir))
	c.until("the session", func(m acpMessage) bool { c.session = m.Result.SessionID; return c.session != "" })
	return c
}

func (c *acpClient) ask(id int, method, params string) {
	c.t.Helper()
	must.OK(c.t, must.Err(fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)))
}

func (c *acpClient) prompt(id int, text string) {
	c.t.Helper()
	c.ask(id, "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, c.session, text))
}

// until returns all that is heard up to what is waited for.
func (c *acpClient) until(what string, isIt func(acpMessage) bool) (all string) {
	c.t.Helper()
	for {
		select {
		case m, ok := <-c.heard:
			if !ok {
				c.t.Fatalf("the agent ends before %s:\n%s", what, all)
			}
			if all += fmt.Sprintf("%s %s %s\n", m.Params.Update.SessionUpdate, m.Params.Update.Title, m.Params.Update.Content); isIt(m) {
				return all
			}
		case <-time.After(shownWithin):
			c.t.Fatalf("%s doesn't come:\n%s", what, all)
		}
	}
}

// A prompt is a whole loop, and its answer the last that is said of it.
func TestALoopOverACP(t *testing.T) {
	c := newACP(t)
	c.prompt(2, "Make all tests pass --completion-promise DONE")
	said := c.until("the end of the turn", func(m acpMessage) bool { return m.Result.StopReason == "end_turn" })
	for _, want := range []string{"── iteration 1 of ", "One test still fails.", "── iteration 2 of ", "All tests pass.", "session_info_update Ralph ", "done: DONE after 2 iterations"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// The client's stop leaves a loop that goes on when it is asked to; its end leaves nothing.
func TestALoopOverACPIsStopped(t *testing.T) {
	c := newACP(t)
	pid := filepath.Join(c.dir, "agent.pid")
	c.prompt(2, "Work "+endless)
	c.until("a tool call", func(m acpMessage) bool { return m.Params.Update.SessionUpdate == "tool_call" })
	_, _ = fmt.Fprintf(c.in, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", c.session)
	c.until("the cancelled turn", func(m acpMessage) bool { return m.Result.StopReason == "cancelled" })
	if out, err := exec.Command("test", "-e", pid).CombinedOutput(); err != nil {
		t.Fatalf("no agent ran: %v %s", err, out)
	}
	c.prompt(3, "/ralph-resume")
	c.until("a tool call", func(m acpMessage) bool { return m.Params.Update.SessionUpdate == "tool_call" })
	// The client goes away in the middle; the clean-up looks for what is left.
}

// A loop that is to go on does so without its client. The next one lists it, loads it, speaks to it and stops it.
func TestALoopOverACPGoesOnAlone(t *testing.T) {
	c := newACP(t)
	c.prompt(2, "Work "+endless+" --on-close keep")
	c.until("a tool call", func(m acpMessage) bool { return m.Params.Update.SessionUpdate == "tool_call" })
	_ = c.in.Close()
	must.OK(t, c.program.Wait())
	next := again(t, c)
	next.ask(2, "session/list", fmt.Sprintf(`{"cwd":%q}`, c.dir))
	next.until("the list", func(m acpMessage) bool {
		for _, s := range m.Result.Sessions {
			next.session = s.SessionID
		}
		return string(m.ID) == "2"
	})
	next.ask(3, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, next.session, c.dir))
	next.until("what it did", func(m acpMessage) bool { return m.Params.Update.SessionUpdate == "tool_call" })
	next.until("the answer", func(m acpMessage) bool { return string(m.ID) == "3" })
	next.prompt(4, "Leave the parser alone")
	next.until("that it is told", func(m acpMessage) bool { return strings.Contains(string(m.Params.Update.Content), "is told") })
	_, _ = fmt.Fprintf(next.in, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", next.session)
	next.until("the cancelled turn", func(m acpMessage) bool { return m.Result.StopReason == "cancelled" })
}
