package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// modelClient is a client of the Model Context Protocol with its server.
type modelClient struct {
	*terminalRun
	in   io.WriteCloser
	from *bufio.Scanner
}

func (c *modelClient) says(format string, args ...any) {
	c.t.Helper()
	must.OK(c.t, must.Err(fmt.Fprintf(c.in, format+"\n", args...)))
}

// hears is the next line.
func (c *modelClient) hears() string {
	c.t.Helper()
	if !c.from.Scan() {
		c.t.Fatalf("the server is gone: %v\n%s", c.from.Err(), c.out.String())
	}
	return c.from.Text()
}

func (c *modelClient) status() string {
	c.says(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ralph_status","arguments":{}}}`)
	return c.hears()
}

// A model's loop is told of, whatever its state file says by now. When all that would end its processes is killed, the
// server does.
func TestAModelsServerSweeps(t *testing.T) {
	r := &terminalRun{t: t, folder: t.TempDir()}
	r.mark = "RALPH_TEST_RUN=" + r.folder
	ofAgent := "RALPH_TEST_AGENT=" + r.folder
	t.Cleanup(func() { proctest.Kill(t, r.mark) })
	bin := t.TempDir()
	_, works, _ := strings.Cut(stubborn, "\n") // it is spoken to as long as it works
	script := "#!/bin/sh\n[ \"$1\" != --version ] || exec echo 9.9.9\nexport " + ofAgent + "\n" + works
	insist(os.WriteFile(filepath.Join(bin, "claude"), []byte(script), 0o700))
	r.cmd = exec.Command("ralph-lsp", "mcp", "-C", r.folder)
	r.cmd.Env = append(os.Environ(), r.mark, "PATH="+bin+":"+os.Getenv("PATH"))
	r.cmd.Stderr = &r.out
	in, err := r.cmd.StdinPipe()
	insist(err)
	from, err := r.cmd.StdoutPipe()
	insist(err)
	insist(r.cmd.Start())
	c := &modelClient{r, in, bufio.NewScanner(from)}
	const hello = `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}`
	c.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":%s}`, hello)
	c.hears()
	c.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ralph_start","arguments":{"prompt":"Do it"}}}`)
	var asked struct{ ID json.RawMessage }
	if line := c.hears(); json.Unmarshal([]byte(line), &asked) != nil || !strings.Contains(line, "elicitation/create") {
		t.Fatal(line)
	}
	c.says(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":"Start"}}}`, asked.ID)
	if line := c.hears(); !strings.Contains(line, `"isError":false`) {
		t.Fatal(line)
	}
	pids := r.pids()
	file := filepath.Join(r.folder, filepath.FromSlash(loopstate.Name))
	before, err := os.ReadFile(file)
	insist(err)
	must.Write(t, file, "no state file")
	if said := c.status(); !strings.Contains(said, "): 1/50 · working") {
		t.Errorf("it is told as %s", said)
	}
	must.Write(t, file, string(before))
	for _, name := range []string{"keeper", "reaper"} {
		insist(syscall.Kill(pids[name], syscall.SIGKILL))
	}
	proctest.CheckNone(t, deadline, ofAgent)
	proctest.Until(t, "it is told as interrupted", func() bool { return strings.Contains(c.status(), "interrupted") })
	insist(in.Close())
	r.isNone()
}
