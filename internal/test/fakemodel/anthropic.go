package fakemodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
)

// fakeSignature stands for the provider's signature of a thinking block.
const fakeSignature = "ZmFrZS1zaWduYXR1cmU="

// anthropic writes an answer as the Anthropic Messages API does, streamed or whole.
type anthropic struct {
	w       *responseWriter
	request Request
	usage   Usage

	index     int    // of the open block
	deltaType string // of the open block's deltas
	deltaKey  string
}

// event sends one event, whose type is also its name.
func (o *anthropic) event(name string, fields map[string]any) {
	fields["type"] = name
	o.w.sse(name, fields)
}

func (o *anthropic) counts(output int) map[string]any {
	return map[string]any{"input_tokens": o.usage.Input, "output_tokens": output,
		"cache_read_input_tokens": o.usage.CacheRead, "cache_creation_input_tokens": o.usage.CacheWrite}
}

// message is an assistant message that has just begun: the output tokens are
// not known yet, and the real API says 1.
func (o *anthropic) message() map[string]any {
	return map[string]any{"id": fmt.Sprintf("msg_fake_%d", o.request.Seq), "type": "message", "role": "assistant",
		"model": o.request.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": o.counts(1)}
}

func (o *anthropic) start() { o.event("message_start", map[string]any{"message": o.message()}) }

// begin opens a block, whose deltas will have the given type and key.
func (o *anthropic) begin(deltaType, deltaKey string, block map[string]any) {
	o.deltaType, o.deltaKey = deltaType, deltaKey
	o.event("content_block_start", map[string]any{"index": o.index, "content_block": block})
}

func (o *anthropic) beginText() {
	o.begin("text_delta", "text", map[string]any{"type": "text", "text": ""})
}

func (o *anthropic) beginThinking() {
	o.begin("thinking_delta", "thinking", map[string]any{"type": "thinking", "thinking": "", "signature": ""})
}

func (o *anthropic) beginTool(id, name string) {
	o.begin("input_json_delta", "partial_json", map[string]any{"type": "tool_use", "id": id, "name": name, "input": map[string]any{}})
}

func (o *anthropic) delta(s string) { o.sendDelta(o.deltaType, o.deltaKey, s) }

func (o *anthropic) sendDelta(deltaType, key, value string) {
	o.event("content_block_delta", map[string]any{"index": o.index, "delta": map[string]any{"type": deltaType, key: value}})
}

func (o *anthropic) endBlock() {
	if o.deltaType == "thinking_delta" {
		o.sendDelta("signature_delta", "signature", fakeSignature)
	}
	o.event("content_block_stop", map[string]any{"index": o.index})
	o.index++
}

func (o *anthropic) fail(e ErrorBody) {
	o.event("error", map[string]any{"error": map[string]any{
		"type": cmp.Or(e.Type, "overloaded_error"), "message": cmp.Or(e.Message, "Overloaded")}})
}

func (o *anthropic) end(stop string) {
	o.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": o.counts(o.usage.Output)})
	o.event("message_stop", map[string]any{})
}

func (o *anthropic) whole(steps []Step, stop string) {
	content := []any{}
	for i, st := range steps {
		switch {
		case st.Text != nil:
			content = append(content, map[string]any{"type": "text", "text": *st.Text})
		case st.Thinking != nil:
			content = append(content, map[string]any{"type": "thinking", "thinking": *st.Thinking, "signature": fakeSignature})
		case st.Tool != nil:
			content = append(content, map[string]any{"type": "tool_use", "id": cmp.Or(st.Tool.ID, fmt.Sprintf("toolu_fake_%d_%d", o.request.Seq, i)),
				"name": st.Tool.Name, "input": json.RawMessage(st.Tool.args())})
		}
	}
	message := o.message()
	message["content"], message["stop_reason"], message["usage"] = content, stop, o.counts(o.usage.Output)
	o.w.json(http.StatusOK, message)
}

func (o *anthropic) failure(t Turn) map[string]any {
	return anthropicError(anthropicErrorType(t.Status), cmp.Or(t.Message, http.StatusText(t.Status)))
}

func anthropicError(errorType, message string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": errorType, "message": message}, "request_id": "req_fake"}
}

func anthropicErrorType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529: // Anthropic's own
		return "overloaded_error"
	}
	return "api_error"
}
