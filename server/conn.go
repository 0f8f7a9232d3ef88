package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// This file is the fence around jsonrpc2 v1.0.1, which ends the connection, or
// the process, in cases that a server must survive:
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
func (s *Server) refuse(why refusal) {
	defer s.log.Warn("a message was refused", "reason", why.message)
	if why.silent {
		return
	}
	body, err := codec{}.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // nil is null
		Error   *jsonrpc2.Error `json:"error"`
	}{jsonrpc2.Version, why.id, jsonrpc2.NewError(why.code, why.message)})
	if err != nil {
		s.log.Error("a refusal can't be encoded", "error", err)
		return
	}
	_ = s.out.put(frame(body)) // an error has ended the server already
}

// handle answers one request or takes one notification. It returns no error
// but those that jsonrpc2 sends as they are.
func (s *Server) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	m, known := methods[req.Method()]
	if !req.IsCall() {
		if known && m.notification && s.listens(req.Method()) {
			if _, err := s.call(s.inline, m, req); err != nil {
				s.log.Warn("a notification was ignored", "method", req.Method(), "error", err)
			}
		}
		return nil, nil
	}
	if err := s.admit(req.Method(), known && !m.notification); err != nil {
		return nil, toWire(err)
	}
	own := s.inline
	if m.async {
		var done func()
		own, done = s.calls.add(s.ctx, req.ID()) // before the next message is read: it may cancel this one
		defer done()
		if m.enter != nil {
			own = m.enter(s, own, json.RawMessage(req.Params()))
			defer turnOf(own).end()
		}
		jsonrpc2.Async(ctx)
	}
	result, err := s.call(own, m, req)
	if err != nil {
		return nil, toWire(err)
	}
	return result, nil
}

// call runs a handler. A panic is that one request's failure.
func (s *Server) call(ctx context.Context, m method, req *jsonrpc2.Request) (result any, err error) {
	name := strings.Clone(req.Method()) // the library's own bytes may be gone by then
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("a handler panicked", "method", name, "panic", r, stackKey, string(debug.Stack()))
			result, err = nil, errf(codeInternal, "internal error in %s", name)
		}
	}()
	return m.handle(s, ctx, json.RawMessage(req.Params()))
}

// inlineKey marks the context of handlers that run on the read loop.
type inlineKey struct{}

var errInline = errors.New("a handler on the read loop can't wait for the client")

// Notify sends a notification.
func (s *Server) Notify(name string, params any) {
	_ = s.send(s.out.put, name, params) // an error has ended the server already
}

// NotifyLatest sends a notification, unless a newer one with the same key
// comes before it was written.
func (s *Server) NotifyLatest(key, name string, params any) {
	_ = s.send(func(frame []byte) error {
		s.out.putLatest(key, frame)
		return nil
	}, name, params)
}

// Forget drops a notification of NotifyLatest that isn't written yet.
func (s *Server) Forget(key string) { s.out.forget(key) }

// Send sends a notification that is one of many: it waits while too much of
// them is queued. The error is ctx's, or that of the connection.
func (s *Server) Send(ctx context.Context, name string, params any) error {
	return s.send(func(frame []byte) error { return s.out.putBulk(ctx, frame) }, name, params)
}

func (s *Server) send(put func([]byte) error, name string, params any) error {
	encoded, err := codec{}.Marshal(params)
	if err != nil {
		s.log.Error("a notification can't be encoded", "method", name, "error", err)
		return fmt.Errorf("encoding %s: %w", name, err)
	}
	return put(frame(jsonrpc2.AppendNotification(nil, name, encoded)))
}

// Request asks the client and waits for its answer. When ctx ends first, the
// client is told that nobody waits any more.
func (s *Server) Request(ctx context.Context, name string, params, result any) error {
	if ctx.Value(inlineKey{}) != nil {
		return fmt.Errorf("%s: %w", name, errInline)
	}
	id, err := s.conn.Call(ctx, name, params, result)
	if err != nil && ctx.Err() != nil {
		if number, ok := id.Number(); ok {
			s.Notify("$/cancelRequest", map[string]int64{"id": number})
		}
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("asking the client (%s): %w", name, err)
	}
	return nil
}

// Client is what the client told of itself.
func (s *Server) Client() clientInfo {
	if info := s.client.Load(); info != nil {
		return *info
	}
	return clientInfo{}
}

// codec encodes and decodes params and results: the types of the protocol
// package with that package, which knows their unions, all others as usual.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	if ofProtocol(v) {
		return protocol.Marshal(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (codec) Unmarshal(data []byte, v any) error {
	if ofProtocol(v) {
		return protocol.Unmarshal(data, v)
	}
	return json.Unmarshal(data, v)
}

// ofProtocol says whether v is a type of the protocol package, or a pointer to
// one or a slice of them.
func ofProtocol(v any) bool {
	t := reflect.TypeOf(v)
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) && t.PkgPath() == "" {
		t = t.Elem()
	}
	return t != nil && t.PkgPath() == "go.lsp.dev/protocol"
}
