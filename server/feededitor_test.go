package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"ralph-lsp/server/client"
	"ralph-lsp/wire"
)

// feedEditor is an editor that notes what a feed tells it, in the order in
// which it would arrive.
type feedEditor struct {
	client client.Info
	sends  func(ctx context.Context) error // what Send waits for; nil: nothing
	create func(ctx context.Context) error // how the editor answers a progress' create; nil: it agrees
	slow   bool                            // only the last of NotifyLatest's waits, until deliver

	mu      sync.Mutex
	got     []notification
	waiting map[string]notification
}

type notification struct {
	at     time.Time
	method string
	params any
}

var errGone = errors.New("the editor is gone")

func (e *feedEditor) Client() client.Info { return e.client }

func (e *feedEditor) Notify(method string, params any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, notification{time.Now(), method, params})
}

func (e *feedEditor) NotifyLatest(key, method string, params any) {
	if !e.slow {
		e.Notify(method, params)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiting == nil {
		e.waiting = map[string]notification{}
	}
	e.waiting[key] = notification{time.Now(), method, params}
}

func (e *feedEditor) Forget(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.waiting, key)
}

// deliver lets a slow editor read what waits.
func (e *feedEditor) deliver() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.waiting {
		e.got = append(e.got, n)
	}
	e.waiting = nil
}

func (e *feedEditor) Send(ctx context.Context, method string, params any) error {
	if e.sends != nil {
		if err := e.sends(ctx); err != nil {
			return err
		}
	}
	e.Notify(method, params)
	return nil
}

func (e *feedEditor) Request(ctx context.Context, method string, params, _ any) error {
	e.Notify(method, params)
	if e.create != nil {
		return e.create(ctx)
	}
	return nil
}

// received returns what arrived of one method.
func received[P any](e *feedEditor, method string) (params []P, at []time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.got {
		if p, ok := n.params.(P); ok && n.method == method {
			params, at = append(params, p), append(at, n.at)
		}
	}
	return params, at
}

// seen is an update as a client reads it.
type seen struct {
	SessionUpdate string          `json:"sessionUpdate"`
	ToolCallID    string          `json:"toolCallId"`
	MessageID     string          `json:"messageId"`
	Status        string          `json:"status"`
	Phase         string          `json:"phase"`
	Truncated     bool            `json:"truncated"`
	RawInput      json.RawMessage `json:"rawInput"`
	Content       json.RawMessage `json:"content"`
}

// text is a chunk's text, or a tool's output.
func (s seen) text(t testing.TB) string {
	t.Helper()
	if len(s.Content) == 0 {
		return ""
	}
	var c wire.TextContent
	if s.Content[0] == '{' {
		decode(t, s.Content, &c)
		return c.Text
	}
	var contents []wire.ToolContent
	decode(t, s.Content, &contents)
	for _, content := range contents {
		c.Text += content.Content.Text
	}
	return c.Text
}

func decode(t testing.TB, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%.200s: %v", data, err)
	}
}

// updates returns all updates that arrived.
func (e *feedEditor) updates(t testing.TB) (all []seen) {
	t.Helper()
	params, _ := received[wire.UpdateParams](e, wire.MethodUpdate)
	for _, p := range params {
		all = append(all, decodeUpdates(t, p.Updates)...)
	}
	return all
}

func decodeUpdates(t testing.TB, updates []json.RawMessage) []seen {
	t.Helper()
	out := make([]seen, len(updates))
	for i, u := range updates {
		decode(t, u, &out[i])
	}
	return out
}

// allText joins the text of the message chunks.
func allText(t testing.TB, updates []seen) (text string) {
	t.Helper()
	for _, u := range updates {
		if u.SessionUpdate == wire.KindMessageChunk {
			text += u.text(t)
		}
	}
	return text
}

// gaps are the times between consecutive moments.
func gaps(at []time.Time) (between []time.Duration) {
	for i := range at[min(1, len(at)):] {
		between = append(between, at[i+1].Sub(at[i]))
	}
	return between
}

func shortest(durations []time.Duration) time.Duration { return slices.Min(durations) }
