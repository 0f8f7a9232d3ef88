package acp

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
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethod         = -32601
	codeParams         = -32602
	codeInternal       = -32603
	codeAuth           = -32000
	codeNotFound       = -32002
)

// rpcError is an error as it is on the wire.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

func errorf(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// message is any message of JSON-RPC 2.0. A request has a Method and an ID, a notification no ID,
// an answer no Method.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// conn is one side of a conversation. What comes is handled in its order, one at a time, answers
// too: whoever handles it must not wait for another one.
type conn struct {
	in    *bufio.Reader
	write func(w io.Writer, message []byte) error
	// handle takes a request or a notification, which has no id.
	handle func(method string, id, params json.RawMessage)

	mu      sync.Mutex
	out     io.Writer
	lastID  int
	pending map[string]func(json.RawMessage, *rpcError) // by id: who waits for an answer
}

func newConn(write func(io.Writer, []byte) error, in io.Reader, out io.Writer) *conn {
	return &conn{write: write, in: bufio.NewReaderSize(in, 64<<10), out: out, pending: map[string]func(json.RawMessage, *rpcError){}}
}

// idAhead finds the id of a request in its beginning, where clients write it.
var idAhead = regexp.MustCompile(`^\s*\{[^{}]*?"id"\s*:\s*(-?\d+|"[^"\\]*")`)

// serve handles the lines that come until the other side goes away.
func (c *conn) serve() error {
	for {
		data, err := readLine(c.in)
		switch {
		case errors.Is(err, errTooLong):
			id := json.RawMessage("null")
			if found := idAhead.FindSubmatch(data); found != nil {
				id = found[1]
			}
			c.send(message{ID: id, Error: errorf(codeInvalidRequest, "a message has more than %d MiB", maxMessage>>20)})
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		c.take(data)
	}
}

// take handles a message.
func (c *conn) take(data []byte) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		c.send(message{ID: json.RawMessage("null"), Error: errorf(codeParse, "that is no message: %v", err)})
		return
	}
	if m.Method != "" {
		c.handle(m.Method, m.ID, m.Params)
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
func (c *conn) send(m message) {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil { // a result that isn't one is our mistake
		data, _ = json.Marshal(message{Version: "2.0", ID: m.ID, Error: errorf(codeInternal, "%v", err)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.write(c.out, data)
}

// request asks the other side; answered gets what comes, never if nothing does. It returns the
// request's id.
func (c *conn) request(method string, params any, answered func(json.RawMessage, *rpcError)) json.RawMessage {
	c.mu.Lock()
	c.lastID++
	id := json.RawMessage(strconv.Itoa(c.lastID))
	c.pending[string(id)] = answered
	c.mu.Unlock()
	c.send(message{ID: id, Method: method, Params: raw(params)})
	return id
}

// forget lets a request's answer count for nothing. It says whether that was still to come.
func (c *conn) forget(id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waits := c.pending[string(id)]
	delete(c.pending, string(id))
	return waits
}

func (c *conn) notify(method string, params any) {
	c.send(message{Method: method, Params: raw(params)})
}

// reply answers a request with a result, or with err where that isn't nil.
func (c *conn) reply(id json.RawMessage, result any, err *rpcError) {
	if id == nil { // a notification
		return
	}
	m := message{ID: id, Error: err}
	if err == nil {
		m.Result = raw(result)
	}
	c.send(m)
}

// raw is a value as JSON. What we say can always be written.
func raw(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
