// Package acp is the client's side of the Agent Client Protocol (version 1): what an agent is told in
// a run, one thing after the other, and which agents are known. What it says is read by
// stream/decode.
package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The ids of our requests. Numbers are of those without which there is no run, see decode.FormatACP.
const (
	idOpen = iota
	idNew
	idPrompt
	idMode = "mode"
	ByeID  = "bye" // of the last
)

// Permission is the Method of a question that is about a tool.
const Permission = "can_use_tool"

// Run is the conversation of one run. Its agent is opened, gets a session in the run's folder,
// is set to its mode and then told the prompt, each when the last was answered. Any goroutine may
// use it.
type Run struct {
	dir, mode, prompt string
	meta              map[string]any

	mu       sync.Mutex
	session  string
	isAtWork bool // it was told the prompt
	steers   bool
	deletes  bool
	isOver   bool // it was asked to end
}

// New is the conversation of a run in a folder. mode "" leaves the agent in its own; meta is what it
// is told of its session beside the protocol.
func New(dir, mode, prompt string, meta map[string]any) *Run {
	return &Run{dir: dir, mode: mode, prompt: prompt, meta: meta}
}

func request(id any, method string, params map[string]any) any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
}

// Open is the first that the agent is told. Nothing is done for it: what we wrote would be outside
// of its walls.
func (r *Run) Open() any {
	return request(idOpen, "initialize", map[string]any{
		"protocolVersion": 1, "clientInfo": map[string]string{"name": "ralph-lsp", "title": "Ralph loops", "version": "1"},
		"clientCapabilities": map[string]any{"fs": map[string]bool{"readTextFile": false, "writeTextFile": false}, "terminal": false},
	})
}

// offers is what an agent says that it can, and in which modes it works.
type offers struct {
	ProtocolVersion   int
	AgentCapabilities struct {
		SessionCapabilities struct{ Delete *struct{} }
	}
	Meta  struct{ Steering struct{ Supported bool } } `json:"_meta"`
	Modes struct {
		AvailableModes []struct{ ID string }
	}
	ConfigOptions []struct {
		ID, Category string
		Options      []struct{ Value string }
	}
	SessionID string
}

// Answered goes on with what follows an answer. A failure ends the run.
func (r *Run) Answered(e stream.Answered) (next any, failure string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var said offers
	_ = json.Unmarshal(e.Result, &said) // what it doesn't say, it can't do
	switch e.ID {
	case fmt.Sprint(idOpen):
		if said.ProtocolVersion != 1 {
			return nil, fmt.Sprintf("the agent speaks version %d of the Agent Client Protocol, and not 1", said.ProtocolVersion)
		}
		r.steers, r.deletes = said.Meta.Steering.Supported, said.AgentCapabilities.SessionCapabilities.Delete != nil
		params := map[string]any{"cwd": r.dir, "mcpServers": []any{}}
		if r.meta != nil {
			params["_meta"] = r.meta
		}
		return request(idNew, "session/new", params), ""
	case fmt.Sprint(idNew):
		if r.session = said.SessionID; r.session == "" {
			return nil, "the agent gave its session no id"
		}
		if r.mode != "" {
			return r.setMode(said)
		}
	case idMode:
		if e.Failure != "" {
			return nil, fmt.Sprintf("the agent can't be set to its mode %s: %s", r.mode, e.Failure)
		}
	default:
		return nil, ""
	}
	r.isAtWork = true
	return request(idPrompt, "session/prompt", r.says(r.prompt)), ""
}

// setMode sets the agent to the mode that is wanted, by whichever way it has: else it would be
// in one that asks nobody, or lets a model decide.
func (r *Run) setMode(said offers) (next any, failure string) {
	var known []string
	for _, m := range said.Modes.AvailableModes {
		if known = append(known, m.ID); m.ID == r.mode {
			return request(idMode, "session/set_mode", map[string]any{"sessionId": r.session, "modeId": r.mode}), ""
		}
	}
	for _, o := range said.ConfigOptions {
		for _, v := range o.Options {
			if o.Category == "mode" && v.Value == r.mode {
				return request(idMode, "session/set_config_option", map[string]any{"sessionId": r.session, "configId": o.ID, "value": r.mode}), ""
			}
			if o.Category == "mode" && !slices.Contains(known, v.Value) {
				known = append(known, v.Value)
			}
		}
	}
	return nil, fmt.Sprintf("the agent has no mode %s, but %s", r.mode, cmp.Or(strings.Join(known, ", "), "none at all"))
}

func (r *Run) says(text string) map[string]any {
	return map[string]any{"sessionId": r.session, "prompt": []any{map[string]string{"type": "text", "text": text}}}
}

// Steer is a word for an agent that takes such while it works, nil for any other. A second prompt
// means something else to each agent.
func (r *Run) Steer(id, text string) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.steers || !r.isAtWork || r.isOver {
		return nil
	}
	params := r.says(text)
	params["_meta"] = map[string]any{"steering": map[string]string{"idleBehavior": "promptRequired"}}
	return request(id, "_session/steering", params)
}

// Abort asks an agent to end that works, nil where it doesn't.
func (r *Run) Abort() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver = true; !r.isAtWork {
		return nil
	}
	return map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]string{"sessionId": r.session}}
}

// Bye has the agent forget a session that is over, once: its user has no use for one of each iteration. It is nil
// where it can't.
func (r *Run) Bye() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.deletes || r.session == "" {
		return nil
	}
	r.deletes = false
	return request(ByeID, "session/delete", map[string]any{"sessionId": r.session})
}

// Refuse says of what no user is asked: what isn't about a tool, and what can't be allowed for this
// once.
func Refuse(q stream.Question) (why string) {
	switch {
	case q.Method != Permission:
		return q.Method + " isn't known here"
	case q.Yes == "":
		return "it can't be allowed for this once only"
	}
	return ""
}

// Answer answers to a question. Nothing is ever allowed or refused for longer: those rules are the
// loop's.
func (r *Run) Answer(q stream.Question, yes bool) any {
	reply := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(q.ID)}
	if q.Method != Permission {
		reply["error"] = map[string]any{"code": -32601, "message": Refuse(q)}
		return reply
	}
	r.mu.Lock()
	isOver := r.isOver
	r.mu.Unlock()
	option := q.No
	if yes {
		option = q.Yes
	}
	outcome := map[string]string{"outcome": "selected", "optionId": option}
	if option == "" || isOver {
		outcome = map[string]string{"outcome": "cancelled"}
	}
	reply["result"] = map[string]any{"outcome": outcome}
	return reply
}
