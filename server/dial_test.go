package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// client is an editor that speaks to a server of this process over pipes.
type client struct {
	t    *testing.T
	to   io.WriteCloser
	exit chan int // the server's exit code

	mu      sync.Mutex
	changed *sync.Cond
	next    int
	results map[string]message
	heard   []message // notifications and requests of the server's
	answers map[string]func(params json.RawMessage) any
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// The capabilities of two clients: one with a plugin of ours, one without.
const (
	optedIn = `{"window":{"workDoneProgress":true,"showMessage":{"messageActionItem":{}}},"experimental":{"ralph":{"version":1,"updates":true}}}`
	plain   = `{"window":{"workDoneProgress":true,"showMessage":{"messageActionItem":{}}}}`
)

// dial starts a server, initialises it with these folders, and ends it with the test.
func dial(t *testing.T, capabilities string, folders ...string) *client {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{t: t, to: to, exit: make(chan int, 1), results: map[string]message{}, answers: map[string]func(json.RawMessage) any{}}
	c.changed = sync.NewCond(&c.mu)
	go func() {
		c.exit <- Run(context.Background(), in, out, Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
		in.Close()
		out.Close()
	}()
	go c.read(bufio.NewReader(from))
	t.Cleanup(c.hangUp)
	workspace := []workspaceFolder{}
	for _, path := range folders {
		workspace = append(workspace, workspaceFolder{URI: FileURI(path), Name: path})
	}
	c.must(c.call("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": nil, "workspaceFolders": workspace, "capabilities": json.RawMessage(capabilities),
	}))
	c.notify("initialized", struct{}{})
	return c
}

// hangUp ends the connection without a word, as a crashed editor does.
func (c *client) hangUp() {
	c.to.Close()
	select {
	case code := <-c.exit:
		c.exit <- code
	case <-time.After(patience):
		c.t.Error("the server goes on without its editor")
	}
}

func (c *client) read(r *bufio.Reader) {
	for {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(header.Get("Content-Length"))
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			c.t.Errorf("the server sent %q: %v", body, err)
			return
		}
		c.mu.Lock()
		var answer func(json.RawMessage) any
		switch {
		case m.Method == "":
			c.results[string(m.ID)] = m
		default:
			c.heard = append(c.heard, m)
			answer = c.answers[m.Method]
		}
		c.changed.Broadcast()
		c.mu.Unlock()
		if len(m.ID) > 0 && m.Method != "" && (answer != nil || m.Method == "window/workDoneProgress/create") {
			var result any
			if answer != nil {
				result = answer(m.Params)
			}
			c.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		}
	}
}

func (c *client) send(v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.to, "Content-Length: %d\r\n\r\n%s", len(body), body) // a server that is gone says so elsewhere
}

func (c *client) notify(method string, params any) {
	c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// begin sends a request and returns what waits for its answer.
func (c *client) begin(method string, params any) func() message {
	c.mu.Lock()
	c.next++
	id := c.next
	c.mu.Unlock()
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return func() message {
		c.t.Helper()
		var m message
		c.until("the answer to "+method, func() (ok bool) { m, ok = c.results[strconv.Itoa(id)]; return ok })
		return m
	}
}

func (c *client) call(method string, params any) message {
	c.t.Helper()
	return c.begin(method, params)()
}

// command runs a command with one argument.
func (c *client) command(id string, argument any) message {
	c.t.Helper()
	return c.call("workspace/executeCommand", map[string]any{"command": id, "arguments": []any{argument}})
}

// must fails the test when an answer is an error, and returns its result.
func (c *client) must(m message) json.RawMessage {
	c.t.Helper()
	if m.Error != nil {
		c.t.Fatalf("%d %s %s", m.Error.Code, m.Error.Message, m.Error.Data)
	}
	return m.Result
}

// until waits for a condition over what was heard. The condition runs with mu held.
func (c *client) until(what string, condition func() bool) {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	timer := time.AfterFunc(patience, c.changed.Broadcast)
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !condition() {
		if time.Now().After(deadline) {
			c.t.Fatalf("no %s; heard %s", what, c.transcript())
		}
		c.changed.Wait()
	}
}

// transcript is all that was heard, for a failure's message.
func (c *client) transcript() string {
	lines := ""
	for _, m := range c.heard {
		lines += fmt.Sprintf("\n%s %.300s", m.Method, m.Params)
	}
	return lines
}

// status waits for a ralph/status in which the folder's loop is as it should be.
func (c *client) status(folder string, as func(LoopStatus) bool) LoopStatus {
	c.t.Helper()
	var found LoopStatus
	c.until("status of "+folder, func() bool {
		for i := len(c.heard) - 1; i >= 0; i-- {
			if c.heard[i].Method != MethodStatus {
				continue
			}
			var p StatusParams
			if err := json.Unmarshal(c.heard[i].Params, &p); err != nil {
				c.t.Error(err)
			}
			for _, l := range p.Loops {
				if l.Folder == FileURI(folder) && as(l) {
					found = l
					return true
				}
			}
			return false // only the latest counts
		}
		return false
	})
	return found
}

// inState is a condition for status.
func inState(state string) func(LoopStatus) bool {
	return func(l LoopStatus) bool { return l.State == state }
}

// hears waits for a notification or request of the server's whose JSON contains text.
func (c *client) hears(method, text string) message {
	c.t.Helper()
	var found message
	c.until(method+" with "+text, func() bool {
		for _, m := range c.heard {
			if m.Method == method && strings.Contains(string(m.Params), text) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}
