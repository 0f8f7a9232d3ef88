package decode

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// claudeTalk holds the fields of the events that only a claude prints that is talked to
// while it works.
type claudeTalk struct {
	UUID  string `json:"command_uuid"` // of command_lifecycle
	State string

	RequestID string `json:"request_id"` // of control_request, control_cancel_request
	Request   struct {
		Subtype string
		Tool    string `json:"tool_name"`
		CallID  string `json:"tool_use_id"`
		Input   json.RawMessage
		Message string // of an elicitation, for an MCP server
	}
}

// talk reads what becomes of what claude was told, and what it wants to know.
func (d *claudeDecoder) talk(kind string, line []byte, emit func(stream.Event)) error {
	var ev claudeTalk
	if err := readEvent(line, &ev); err != nil {
		return err
	}
	switch kind {
	case "control_request":
		r := ev.Request // claude waits for an answer to any request
		input := compactJSON(r.Input)
		q := stream.Question{ID: ev.RequestID, Method: r.Subtype, Tool: r.Tool, CallID: r.CallID, Input: input,
			Message: cmp.Or(r.Message, stream.ToolCall{Input: input}.Detail())}
		if r.Tool == "AskUserQuestion" {
			askUser(&q)
		}
		emit(q)
	case "control_cancel_request":
		emit(stream.Withdrawn{ID: ev.RequestID})
	case "command_lifecycle":
		d.lifecycle(ev.UUID, ev.State, emit)
	}
	return nil
}

// askUser makes claude's call of its tool to ask the user what it is: a question for a value.
// One of several questions stays a call.
func askUser(q *stream.Question) {
	var in struct {
		Questions []struct {
			Question    string
			MultiSelect bool
			Options     []struct{ Label, Description string }
		}
	}
	if json.Unmarshal(q.Input, &in) != nil || len(in.Questions) != 1 || in.Questions[0].Question == "" {
		return
	}
	asked := in.Questions[0]
	q.Method, q.Title, q.Message = "select", asked.Question, ""
	for _, o := range asked.Options {
		q.Options = append(q.Options, o.Label)
		if o.Description != "" {
			q.Message += o.Label + ": " + o.Description + "\n"
		}
	}
	if asked.MultiSelect || len(q.Options) == 0 {
		q.Method, q.Placeholder, q.Options = "input", strings.Join(q.Options, ", "), nil
	}
}

// lifecycle follows what claude was told, of which the prompt is the first.
func (d *claudeDecoder) lifecycle(uuid, state string, emit func(stream.Event)) {
	if d.prompt == "" {
		d.prompt = uuid
	}
	i := slices.Index(d.queued, uuid)
	if state == "queued" {
		if i < 0 && len(d.queued) < stream.MaxRecent {
			d.queued = append(d.queued, uuid)
		}
		return
	}
	if i >= 0 {
		d.queued = slices.Delete(d.queued, i, i+1)
	}
	if state == "started" {
		d.done = false
		if uuid != d.prompt {
			emit(stream.Heard{ID: uuid})
		}
	}
}
