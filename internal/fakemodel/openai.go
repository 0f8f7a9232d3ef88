package fakemodel

import (
	"fmt"
	"net/http"
)

// openAI writes an answer as the OpenAI chat-completions API does.
type openAI struct {
	w         *responseWriter
	request   Request
	usage     Usage
	sendUsage bool

	deltaKey string // of the open block; empty in a tool call
	tool     int    // index of the open or next tool call
}

// completion is the frame of a chunk or of a whole answer.
func (o *openAI) completion(object string, choices ...any) map[string]any {
	return map[string]any{"id": fmt.Sprintf("chatcmpl-fake-%d", o.request.Seq), "object": object,
		"created": o.request.Time.Unix(), "model": o.request.Model, "choices": append([]any{}, choices...)}
}

func (o *openAI) chunk(delta map[string]any, finish any) {
	o.w.sse("", o.completion("chat.completion.chunk", map[string]any{"index": 0, "delta": delta, "finish_reason": finish}))
}

func (o *openAI) counts() map[string]any {
	prompt := o.usage.Input + o.usage.CacheRead + o.usage.CacheWrite
	return map[string]any{"prompt_tokens": prompt, "completion_tokens": o.usage.Output,
		"total_tokens":          prompt + o.usage.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": o.usage.CacheRead}}
}

func (o *openAI) start() { o.chunk(map[string]any{"role": "assistant", "content": ""}, nil) }

func (o *openAI) beginText()     { o.deltaKey = "content" }
func (o *openAI) beginThinking() { o.deltaKey = "reasoning_content" }

func (o *openAI) beginTool(id, name string) {
	o.deltaKey = ""
	o.toolCall(map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": ""}})
}

func (o *openAI) toolCall(call map[string]any) {
	call["index"] = o.tool
	o.chunk(map[string]any{"tool_calls": []any{call}}, nil)
}

func (o *openAI) delta(s string) {
	if o.deltaKey == "" {
		o.toolCall(map[string]any{"function": map[string]any{"arguments": s}})
		return
	}
	o.chunk(map[string]any{o.deltaKey: s}, nil)
}

func (o *openAI) endBlock() {
	if o.deltaKey == "" {
		o.tool++
	}
}

func (o *openAI) ping() { o.w.writeNow(": ping\n\n") }

func (o *openAI) fail(e ErrorBody) {
	o.w.sse("", map[string]any{"error": map[string]any{
		"type": or(e.Type, "server_error"), "message": or(e.Message, "Overloaded")}})
}

func (o *openAI) end(stop string) {
	o.chunk(map[string]any{}, openAIStop(stop))
	if o.sendUsage {
		last := o.completion("chat.completion.chunk")
		last["usage"] = o.counts()
		o.w.sse("", last)
	}
	o.w.writeNow("data: [DONE]\n\n")
}

func (o *openAI) whole(steps []Step, stop string) {
	message := map[string]any{"role": "assistant", "content": spoken(steps)}
	var calls []any
	for i, st := range steps {
		switch {
		case st.Thinking != nil:
			message["reasoning_content"] = *st.Thinking
		case st.Tool != nil:
			calls = append(calls, map[string]any{"id": or(st.Tool.ID, fmt.Sprintf("call_fake_%d_%d", o.request.Seq, i)),
				"type": "function", "function": map[string]any{"name": st.Tool.Name, "arguments": st.Tool.args()}})
		}
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	answer := o.completion("chat.completion", map[string]any{"index": 0, "message": message, "finish_reason": openAIStop(stop)})
	answer["usage"] = o.counts()
	o.w.json(http.StatusOK, answer)
}

func (o *openAI) failure(t Turn) map[string]any {
	return map[string]any{"error": map[string]any{"type": or(t.ErrorType, "server_error"),
		"message": or(t.Message, http.StatusText(t.Status)), "code": nil, "param": nil}}
}

// openAIStop is a stop reason in this API's words.
func openAIStop(stop string) string {
	switch stop {
	case "end_turn", "stop_sequence":
		return "stop"
	case "tool_use":
		return "tool_calls"
	case "max_tokens":
		return "length"
	}
	return stop
}
