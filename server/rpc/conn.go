// Package rpc is the connection to an editor: JSON-RPC in LSP's frames. It is
// the fence around jsonrpc2 v1.0.1, which ends the connection, or the process,
// in cases that a server must survive:
//
//   - a cancellable context that a handler derives from its own crashes the
//     process: handlers get contexts of ours;
//   - an error or a panic of a notification's handler, an unknown
//     notification and invalid JSON end the connection: none of them gets there;
//   - a plain error is sent with the code 0: toWire gives it one;
//   - a handler on the read loop that waits for the client waits for ever:
//     Request refuses it;
//   - a client that doesn't read blocks whoever writes: all writes end up in
//     the outbox.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime/debug"
	"strings"

	"go.lsp.dev/jsonrpc2"
)

// StackKey is the attribute of log records that has a goroutine's stack.
const StackKey = "stack"

// Options say what serves a connection.
type Options struct {
	Methods map[string]Method // all that a client can ask for or tell, but $/cancelRequest
	// Admit says why a request can't be handled now, nil when it can. Known says
	// that Methods has it.
	Admit   func(name string, known bool) error
	Listens func(name string) bool // whether a notification counts now
	Ended   func(why error)        // the client sends or reads nothing any more; may be called more than once
	Log     *slog.Logger
}

// Conn is the connection to one client. Only Send and Request may block.
type Conn struct {
	opts   Options
	out    *outbox
	conn   jsonrpc2.Conn
	calls  registry
	ctx    context.Context // of handlers that run aside of the read loop
	inline context.Context // of those on it
}

// New returns a connection that reads from in once Serve is called. Handlers
// get contexts that end with ctx.
func New(ctx context.Context, in io.Reader, opts Options) *Conn {
	c := &Conn{opts: opts, out: newOutbox(), ctx: ctx, inline: context.WithValue(ctx, inlineKey{}, true)}
	c.opts.Methods = maps.Clone(opts.Methods)
	c.opts.Methods["$/cancelRequest"] = Notification(c.cancelRequest)
	c.conn = jsonrpc2.NewConn(&wireStream{newFrameReader(in, c.refuse), c.out, opts.Ended}, jsonrpc2.WithCodec(Codec{}))
	return c
}

// Serve begins to read, and to write to out. It doesn't wait.
func (c *Conn) Serve(out io.Writer) {
	go c.out.run(out)
	go func() {
		<-c.out.dead
		c.opts.Ended(c.out.err)
	}()
	c.conn.Go(context.Background(), c.handle)
}

// Close ends the writing once the client has read what waits, or ctx is over.
func (c *Conn) Close(ctx context.Context) {
	c.out.flush(ctx)
	c.out.close(errClosed)
}

// wireStream is the connection as jsonrpc2 sees it.
type wireStream struct {
	frames *frameReader
	out    *outbox
	ended  func(error) // the client sends nothing any more
}

func (s *wireStream) Read(context.Context) (jsonrpc2.Message, int64, error) {
	body, err := s.frames.next()
	if err != nil {
		s.ended(fmt.Errorf("reading from the client: %w", err))
		return nil, 0, err
	}
	message, err := jsonrpc2.DecodeMessage(body)
	return message, int64(len(body)), err
}

func (s *wireStream) Write(_ context.Context, message jsonrpc2.Message) (int64, error) {
	body, err := jsonrpc2.EncodeMessage(message)
	if err != nil {
		return 0, err
	}
	return int64(len(body)), s.out.put(frame(body))
}

func (s *wireStream) Close() error { return nil }

// refuse answers a message that never reached jsonrpc2, whose own responses
// can't have every id that a client may send.
func (c *Conn) refuse(why refusal) {
	defer c.opts.Log.Warn("a message was refused", "reason", why.message)
	if why.silent {
		return
	}
	body, err := Codec{}.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // nil is null
		Error   *jsonrpc2.Error `json:"error"`
	}{jsonrpc2.Version, why.id, jsonrpc2.NewError(why.code, why.message)})
	if err != nil {
		c.opts.Log.Error("a refusal can't be encoded", "error", err)
		return
	}
	_ = c.out.put(frame(body)) // an error has ended the connection already
}

