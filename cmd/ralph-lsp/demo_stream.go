package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
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

// The prices of the demo's model, in dollars per token.
const (
	priceInput      = 3e-6
	priceOutput     = 15e-6
	priceCacheRead  = 0.3e-6
	priceCacheWrite = 3.75e-6
)

// piWriter writes the event stream of pi's JSON mode, as of today.
type piWriter struct {
	enc     *json.Encoder
	err     error
	speed   time.Duration // 1 is as for a reader, 0 without pauses
	turns   int
	calls   int
	cached  int // tokens that the next call finds in the cache
	history []piMessage
}

// The shapes of pi's events; those that have nothing more are piEvent alone.
type (
	piEvent struct {
		Type string `json:"type"`
	}
	piSession struct {
		Type      string    `json:"type"`
		Version   int       `json:"version"`
		ID        string    `json:"id"`
		Timestamp time.Time `json:"timestamp"`
		Cwd       string    `json:"cwd"`
	}
	piMessage struct {
		Role       string      `json:"role"`
		Content    []piContent `json:"content"`
		API        string      `json:"api,omitempty"`
		Provider   string      `json:"provider,omitempty"`
		Model      string      `json:"model,omitempty"`
		Usage      *piUsage    `json:"usage,omitempty"`
		StopReason string      `json:"stopReason,omitempty"`
		ToolCallID string      `json:"toolCallId,omitempty"`
		ToolName   string      `json:"toolName,omitempty"`
		IsError    *bool       `json:"isError,omitempty"`
		Timestamp  int64       `json:"timestamp"` // milliseconds
	}
	piContent struct {
		Type string  `json:"type"` // "text", "toolCall"
		Text *string `json:"text,omitempty"`
		*piCall
	}
	piCall struct {
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}
	piUsage struct {
		Input       int    `json:"input"`
		Output      int    `json:"output"`
		CacheRead   int    `json:"cacheRead"`
		CacheWrite  int    `json:"cacheWrite"`
		TotalTokens int    `json:"totalTokens"`
		Cost        piCost `json:"cost"`
	}
	piCost struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead"`
		CacheWrite float64 `json:"cacheWrite"`
		Total      float64 `json:"total"`
	}
	piMessageEvent struct {
		Type    string    `json:"type"` // message_start, message_end
		Message piMessage `json:"message"`
	}
	piUpdate struct {
		Type  string  `json:"type"` // message_update
		Usage piUsage `json:"usage"`
		Event any     `json:"assistantMessageEvent"`
	}
	piDelta struct {
		Type         string  `json:"type"` // text_start, text_delta, text_end
		ContentIndex int     `json:"contentIndex"`
		Delta        string  `json:"delta,omitempty"`
		Content      *string `json:"content,omitempty"`
	}
	piToolStart struct {
		Type       string         `json:"type"`
		ToolCallID string         `json:"toolCallId"`
		ToolName   string         `json:"toolName"`
		Args       map[string]any `json:"args"`
	}
	piToolEnd struct {
		Type       string `json:"type"`
		ToolCallID string `json:"toolCallId"`
		ToolName   string `json:"toolName"`
		Result     struct {
			Content []piContent `json:"content"`
		} `json:"result"`
		IsError bool `json:"isError"`
	}
	piTurnEnd struct {
		Type        string      `json:"type"`
		Message     piMessage   `json:"message"`
		ToolResults []piMessage `json:"toolResults"`
	}
	piAgentEnd struct {
		Type      string      `json:"type"`
		Messages  []piMessage `json:"messages"`
		WillRetry bool        `json:"willRetry"`
	}
)

func newPiWriter(out io.Writer, speed time.Duration) *piWriter {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &piWriter{enc: enc, speed: speed, cached: 5200}
}

func (w *piWriter) emit(event any) {
	if w.err == nil {
		w.err = w.enc.Encode(event)
	}
}

func (w *piWriter) pause(d time.Duration) { time.Sleep(d * w.speed) }

// begin opens the session with the prompt.
func (w *piWriter) begin(prompt string) {
	cwd, err := os.Getwd()
	if err != nil {
		cwd = "."
	}
	w.emit(piSession{"session", 3, fmt.Sprintf("demo-%08x", rand.Uint32()), time.Now().UTC(), cwd})
	w.emit(piEvent{"agent_start"})
	user := piMessage{Role: "user", Content: []piContent{textContent(prompt)}, Timestamp: time.Now().UnixMilli()}
	w.message(user)
}

