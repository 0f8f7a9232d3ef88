package rpc

import (
	"context"
	"encoding/json"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// registry has the requests that run aside of the read loop, so that
// $/cancelRequest can end them.
type registry struct {
	running sync.Map // *context.CancelFunc by jsonrpc2.ID
}

// add returns the request's context. done must be called when it was answered.
func (r *registry) add(parent context.Context, id jsonrpc2.ID) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(parent)
	r.running.Store(id, &cancel)
	return ctx, func() {
		r.running.CompareAndDelete(id, &cancel) // not another one of a client that uses ids twice
		cancel()
	}
}

// cancel ends the request with this id, if it is running.
func (r *registry) cancel(id jsonrpc2.ID) {
	if found, ok := r.running.Load(id); ok {
		(*found.(*context.CancelFunc))()
	}
}

// requestID reads an id as it came: a whole number or a string.
func requestID(raw json.RawMessage) (id jsonrpc2.ID, ok bool) {
	var number int64
	var text string
	switch {
	case string(raw) == "null":
		return id, false
	case json.Unmarshal(raw, &number) == nil:
		return jsonrpc2.NewNumberID(number), true
	case json.Unmarshal(raw, &text) == nil:
		return jsonrpc2.NewStringID(text), true
	}
	return id, false
}