// handle answers one request or takes one notification. It returns no error
// but those that jsonrpc2 sends as they are.
func (c *Conn) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	m, known := c.opts.Methods[req.Method()]
	if !req.IsCall() {
		if known && m.notification && c.opts.Listens(req.Method()) {
			if _, err := c.call(m, req, func(work Work) (any, error) { return work(c.inline) }); err != nil {
				c.opts.Log.Warn("a notification was ignored", "method", req.Method(), "error", err)
			}
		}
		return nil, nil
	}
	if err := c.opts.Admit(req.Method(), known && !m.notification); err != nil {
		return nil, toWire(err)
	}
	result, err := c.call(m, req, func(work Work) (any, error) {
		if !m.aside {
			return work(c.inline)
		}
		own, done := c.calls.add(c.ctx, req.ID()) // before the next message is read: it may cancel this one
		defer done()
		jsonrpc2.Async(ctx)
		return work(own)
	})
	if err != nil {
		return nil, toWire(err)
	}
	return result, nil
}

// call reads a message and does its work. A panic is that one message's failure.
func (c *Conn) call(m Method, req *jsonrpc2.Request, do func(Work) (any, error)) (result any, err error) {
	name := strings.Clone(req.Method()) // the library's own bytes may be gone by then
	defer func() {
		if r := recover(); r != nil {
			c.opts.Log.Error("a handler panicked", "method", name, "panic", r, StackKey, string(debug.Stack()))
			result, err = nil, Errorf(codeInternal, "internal error in %s", name)
		}
	}()
	work, err := m.read(json.RawMessage(req.Params()))
	if err != nil {
		return nil, err
	}
	return do(work)
}

// cancelRequest ends a running request. An id that is unknown, or none at all,
// is no error: the answer may be under way.
func (c *Conn) cancelRequest(p struct {
	ID json.RawMessage `json:"id"`
}) {
	if id, ok := requestID(p.ID); ok {
		c.calls.cancel(id)
	}
}

// inlineKey marks the context of handlers that run on the read loop.
type inlineKey struct{}

var errInline = errors.New("a handler on the read loop can't wait for the client")

// Notify sends a notification; they arrive in the order of the calls.
func (c *Conn) Notify(name string, params any) {
	_ = c.send(c.out.put, name, params) // an error has ended the connection already
}

// NotifyLatest sends a notification, unless a newer one with the same key
// comes before it was written.
func (c *Conn) NotifyLatest(key, name string, params any) {
	_ = c.send(func(frame []byte) error {
		c.out.putLatest(key, frame)
		return nil
	}, name, params)
}

// Forget drops a notification of NotifyLatest that isn't written yet.
func (c *Conn) Forget(key string) { c.out.forget(key) }

// Send sends a notification that is one of many: it waits while too many of them are queued. The error is ctx's, or
// the connection's.
func (c *Conn) Send(ctx context.Context, name string, params any) error {
	return c.send(func(frame []byte) error { return c.out.putBulk(ctx, frame) }, name, params)
}

func (c *Conn) send(put func([]byte) error, name string, params any) error {
	encoded, err := Codec{}.Marshal(params)
	if err != nil {
		c.opts.Log.Error("a notification can't be encoded", "method", name, "error", err)
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	return put(frame(jsonrpc2.AppendNotification(nil, name, encoded)))
}

// Request asks the client and waits for its answer. If ctx ends first, the client is told that the
// request is cancelled. It fails at once with the context of a handler on the read loop.
func (c *Conn) Request(ctx context.Context, name string, params, result any) error {
	if ctx.Value(inlineKey{}) != nil {
		return fmt.Errorf("%s: %w", name, errInline)
	}
	id, err := c.conn.Call(ctx, name, params, result)
	if err != nil && ctx.Err() != nil {
		if number, ok := id.Number(); ok {
			c.Notify("$/cancelRequest", map[string]int64{"id": number})
		}
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("asking the client (%s): %w", name, err)
	}
	return nil
}
