// Package clienttest has an editor for the tests of those rooms that tell one something.
package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Full is a client that wants all.
var Full = client.Info{OptedIn: true, Updates: true}

// Editor is an editor that notes what a feed tells it, in the order in
// which it would arrive.
type Editor struct {
	Is     client.Info                     // what it told with initialize
	Sends  func(ctx context.Context) error // what Send waits for; nil: nothing
	Create func(ctx context.Context) error // how the editor answers a progress' create; nil: it agrees
	Slow   bool                            // only the last of NotifyLatest's waits, until deliver

	mu      sync.Mutex
	Got     []notification
	waiting map[string]notification
}

type notification struct {
	at     time.Time
	Method string
	Params any
}

var ErrGone = errors.New("the editor is gone")

// Client is what the editor told of itself.
func (e *Editor) Client() client.Info { return e.Is }

// Notify notes a notification.
func (e *Editor) Notify(method string, params any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Got = append(e.Got, notification{time.Now(), method, params})
}

// NotifyLatest notes a notification; a slow editor keeps the last of a key until Deliver.
func (e *Editor) NotifyLatest(key, method string, params any) {
	if !e.Slow {
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

// Forget drops what Deliver would deliver.
func (e *Editor) Forget(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.waiting, key)
}

// Deliver lets a slow editor read what waits.
func (e *Editor) Deliver() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.waiting {
		e.Got = append(e.Got, n)
	}
	e.waiting = nil
}

// Send notes a notification, once Sends lets it.
func (e *Editor) Send(ctx context.Context, method string, params any) error {
	if e.Sends != nil {
		if err := e.Sends(ctx); err != nil {
			return err
		}
	}
	e.Notify(method, params)
	return nil
}

// Request notes a request, and answers as Create does.
func (e *Editor) Request(ctx context.Context, method string, params, _ any) error {
	e.Notify(method, params)
	if e.Create != nil {
		return e.Create(ctx)
	}
	return nil
}

// Received returns what arrived of one method.
func Received[P any](e *Editor, method string) (params []P, at []time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.Got {
		if p, ok := n.Params.(P); ok && n.Method == method {
			params, at = append(params, p), append(at, n.at)
		}
	}
	return params, at
}

// Seen is an update as a client reads it.
type Seen struct {
	SessionUpdate string          `json:"sessionUpdate"`
	ToolCallID    string          `json:"toolCallId"`
	MessageID     string          `json:"messageId"`
	Status        string          `json:"status"`
	Phase         string          `json:"phase"`
	Truncated     bool            `json:"truncated"`
	Omitted       *wire.Omitted   `json:"omitted"`
	RawInput      json.RawMessage `json:"rawInput"`
	Content       json.RawMessage `json:"content"`
}

// Text is a chunk's text, or a tool's output.
func (s Seen) Text(t testing.TB) string {
	t.Helper()
	if len(s.Content) == 0 {
		return ""
	}
	var c wire.TextContent
	if s.Content[0] == '{' {
		Decode(t, s.Content, &c)
		return c.Text
	}
	var contents []wire.ToolContent
	Decode(t, s.Content, &contents)
	for _, content := range contents {
		c.Text += content.Content.Text
	}
	return c.Text
}

// Decode decodes JSON that has to be some.
func Decode(t testing.TB, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%.200s: %v", data, err)
	}
}

// Updates returns all updates that arrived.
func (e *Editor) Updates(t testing.TB) (all []Seen) {
	t.Helper()
	params, _ := Received[wire.UpdateParams](e, wire.MethodUpdate)
	for _, p := range params {
		all = append(all, DecodeUpdates(t, p.Updates)...)
	}
	return all
}

// DecodeUpdates returns updates as a client reads them.
func DecodeUpdates(t testing.TB, updates []json.RawMessage) []Seen {
	t.Helper()
	out := make([]Seen, len(updates))
	for i, u := range updates {
		Decode(t, u, &out[i])
	}
	return out
}

// AllText joins the text of the message chunks.
func AllText(t testing.TB, updates []Seen) (text string) {
	t.Helper()
	for _, u := range updates {
		if u.SessionUpdate == wire.KindMessageChunk {
			text += u.Text(t)
		}
	}
	return text
}

// Gaps are the times between consecutive moments.
func Gaps(at []time.Time) (between []time.Duration) {
	for i := range at[min(1, len(at)):] {
		between = append(between, at[i+1].Sub(at[i]))
	}
	return between
}

// Shortest is the shortest of durations.
func Shortest(durations []time.Duration) time.Duration { return slices.Min(durations) }
