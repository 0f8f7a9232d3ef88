package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kind says what a request is for.
type Kind string

// The kinds of request.
const (
	KindMain   Kind = "main"   // the agent's conversation
	KindHelper Kind = "helper" // titles, quota probes, summaries
	KindOther  Kind = "other"  // no model request at all
)

// What Request.Turn says when no turn of the script answered.
const (
	TurnDefault = -1
	TurnHelper  = -2
)

// Request is one HTTP request as the server understood it, and how it ended.
type Request struct {
	Seq       int               `json:"seq"` // 1 is the first
	Time      time.Time         `json:"time"`
	Method    string            `json:"method"`
	Path      string            `json:"path"`              // with the query
	Headers   map[string]string `json:"headers,omitempty"` // lower case; credentials as their size
	Kind      Kind              `json:"kind"`
	Model     string            `json:"model,omitempty"`
	Stream    bool              `json:"stream,omitempty"`
	MaxTokens int               `json:"max_tokens,omitempty"`
	Messages  int               `json:"messages,omitempty"`
	Tools     []string          `json:"tools,omitempty"`
	System    string            `json:"system,omitempty"`    // all text of the system prompt
	LastUser  string            `json:"last_user,omitempty"` // all text of the last user message
	BodyBytes int               `json:"body_bytes"`
	Body      []byte            `json:"-"`
	Turn      int               `json:"turn"` // index in Script.Turns, or TurnDefault, TurnHelper
	TurnName  string            `json:"turn_name,omitempty"`
	Outcome   string            `json:"outcome"` // "ok", "http 403", "dropped (rst)", "client gone"; empty: not over
	BytesOut  int               `json:"bytes_out"`
	Duration  time.Duration     `json:"duration_ns"`
}

// chatMessage is a message of the conversation.
type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// parse fills in what the body of a Messages request says. What isn't
// valid is left empty: agents are under test here, not the server.
func (q *Request) parse() {
	var body struct {
		Model     string            `json:"model"`
		Stream    bool              `json:"stream"`
		MaxTokens int               `json:"max_tokens"`
		System    json.RawMessage   `json:"system"`
		Tools     []json.RawMessage `json:"tools"`
		Messages  []chatMessage     `json:"messages"`
	}
	json.Unmarshal(q.Body, &body)
	q.Model, q.Stream, q.MaxTokens = body.Model, body.Stream, body.MaxTokens
	q.Messages, q.Tools, q.System = len(body.Messages), toolNames(body.Tools), plainText(body.System)
	for _, m := range body.Messages {
		switch m.Role {
		case "user":
			q.LastUser = plainText(m.Content)
		case "system": // claude steers this way, after a tool result
			q.LastUser += "\n" + plainText(m.Content)
		}
	}
}

// plainText joins all "text" and "content" strings of a message's content,
// however deep they are.
func plainText(raw json.RawMessage) string {
	var content any
	if json.Unmarshal(raw, &content) != nil {
		return ""
	}
	var texts []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			walk(v["text"])
			walk(v["content"])
		}
	}
	walk(content)
	return strings.Join(texts, "\n")
}

// toolNames reads the names of declared tools.
func toolNames(tools []json.RawMessage) []string {
	var names []string
	for _, raw := range tools {
		var tool struct {
			Name string `json:"name"`
		}
		json.Unmarshal(raw, &tool)
		names = append(names, tool.Name)
	}
	return names
}

// safeHeaders keeps what is useful in a log, and never a credential's value.
func safeHeaders(h http.Header) map[string]string {
	safe := make(map[string]string, len(h))
	for name, values := range h {
		name, value := strings.ToLower(name), strings.Join(values, ", ")
		switch name {
		case "authorization", "x-api-key", "cookie", "proxy-authorization":
			value = fmt.Sprintf("(%d bytes)", len(value))
		}
		safe[name] = value
	}
	return safe
}
