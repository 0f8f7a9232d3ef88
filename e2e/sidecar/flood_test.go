//go:build e2e

package sidecar

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// maxMemory bounds the sidecar's resident memory during a flood, in KiB.
const maxMemory = 64 << 10

// How an editor reads what a flood makes of its sidecar.
const (
	reads       = "reads"
	readsSlowly = "reads slowly" // a kilobyte a second
	neverReads  = "never reads"
)

var readers = []string{reads, readsSlowly, neverReads}

// floods are the agents that print a flood of events, a test's or a benchmark's: written as
// pi writes them, and as fast as a pipe takes them.
func floods(t testing.TB) map[string]string {
	size := testFlood
	if _, isBench := t.(*testing.B); isBench {
		size = benchFlood
	}
	t.Setenv(floodEnv, strconv.Itoa(size))
	asPi, err := filepath.Abs(filepath.Join("testdata", "flood.mjs"))
	must.OK(t, err)
	return map[string]string{"as pi": asPi, "as a pipe takes it": os.Args[0]}
}

// TestAFlood floods the sidecar, whatever its editor reads. The
// agent comes to its end, and the memory stays bounded; an editor that reads
// hears all, in order, or how much was left out. How long it takes is the
// benchmark's.
func TestAFlood(t *testing.T) {
	for name, agent := range floods(t) {
		for _, reader := range readers {
			if agent != os.Args[0] && reader != reads {
				continue // it is slower than a pipe, and so less of a flood
			}
			t.Run(name+", editor "+reader, func(t *testing.T) {
				e, heard, end := beginFlood(t, agent, reader)
				defer end()
				if reader == reads {
					heard.awaitEnd(t)
					heard.check(t)
				}
				if memory := peakMemory(e.cmd.Process.Pid); memory > maxMemory {
					t.Errorf("the sidecar used %d KiB, want %d", memory, maxMemory)
				}
			})
		}
	}
}

// beginFlood starts a sidecar whose agent floods it and waits until the agent
// is through. end lets the editor read on, and ends the sidecar.
func beginFlood(t testing.TB, agent, reader string) (e *editor, heard *tallied, end func()) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(sidecar, "--stdio")
	cmd.Env = append(os.Environ(), roleEnv+"=flood")
	e, heard = launch(t, cmd, dir), &tallied{}
	gate := make(chan struct{})
	e.Divert(func(m lsptest.Message) {
		switch reader {
		case readsSlowly:
			time.Sleep(time.Duration(len(m.Params)) * time.Millisecond)
		case neverReads:
			<-gate
		}
		heard.add(m)
	})
	e.beginWith(agent, dir, "x")
	heard.took = floodTook(t, dir)
	return e, heard, func() {
		close(gate)
		e.cmd.Process.Signal(os.Interrupt)
		<-e.done
	}
}

// took is what an agent says that its flood took it.
type took struct{ wall, processor time.Duration }

// floodTook waits until the flood is over.
func floodTook(t testing.TB, dir string) (told took) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < patience; proctest.Pause(begun) {
		data, err := os.ReadFile(filepath.Join(dir, "flood-took"))
		if err != nil || len(data) == 0 {
			continue
		}
		wall, processor, _ := strings.Cut(string(data), " ")
		var errs [2]error
		told.wall, errs[0] = time.ParseDuration(wall)
		told.processor, errs[1] = time.ParseDuration(processor)
		must.OK(t, errors.Join(errs[:]...))
		return told
	}
	t.Fatal("the flood doesn't end")
	return told
}

// peakMemory is the most resident memory that a living process has had, in KiB.
func peakMemory(pid int) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(data), "VmHWM:")
	kib, _ := strconv.Atoi(strings.Fields(after + " 0")[0])
	return kib
}

// tallied counts what an editor heard.
type tallied struct {
	took took

	mu      sync.Mutex
	tools   []string // in the order in which they began
	running map[string]bool
	ended   int
	text    int // bytes
	cursor  string
	dropped int
	wrong   string // the first thing that was out of order
	over    bool
}

func (c *tallied) add(m lsptest.Message) {
	if m.Method != "ralph/update" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[string]bool{}
	}
	var p struct {
		After, Cursor string
		Dropped       int
		Updates       []struct {
			SessionUpdate, ToolCallID, Status string
			Content                           json.RawMessage
		}
	}
	json.Unmarshal(m.Params, &p)
	if c.cursor != "" && p.After != "" && p.After != c.cursor { // without one, something is left out
		c.complain("what follows %s came behind %s", p.After, c.cursor)
	}
	c.cursor, c.dropped = p.Cursor, c.dropped+p.Dropped
	for _, u := range p.Updates {
		switch u.SessionUpdate {
		case "agent_message_chunk":
			var content struct{ Text string }
			json.Unmarshal(u.Content, &content)
			c.text += len(content.Text)
		case "tool_call":
			c.tools = append(c.tools, u.ToolCallID)
			c.running[u.ToolCallID] = true
		case "tool_call_update":
			if !c.running[u.ToolCallID] {
				c.complain("tool %s ended before it began, or twice", u.ToolCallID)
			}
			delete(c.running, u.ToolCallID)
			c.ended++
		case "_ralph/end":
			c.over = true
		}
	}
}

// complain keeps the first thing that is wrong.
func (c *tallied) complain(format string, args ...any) {
	if c.wrong == "" {
		c.wrong = fmt.Sprintf(format, args...)
	}
}

func (c *tallied) awaitEnd(t testing.TB) {
	t.Helper()
	proctest.Until(t, "the end", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.over
	})
}

// check looks at what must arrive, and at the order.
func (c *tallied) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong != "" {
		t.Error(c.wrong)
	}
	if len(c.tools) != floodTools || c.ended != floodTools {
		t.Errorf("%d tools began and %d ended, want %d", len(c.tools), c.ended, floodTools)
	}
	for i, id := range c.tools {
		if want := fmt.Sprintf("t%d", i*(testFlood/floodTools)); id != want {
			t.Fatalf("tool %d is %s, want %s", i, id, want)
		}
	}
	// What was read at once is one update of up to 4 KiB. Inputs and outputs of tools
	// may be left out as well, and a piece that is divided counts twice.
	const perUpdate = 4096 / len(floodText)
	missing := testFlood - c.text/len(floodText)
	if missing > perUpdate*c.dropped || c.dropped > missing+3*floodTools {
		t.Errorf("%d pieces of text are missing, %d updates are said to be left out", missing, c.dropped)
	}
}
