// Package lsptest is a client of a language server, for tests. It speaks over
// the pipes that a test has, keeps what it hears, and waits for what it should
// hear.
package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Message is a message of the server's: an answer has an ID, a notification a
// Method, a request both.
type Message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
	At     time.Time `json:"-"` // when it was read
}

// Error is why a request failed.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage
}

// Client is an editor, seen from the server. What it waits for must come within
// its patience, or the test fails.
type Client struct {
	t        testing.TB
	patience time.Duration

	writing sync.Mutex // one frame after another
	to      io.WriteCloser

	mu       sync.Mutex // guards what is below
	changed  *sync.Cond
	requests int // how many were sent; the last one's id
	results  map[string]Message
	heard    []Message // notifications and requests
	answers  map[string]func(params json.RawMessage) any
	take     func(Message) // nil: messages are kept
	ended    error         // why nothing more will be heard
}

// New makes a client that writes to a server and reads from it until it ends.
func New(t testing.TB, to io.WriteCloser, from io.Reader, patience time.Duration) *Client {
	c := &Client{t: t, patience: patience, to: to, results: map[string]Message{}, answers: map[string]func(json.RawMessage) any{
		"window/workDoneProgress/create": func(json.RawMessage) any { return nil },
	}}
	c.changed = sync.NewCond(&c.mu)
	go func() {
		err := c.read(bufio.NewReader(from))
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = err
		c.changed.Broadcast()
	}()
	return c
}

// Close ends the connection without a word, as a crashed editor does.
func (c *Client) Close() error { return c.to.Close() }

// Answer makes the client answer requests of a method, from now on; an *Error is
// that it can't. Without that it answers none but window/workDoneProgress/create.
func (c *Client) Answer(method string, with func(params json.RawMessage) any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[method] = with
}

// Divert gives notifications and requests to take, from now on, instead of
// keeping them. Nothing more is read until take returns.
func (c *Client) Divert(take func(Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take = take
}

// Initialize makes the handshake. Folders are absolute paths.
func (c *Client) Initialize(capabilities any, folders ...string) {
	c.t.Helper()
	workspace := []any{}
	for _, path := range folders {
		folder := url.URL{Scheme: "file", Path: path}
		workspace = append(workspace, map[string]string{"uri": folder.String(), "name": path})
	}
	c.Must(c.Call("initialize", map[string]any{
		"processId": nil, "rootUri": nil, "workspaceFolders": workspace, "capabilities": capabilities,
	}))
	c.Notify("initialized", struct{}{})
}

// Notify sends a notification. Nil params are left out, here and in requests.
func (c *Client) Notify(method string, params any) { c.send(map[string]any{"method": method}, params) }

// Call sends a request and returns its answer.
func (c *Client) Call(method string, params any) Message {
	c.t.Helper()
	return c.begin(method, params)()
}

// Command runs a command with one argument and returns its answer.
func (c *Client) Command(id string, argument any) Message {
	c.t.Helper()
	return c.BeginCommand(id, argument)()
}

// BeginCommand lets a command begin and returns what waits for its answer.
func (c *Client) BeginCommand(id string, argument any) (answer func() Message) {
	return c.begin("workspace/executeCommand", map[string]any{"command": id, "arguments": []any{argument}})
}

func (c *Client) begin(method string, params any) (answer func() Message) {
	c.mu.Lock()
	c.requests++
	id := c.requests
	c.mu.Unlock()
	c.send(map[string]any{"id": id, "method": method}, params)
	return func() (m Message) {
		c.t.Helper()
		c.Until("the answer to "+method, func([]Message) (ok bool) {
			m, ok = c.results[strconv.Itoa(id)]
			return ok
		})
		return m
	}
}

// send sends a message, with params if there are any. A server that is gone
// shows elsewhere.
func (c *Client) send(message map[string]any, params any) {
	message["jsonrpc"] = "2.0"
	if params != nil {
		message["params"] = params
	}
	body, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.to.Write(Frame(string(body)))
}

// Must fails the test when an answer is an error, and returns its result.
func (c *Client) Must(m Message) json.RawMessage {
	c.t.Helper()
	if m.Error != nil {
		c.t.Fatalf("%d %s %s", m.Error.Code, m.Error.Message, m.Error.Data)
	}
	return m.Result
}

// Heard returns what was heard and kept so far, the oldest first.
func (c *Client) Heard() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.heard)
}

// Hears waits for a notification or request whose params, as JSON, contain
// text, and returns the first.
func (c *Client) Hears(method, text string) (found Message) {
	c.t.Helper()
	seen := 0
	c.Until(method+" with "+text, func(heard []Message) bool {
		for ; seen < len(heard); seen++ {
			if found = heard[seen]; found.Method == method && strings.Contains(string(found.Params), text) {
				return true
			}
		}
		return false
	})
	return found
}

// Until waits for a condition over what was heard and kept, the oldest first.
// The condition must not use the client.
func (c *Client) Until(what string, condition func(heard []Message) bool) {
	c.t.Helper()
	deadline := time.Now().Add(c.patience)
	timer := time.AfterFunc(c.patience, func() {
		c.mu.Lock() // not between a look at the clock and the wait
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !condition(c.heard) {
		switch {
		case c.ended != nil:
			c.t.Fatalf("no %s before the server's end (%v); heard %s", what, c.ended, c.transcript())
		case !time.Now().Before(deadline):
			c.t.Fatalf("no %s within %v; heard %s", what, c.patience, c.transcript())
		}
		c.changed.Wait()
	}
}

// transcript is what was heard last, for a failure's message.
func (c *Client) transcript() string {
	const shown = 100
	text := fmt.Sprintf("%d messages:", len(c.heard))
	for _, m := range c.heard[max(0, len(c.heard)-shown):] {
		text += fmt.Sprintf("\n%s %.300s", m.Method, m.Params)
	}
	return text
}

// read takes the server's messages until there is an error, and returns it.
func (c *Client) read(from *bufio.Reader) error {
	for {
		body, err := ReadFrame(from)
		if err != nil {
			return err
		}
		var m Message
		if err := json.Unmarshal(body, &m); err != nil {
			c.t.Errorf("the server sent %.300q: %v", body, err)
			return err
		}
		m.At = time.Now()
		c.hear(m)
	}
}

func (c *Client) hear(m Message) {
	c.mu.Lock()
	take, answer := c.take, c.answers[m.Method]
	switch {
	case m.Method == "":
		c.results[string(m.ID)] = m
	case take == nil:
		c.heard = append(c.heard, m)
	}
	c.changed.Broadcast()
	c.mu.Unlock()
	if m.Method == "" {
		return
	}
	if len(m.ID) > 0 && answer != nil {
		reply := map[string]any{"id": m.ID}
		switch answer := answer(m.Params).(type) {
		case *Error:
			reply["error"] = map[string]any{"code": answer.Code, "message": answer.Message}
		default:
			reply["result"] = answer
		}
		c.send(reply, nil)
	}
	if take != nil {
		take(m)
	}
}