// end closes the session; it returns the first error of writing.
func (w *piWriter) end() error {
	w.emit(piAgentEnd{"agent_end", w.history, false})
	w.emit(piEvent{"agent_settled"})
	if w.err != nil {
		return fmt.Errorf("writing the stream: %w", w.err)
	}
	return nil
}

// say is a turn of text alone.
func (w *piWriter) say(text string) {
	answer := w.answer(text, nil)
	w.emit(piTurnEnd{"turn_end", answer, []piMessage{}})
}

// call is a turn that runs a tool, and returns its output and success.
func (w *piWriter) call(say string, call piCall, run func() (string, error)) (output string, ok bool) {
	w.calls++
	call.ID = fmt.Sprintf("call_%d", w.calls)
	answer := w.answer(say, &call)
	w.emit(piToolStart{"tool_execution_start", call.ID, call.Name, call.Arguments})
	w.pause(pauseTool)
	output, err := run()
	if err != nil && output == "" {
		output = err.Error()
	}
	end := piToolEnd{Type: "tool_execution_end", ToolCallID: call.ID, ToolName: call.Name, IsError: err != nil}
	end.Result.Content = []piContent{textContent(output)}
	w.emit(end)
	result := piMessage{
		Role: "toolResult", ToolCallID: call.ID, ToolName: call.Name, Content: end.Result.Content,
		IsError: &end.IsError, Timestamp: time.Now().UnixMilli(),
	}
	w.message(result)
	w.emit(piTurnEnd{"turn_end", answer, []piMessage{result}})
	return output, err == nil
}

// message is one that comes whole.
func (w *piWriter) message(m piMessage) {
	w.emit(piMessageEvent{"message_start", m})
	w.emit(piMessageEvent{"message_end", m})
	w.history = append(w.history, m)
}

// answer streams the assistant's message of a turn.
func (w *piWriter) answer(say string, call *piCall) piMessage {
	w.turns++
	w.emit(piEvent{"turn_start"})
	w.pause(pauseThink)
	usage := w.usage(say)
	m := piMessage{
		Role: "assistant", Content: []piContent{}, API: "scripted", Provider: "demo", Model: "scripted",
		Usage: &usage, StopReason: "pending", Timestamp: time.Now().UnixMilli(),
	}
	w.emit(piMessageEvent{"message_start", m})
	if say != "" {
		w.stream(say, usage)
		m.Content = append(m.Content, textContent(say))
	}
	m.StopReason = "stop"
	if call != nil {
		m.StopReason = "toolUse"
		m.Content = append(m.Content, piContent{Type: "toolCall", piCall: call})
	}
	w.emit(piMessageEvent{"message_end", m})
	w.history = append(w.history, m)
	return m
}

// stream sends text word by word.
func (w *piWriter) stream(text string, usage piUsage) {
	w.emit(piUpdate{"message_update", usage, piDelta{Type: "text_start"}})
	for _, word := range strings.SplitAfter(text, " ") {
		w.emit(piUpdate{"message_update", usage, piDelta{Type: "text_delta", Delta: word}})
		w.pause(pauseWord)
	}
	w.emit(piUpdate{"message_update", usage, piDelta{Type: "text_end", Content: &text}})
}

// usage makes up plausible counts for a model call with an answer of text.
func (w *piWriter) usage(text string) piUsage {
	u := piUsage{Input: 40 + 25*w.turns, Output: 30 + utf8.RuneCountInString(text)/3, CacheRead: w.cached, CacheWrite: 180}
	w.cached += u.CacheWrite
	u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
	u.Cost = piCost{
		Input: float64(u.Input) * priceInput, Output: float64(u.Output) * priceOutput,
		CacheRead: float64(u.CacheRead) * priceCacheRead, CacheWrite: float64(u.CacheWrite) * priceCacheWrite,
	}
	u.Cost.Total = u.Cost.Input + u.Cost.Output + u.Cost.CacheRead + u.Cost.CacheWrite
	return u
}

func textContent(text string) piContent { return piContent{Type: "text", Text: &text} }
