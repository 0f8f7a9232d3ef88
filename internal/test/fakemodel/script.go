package fakemodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Script is a whole scenario. The zero value answers "OK" to every request.
type Script struct {
	// Turns are tried in order; the first one that has uses left and whose
	// conditions hold answers the request.
	Turns []Turn `json:"turns"`
	// Default answers main requests that no turn fits. Nil: the text "OK".
	Default *Turn `json:"default"`
	// Helper answers helper requests (titles, quota probes, summaries) that no
	// turn for helpers fits. Nil: a small JSON object with a title.
	Helper *Turn `json:"helper"`
	// Main says which requests are main ones: "tools" (the default) are those
	// that declare a tool, "all" is for agents that were started without tools.
	Main string `json:"main"`
	// Chunk is the default [min,max] size of a text delta in runes; empty or
	// zero: one delta.
	Chunk []int `json:"chunk"`
	// Usage is what turns report that have none of their own.
	Usage *Usage `json:"usage"`
}

// Turn is one answer of the model, or one fault.
type Turn struct {
	Name string `json:"name"` // free text for the request log
	For  string `json:"for"`  // "main" (the default), "helper" or "any"

	Match string `json:"match"` // it is for requests with this in the last user message, tool results included

	// Repeat is how many requests the turn answers: 0 and 1 once, -1 for ever.
	Repeat int `json:"repeat"`

	// Faults before the first byte of an answer.
	HangMS    int               `json:"hang_ms"` // silence, in milliseconds
	Status    int               `json:"status"`  // HTTP status, such as 403, 429 or 529
	ErrorType string            `json:"error_type"`
	Message   string            `json:"message"`
	Headers   map[string]string `json:"headers"` // also sent with a good answer
	Body      string            `json:"body"`    // in place of the JSON error or the answer
	Drop      bool              `json:"drop"`    // reset the connection

	Text       string `json:"text"` // a text step before Steps
	Steps      []Step `json:"steps"`
	StopReason string `json:"stop_reason"` // default: "tool_use" with a tool, else "end_turn"
	Usage      *Usage `json:"usage"`
}

// Step is one piece of a streamed answer. Exactly one of its fields is set,
// besides Chunk.
type Step struct {
	Text     *string    `json:"text"`
	Thinking *string    `json:"thinking"`
	Tool     *ToolCall  `json:"tool"`
	SleepMS  int        `json:"sleep_ms"` // silence in mid-stream
	Ping     bool       `json:"ping"`     // an SSE ping
	SSEError *ErrorBody `json:"sse_error"`
	Raw      *string    `json:"raw"`  // bytes for the stream as they are
	Drop     string     `json:"drop"` // "fin" or "rst": cut the connection
	End      bool       `json:"end"`  // end the body without the closing events

	Chunk []int `json:"chunk"`
}

// ToolCall is a tool use. Without an ID it gets one of its own.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// Usage is the token counts that an answer reports.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
}

// ErrorBody is an error in mid-stream.
type ErrorBody struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Say returns a step that says text.
func Say(text string) Step { return Step{Text: &text} }

// Call returns a step that calls a tool. The arguments must be marshalable.
func Call(tool string, args any) Step {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("fakemodel: arguments of %s: %v", tool, err))
	}
	return Step{Tool: &ToolCall{Name: tool, Args: raw}}
}

// Parse reads a script in JSON. An unknown field is an error, so that a typo
// doesn't pass.
func Parse(data []byte) (Script, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var s Script
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("parsing the script: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Script{}, errors.New("parsing the script: more than one JSON value")
	}
	return s, s.validate()
}

func (s Script) validate() error {
	errs := []error{oneOf("main", s.Main, "", "tools", "all"), checkChunk(s.Chunk)}
	for i, t := range s.Turns {
		if err := t.validate(); err != nil {
			errs = append(errs, fmt.Errorf("turn %d: %w", i, err))
		}
	}
	for name, t := range map[string]*Turn{"default": s.Default, "helper": s.Helper} {
		if t == nil {
			continue
		}
		if err := t.validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (t Turn) validate() error {
	errs := []error{oneOf("for", t.For, "", "main", "helper", "any")}
	for i, st := range t.Steps {
		if err := st.validate(); err != nil {
			errs = append(errs, fmt.Errorf("step %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

func (st Step) validate() error {
	kinds := 0
	for _, set := range []bool{
		st.Text != nil, st.Thinking != nil, st.Tool != nil, st.SleepMS > 0, st.Ping,
		st.SSEError != nil, st.Raw != nil, st.Drop != "", st.End,
	} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("%d kinds of step at once, want 1", kinds)
	}
	return errors.Join(oneOf("drop", st.Drop, "", "fin", "rst"), checkChunk(st.Chunk))
}

func oneOf(key, got string, allowed ...string) error {
	if slices.Contains(allowed, got) {
		return nil
	}
	return fmt.Errorf("%s is %q, want one of %q", key, got, allowed)
}

func checkChunk(chunk []int) error {
	if len(chunk) == 0 || len(chunk) == 2 && chunk[0] >= 0 && chunk[1] >= chunk[0] {
		return nil
	}
	return fmt.Errorf("chunk is %v, want [min,max]", chunk)
}

// args is the JSON text of the call's arguments, compact as on the real wire.
func (t ToolCall) args() string {
	var b bytes.Buffer
	if len(t.Args) == 0 || json.Compact(&b, t.Args) != nil {
		return "{}"
	}
	return b.String()
}
