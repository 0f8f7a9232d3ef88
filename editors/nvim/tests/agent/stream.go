package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// object is a JSON object.
type object map[string]any

// stream writes pi's events.
type stream struct {
	out     *bufio.Writer
	calls   int
	dollars float64 // that each message costs
}

// emit prints an event at once: the editor is to see it when it happens.
func (s *stream) emit(event object) {
	line, err := json.Marshal(event)
	if err != nil {
		panic(err) // only ours
	}
	s.out.Write(append(line, '\n')) // the error stays until flush
	if err := s.out.Flush(); err != nil {
		os.Exit(1) // nobody reads
	}
}

func (s *stream) begin() {
	s.emit(object{"type": "session", "version": 3, "id": "stand-in", "cwd": "."})
	s.emit(object{"type": "agent_start"})
}

func (s *stream) end() {
	s.emit(object{"type": "agent_end", "messages": []any{}, "willRetry": false})
	s.emit(object{"type": "agent_settled"})
}

// delta is a piece of the message's text.
func (s *stream) delta(text string) {
	s.emit(object{"type": "message_update", "usage": s.usage(), "assistantMessageEvent": object{"type": "text_delta", "delta": text}})
}

// usage is the same for all messages, but for what they cost.
func (s *stream) usage() object {
	dollars := max(s.dollars, 0.07)
	return object{
		"input": 100, "output": 50, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 150,
		"cost": object{"input": dollars, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": dollars},
	}
}

func (s *stream) message(stop string, content ...object) object {
	return object{
		"role": "assistant", "content": content, "provider": "stand-in", "model": "scripted",
		"usage": s.usage(), "stopReason": stop,
	}
}

// say is a turn of text alone.
func (s *stream) say(text string) {
	s.emit(object{"type": "turn_start"})
	s.emit(object{"type": "message_start", "message": s.message("pending")})
	s.delta(text)
	answer := s.message("stop", object{"type": "text", "text": text})
	s.emit(object{"type": "message_end", "message": answer})
	s.emit(object{"type": "turn_end", "message": answer, "toolResults": []any{}})
}

// tool is a turn that runs a tool.
func (s *stream) tool(name string, args object, run func() string) {
	s.calls++
	id := fmt.Sprintf("call_%d", s.calls)
	s.emit(object{"type": "turn_start"})
	answer := s.message("toolUse", object{"type": "toolCall", "id": id, "name": name, "arguments": args})
	s.emit(object{"type": "message_start", "message": answer})
	s.emit(object{"type": "message_end", "message": answer})
	s.emit(object{"type": "tool_execution_start", "toolCallId": id, "toolName": name, "args": args})
	output := []object{{"type": "text", "text": run()}}
	s.emit(object{
		"type": "tool_execution_end", "toolCallId": id, "toolName": name, "isError": false,
		"result": object{"content": output},
	})
	s.emit(object{"type": "turn_end", "message": answer, "toolResults": []any{}})
}
