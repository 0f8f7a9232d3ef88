package stream

import (
	"cmp"
	"encoding/json"
	"slices"
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
func (d *claudeDecoder) talk(kind string, line []byte, emit func(Event)) error {
	var ev claudeTalk
	if err := readEvent(line, &ev); err != nil {
		return err
	}
	switch kind {
	case "control_request":
		r := ev.Request // whatever it is, claude waits for the answer
		emit(Question{ID: ev.RequestID, Method: r.Subtype, Tool: r.Tool, CallID: r.CallID, Message: cmp.Or(r.Message, callDetail(compactJSON(r.Input)))})
	case "control_cancel_request":
		emit(Moot{ID: ev.RequestID})
	case "command_lifecycle":
		d.lifecycle(ev.UUID, ev.State, emit)
	}
	return nil
}

// lifecycle follows what claude was told, of which the prompt is the first.
func (d *claudeDecoder) lifecycle(uuid, state string, emit func(Event)) {
	if d.prompt == "" {
		d.prompt = uuid
	}
	i := slices.Index(d.queued, uuid)
	if state == "queued" {
		if i < 0 && len(d.queued) < maxRecent {
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
			emit(Heard{ID: uuid})
		}
	}
}
