//go:build e2e

package sidecar

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ralph-lsp/internal/lsptest"
)

// maxMemory bounds the sidecar's resident memory during a flood, in KiB.
const maxMemory = 64 << 10

// maxSlower is how much longer a flood of pi's may take than into a file.
const maxSlower = 1.1

// TestAFlood gives the sidecar a million events, with editors that read, that
// read a kilobyte a second, and that never read: written as pi writes them, and
// as fast as a pipe takes them.
func TestAFlood(t *testing.T) {
	asPi, err := filepath.Abs(filepath.Join("testdata", "flood.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("as pi", func(t *testing.T) { floodFrom(t, asPi, maxSlower) })
	t.Run("as a pipe takes it", func(t *testing.T) { floodFrom(t, os.Args[0], math.Inf(1)) })
}

// floodFrom lets an agent flood the sidecar. It may be slower by a factor than
// it is into a file.
func floodFrom(t *testing.T, agent string, limit float64) {
	toFile, toPipe := floodInto(t, agent, "file"), floodInto(t, agent, "pipe")
	t.Logf("to a file %v, to a pipe that is only read %v", toFile, toPipe)
	for _, reader := range []string{"reads", "reads slowly", "never reads"} {
		t.Run(reader, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(sidecar, "--stdio")
			cmd.Env = append(os.Environ(), roleEnv+"=flood")
			e := launch(t, cmd, dir)
			var heard tallied
			gate := make(chan struct{})
			e.Divert(func(m lsptest.Message) {
				switch reader {
				case "reads slowly":
					time.Sleep(time.Duration(len(m.Params)) * time.Millisecond) // a kilobyte a second
				case "never reads":
					<-gate
				}
				heard.add(m)
			})
			peak := watchMemory(e.cmd.Process.Pid)
			e.beginWith(agent, dir, "x")
			took := floodTook(t, dir)
			memory, ofFile := peak(), took.Seconds()/toFile.Seconds()
			t.Logf("agent: %v (%.2f of a file, %.2f of a pipe), sidecar: %d MiB", took, ofFile, took.Seconds()/toPipe.Seconds(), memory>>10)
			if ofFile > limit {
				t.Errorf("the agent took %.2f times as long as into a file, want %.2f", ofFile, limit)
			}
			if memory > maxMemory {
				t.Errorf("the sidecar used %d KiB, want %d", memory, maxMemory)
			}
			if reader == "reads" {
				heard.awaitEnd(t)
				heard.check(t)
			}
			close(gate)
			e.cmd.Process.Signal(os.Interrupt)
			<-e.done
		})
	}
}

// floodInto is how long the flood takes when it goes into a file, or into a
// pipe whose reader does nothing else.
func floodInto(t *testing.T, agent, what string) time.Duration {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(agent)
	cmd.Env, cmd.Dir = append(os.Environ(), roleEnv+"=flood"), dir
	cmd.Stdout = struct{ io.Writer }{io.Discard} // no file: os/exec makes a pipe and reads it
	if what == "file" {
		out, err := os.Create(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		cmd.Stdout = out
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return floodTook(t, dir)
}

// floodTook waits until the flood is over and returns what it says it took.
func floodTook(t *testing.T, dir string) time.Duration {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if data, err := os.ReadFile(filepath.Join(dir, "flood-took")); err == nil && len(data) > 0 {
			took, err := time.ParseDuration(string(data))
			if err != nil {
				t.Fatal(err)
			}
			return took
		}
	}
	t.Fatal("the flood doesn't end")
	return 0
}

// watchMemory samples a process's resident memory; the function it returns
// gives the peak so far, in KiB.
func watchMemory(pid int) (peak func() int) {
	return func() int {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, _ := strings.Cut(string(data), "VmHWM:")
		kib, _ := strconv.Atoi(strings.Fields(after + " 0")[0])
		return kib
	}
}

// tallied counts what an editor heard.
type tallied struct {
	mu                     sync.Mutex
	begun, ended           map[string]bool
	last, progress, status int
	dropped, notifications int
	over                   bool
	first, latest          time.Time
}

func (c *tallied) add(m lsptest.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun == nil {
		c.begun, c.ended, c.first = map[string]bool{}, map[string]bool{}, m.At
	}
	c.latest = m.At
	switch m.Method {
	case "$/progress":
		c.progress++
		return
	case "ralph/status":
		c.status++
		return
	}
	if m.Method != "ralph/update" {
		return
	}
	c.notifications++
	var p struct {
		Seq, Dropped int
		Updates      []struct {
			SessionUpdate, ToolCallID, Status string
			Content                           json.RawMessage
		}
	}
	json.Unmarshal(m.Params, &p)
	c.last, c.dropped = p.Seq, c.dropped+p.Dropped
	for _, u := range p.Updates {
		switch u.SessionUpdate {
		case "tool_call":
			c.begun[u.ToolCallID] = true
			c.ended[u.ToolCallID] = u.Status != "in_progress"
		case "tool_call_update":
			c.ended[u.ToolCallID] = u.Status != "in_progress"
		case "_ralph/end":
			c.over = true
		}
	}
}

func (c *tallied) awaitEnd(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		over := c.over
		c.mu.Unlock()
		if over {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the end never came")
		}
	}
}

// check looks at what must arrive, and at the rates.
func (c *tallied) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := 0
	for _, yes := range c.ended {
		if yes {
			ended++
		}
	}
	if len(c.begun) != floodTools || ended != floodTools {
		t.Errorf("%d tools began and %d ended, want %d", len(c.begun), ended, floodTools)
	}
	seconds := c.latest.Sub(c.first).Seconds() + 1
	if limit := int(4*seconds) + 6; c.progress > limit || c.status > limit { // begin, end and changes of state come at once
		t.Errorf("%d progress reports and %d status snapshots in %.1f s", c.progress, c.status, seconds)
	}
	t.Logf("heard %d notifications, %d updates dropped, %d reports, %d snapshots in %.1f s", c.notifications, c.dropped, c.progress, c.status, seconds)
}
