package fakemodel

import (
	"encoding/json"
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

// TurnDefault is what Request.Turn says when no turn of the script answered.
const TurnDefault = -1

// Request is one HTTP request as the server understood it, and how it ended.
type Request struct {
	Seq      int // 1 is the first
	Time     time.Time
	Path     string // with the query
	Kind     Kind
	Model    string
	Stream   bool
	Messages int // how many
	Tools    []string
	System   string // all text of the system prompt
	LastUser string // all text of the last user message
	Body     []byte
	Turn     int    // index in Script.Turns, or TurnDefault
	Outcome  string // "ok", "http 403", "dropped", "client gone"; empty: not over
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
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []chatMessage   `json:"messages"`
		Tools    []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	json.Unmarshal(q.Body, &body)
	q.Model, q.Stream, q.Messages, q.System = body.Model, body.Stream, len(body.Messages), plainText(body.System)
	for _, tool := range body.Tools {
		q.Tools = append(q.Tools, tool.Name)
	}
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
