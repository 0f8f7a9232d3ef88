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
	// Chunk is the [min,max] size of a text delta in runes; empty or zero: one
	// delta.
	Chunk []int `json:"chunk"`
	// Usage is what turns report that have none of their own.
	Usage *Usage `json:"usage"`
}

// Turn is one answer of the model, or one fault.
type Turn struct {
	For string `json:"for"` // "main" (the default), "helper" or "any"

	Match  string `json:"match"`  // it is for requests with this in the last user message, tool results included
	System string `json:"system"` // and with this in the system prompt

	// Repeat is how many requests the turn answers: 0 and 1 once, -1 for ever.
	Repeat int `json:"repeat"`

	// Faults before the first byte of an answer.
	HangMS  int    `json:"hang_ms"` // silence, in milliseconds
	Status  int    `json:"status"`  // HTTP status, such as 403, 429 or 529
	Message string `json:"message"`
	Drop    bool   `json:"drop"` // reset the connection

	Text  string `json:"text"` // a text step before Steps
	Steps []Step `json:"steps"`
	Usage *Usage `json:"usage"`
}

// Step is one piece of a streamed answer. Exactly one of its fields is set.
type Step struct {
	Text     *string    `json:"text"`
	Thinking *string    `json:"thinking"`
	Tool     *ToolCall  `json:"tool"`
	SleepMS  int        `json:"sleep_ms"` // silence in mid-stream
	SSEError *ErrorBody `json:"sse_error"`
	Raw      *string    `json:"raw"`  // bytes for the stream as they are
	Drop     bool       `json:"drop"` // reset the connection
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
	errs := []error{checkChunk(s.Chunk)}
	for i, t := range s.Turns {
		if err := t.validate(); err != nil {
			errs = append(errs, fmt.Errorf("turn %d: %w", i, err))
		}
	}
	if s.Default != nil {
		if err := s.Default.validate(); err != nil {
			errs = append(errs, fmt.Errorf("default: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (t Turn) validate() error {
	var errs []error
	if !slices.Contains([]string{"", "main", "helper", "any"}, t.For) {
		errs = append(errs, fmt.Errorf("for is %q, want main, helper or any", t.For))
	}
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
		st.Text != nil, st.Thinking != nil, st.Tool != nil, st.SleepMS > 0, st.SSEError != nil, st.Raw != nil, st.Drop,
	} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("%d kinds of step at once, want 1", kinds)
	}
	return nil
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
