package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"
)

// The pauses of the demo's agent, so that one can read along.
const (
	pauseThink = 350 * time.Millisecond // before each model call
	pauseWord  = 12 * time.Millisecond
	pauseTool  = 150 * time.Millisecond
)

// piWriter writes the event stream of pi's JSON mode, as of today, as far as anybody reads it.
type piWriter struct {
	enc   *json.Encoder
	err   error         // the first one
	speed time.Duration // 1 is as for a reader, 0 without pauses
	turns int
	calls int
}

// The shapes of pi's events: the fields of all kinds, in pi's order.
type (
	piEvent struct {
		Type       string         `json:"type"`
		ID         string         `json:"id,omitempty"` // of session
		Message    *piMessage     `json:"message,omitempty"`
		Usage      *piUsage       `json:"usage,omitempty"`
		Update     *piUpdate      `json:"assistantMessageEvent,omitempty"`
		ToolCallID string         `json:"toolCallId,omitempty"`
		ToolName   string         `json:"toolName,omitempty"`
		Args       map[string]any `json:"args,omitempty"`
		Result     *piMessage     `json:"result,omitempty"`
		IsError    bool           `json:"isError,omitempty"`
		WillRetry  *bool          `json:"willRetry,omitempty"`
	}
	piMessage struct {
		Role       string      `json:"role,omitempty"`
		Content    []piContent `json:"content"`
		Provider   string      `json:"provider,omitempty"`
		Model      string      `json:"model,omitempty"`
		Usage      *piUsage    `json:"usage,omitempty"`
		StopReason string      `json:"stopReason,omitempty"`
	}
	piContent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	piUpdate struct {
		Type  string `json:"type"`
		Delta string `json:"delta"`
	}
	piUsage struct {
		Input      int `json:"input"`
		Output     int `json:"output"`
		CacheRead  int `json:"cacheRead"`
		CacheWrite int `json:"cacheWrite"`
		Cost       struct {
			Total float64 `json:"total"`
		} `json:"cost"`
	}
)

func (w *piWriter) emit(event piEvent) {
	if w.err == nil {
		w.err = w.enc.Encode(event)
	}
}

func (w *piWriter) pause(d time.Duration) { time.Sleep(d * w.speed) }

func (w *piWriter) begin() {
	w.emit(piEvent{Type: "session", ID: fmt.Sprintf("demo-%08x", rand.Uint32())})
	w.emit(piEvent{Type: "agent_start"})
}

// end closes the session; it returns the first error of writing.
func (w *piWriter) end() error {
	w.emit(piEvent{Type: "agent_end", WillRetry: new(false)})
	w.emit(piEvent{Type: "agent_settled"})
	if w.err != nil {
		return fmt.Errorf("writing the stream: %w", w.err)
	}
	return nil
}

// say is a turn of text alone.
func (w *piWriter) say(text string) {
	w.emit(piEvent{Type: "turn_end", Message: w.answer(text, "stop")})
}

// call is a turn that runs a tool, and returns its output and success.
func (w *piWriter) call(say, tool string, args map[string]any, run func() (string, error)) (output string, ok bool) {
	w.calls++
	id := fmt.Sprintf("call_%d", w.calls)
	answer := w.answer(say, "toolUse")
	w.emit(piEvent{Type: "tool_execution_start", ToolCallID: id, ToolName: tool, Args: args})
	w.pause(pauseTool)
	output, err := run()
	if err != nil && output == "" {
		output = err.Error()
	}
	result := &piMessage{Content: []piContent{{"text", output}}}
	w.emit(piEvent{Type: "tool_execution_end", ToolCallID: id, ToolName: tool, Result: result, IsError: err != nil})
	w.emit(piEvent{Type: "turn_end", Message: answer})
	return output, err == nil
}

// answer streams the assistant's message of a turn, word by word.
func (w *piWriter) answer(text, stopReason string) *piMessage {
	w.turns++
	w.emit(piEvent{Type: "turn_start"})
	w.pause(pauseThink)
	usage := w.usage(text)
	m := piMessage{Role: "assistant", Content: []piContent{}, Provider: "demo", Model: "scripted", Usage: usage}
	w.emit(piEvent{Type: "message_start", Message: &m})
	if text != "" {
		for _, word := range strings.SplitAfter(text, " ") {
			w.emit(piEvent{Type: "message_update", Usage: usage, Update: &piUpdate{"text_delta", word}})
			w.pause(pauseWord)
		}
		m.Content = []piContent{{"text", text}}
	}
	m.StopReason = stopReason
	w.emit(piEvent{Type: "message_end", Message: &m})
	return &m
}

// usage makes up plausible counts, and what they would cost, for a model call
// with an answer of text. What one call writes into the cache the next one reads.
func (w *piWriter) usage(text string) *piUsage {
	const written = 180
	u := piUsage{
		Input: 40 + 25*w.turns, Output: 30 + utf8.RuneCountInString(text)/3,
		CacheRead: 5200 + written*(w.turns-1), CacheWrite: written,
	}
	u.Cost.Total = float64(u.Input)*3e-6 + float64(u.Output)*15e-6 + float64(u.CacheRead)*0.3e-6 + float64(u.CacheWrite)*3.75e-6
	return &u
}
