// Package rpc is one side of a conversation in JSON-RPC 2.0, as this program has it with clients of other protocols than LSP.
// conn.go is the conversation, and frame.go how its messages are told apart.
package rpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"sync"
)

// Codes of errors, JSON-RPC's and ACP's.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethod         = -32601
	CodeParams         = -32602
	CodeInternal       = -32603
	CodeAuth           = -32000
	CodeNotFound       = -32002
)

// Error is an error as it is on the wire.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Errorf is an error in words.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Message is any message of JSON-RPC 2.0. A request has a Method and an ID, a notification no ID,
// an answer no Method.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Conn is one side of a conversation. What comes is handled in its order, one at a time, answers
// too: whoever handles it must not wait for another one.
type Conn struct {
	in    *bufio.Reader
	write func(w io.Writer, message []byte) error
	// Handle takes a request or a notification, which has no id.
	Handle func(method string, id, params json.RawMessage)

	mu      sync.Mutex
	out     io.Writer
	lastID  int
	pending map[string]func(json.RawMessage, *Error) // by id: who waits for an answer
}

// New makes a side that reads lines, or is handed what comes (Take) where in is nil.
func New(write func(io.Writer, []byte) error, in io.Reader, out io.Writer) *Conn {
	return &Conn{write: write, in: bufio.NewReaderSize(in, 64<<10), out: out, pending: map[string]func(json.RawMessage, *Error){}}
}

// idAhead finds the id of a request in its beginning, where clients write it.
var idAhead = regexp.MustCompile(`^\s*\{[^{}]*?"id"\s*:\s*(-?\d+|"[^"\\]*")`)

// Serve handles the lines that come until the other side goes away.
func (c *Conn) Serve() error {
	for {
		data, err := readLine(c.in)
		switch {
		case errors.Is(err, errTooLong):
			id := json.RawMessage("null")
			if found := idAhead.FindSubmatch(data); found != nil {
				id = found[1]
			}
			c.send(Message{ID: id, Error: Errorf(CodeInvalidRequest, "a message has more than %d MiB", MaxMessage>>20)})
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		c.Take(data)
	}
}

// Take handles a message.
func (c *Conn) Take(data []byte) {
	var m Message
	if err := json.Unmarshal(data, &m); err != nil {
		c.send(Message{ID: json.RawMessage("null"), Error: Errorf(CodeParse, "that is no message: %v", err)})
		return
	}
	if m.Method != "" {
		c.Handle(m.Method, m.ID, m.Params)
		return
	}
	c.mu.Lock()
	answered := c.pending[string(m.ID)]
	delete(c.pending, string(m.ID))
	c.mu.Unlock()
	if answered != nil {
		answered(m.Result, m.Error)
	}
}

// send writes a message. A reader that is gone is noticed where we read.
func (c *Conn) send(m Message) {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil { // a result that isn't one is our mistake
		data, _ = json.Marshal(Message{Version: "2.0", ID: m.ID, Error: Errorf(CodeInternal, "%v", err)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.write(c.out, data)
}

// Close says nothing more: the other side is gone.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = io.Discard
}

// Request asks the other side; answered gets what comes, never if nothing does. It returns the
// request's id.
func (c *Conn) Request(method string, params any, answered func(json.RawMessage, *Error)) json.RawMessage {
	c.mu.Lock()
	c.lastID++
	id := json.RawMessage(strconv.Itoa(c.lastID))
	c.pending[string(id)] = answered
	c.mu.Unlock()
	c.send(Message{ID: id, Method: method, Params: Raw(params)})
	return id
}

// Forget lets a request's answer count for nothing. It says whether that was still to come.
func (c *Conn) Forget(id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waits := c.pending[string(id)]
	delete(c.pending, string(id))
	return waits
}

// Notify tells the other side something that has no answer.
func (c *Conn) Notify(method string, params any) {
	c.send(Message{Method: method, Params: Raw(params)})
}

// Reply answers a request with a result, or with err where that isn't nil.
func (c *Conn) Reply(id json.RawMessage, result any, err *Error) {
	if id == nil { // a notification
		return
	}
	m := Message{ID: id, Error: err}
	if err == nil {
		m.Result = Raw(result)
	}
	c.send(m)
}

// Raw is a value as JSON. What we say can always be written.
func Raw(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
