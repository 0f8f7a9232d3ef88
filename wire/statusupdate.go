package wire

import (
	"encoding/json"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
)

// OnceStatus is the update that says how a loop stands, of a run for the program that
// holds the loop (run --once): no client gets it.
const OnceStatus = "_ralph/status"

// StatusUpdate says how a loop stands, in the place of what it said before.
type StatusUpdate struct {
	SessionUpdate string     `json:"sessionUpdate"` // OnceStatus
	Status        LoopStatus `json:"status"`
}

// StatusIn is the status in such an update, as it is; nil for another one, and one that is too long.
func StatusIn(update []byte) json.RawMessage {
	var u struct{ Status json.RawMessage }
	if KindOf(update) == OnceStatus && len(update) <= 2*MaxStatusUpdate {
		_ = json.Unmarshal(update, &u)
	}
	return u.Status
}

// MaxStatusUpdate bounds a StatusUpdate, in bytes of JSON.
const MaxStatusUpdate = 128 << 10

// StatusUpdateOf says how a loop stands, in at most MaxStatusUpdate bytes: it cuts the details of questions first, then it
// leaves out the last questions and the other lists.
func StatusUpdateOf(s loop.Status) StatusUpdate {
	u := StatusUpdate{OnceStatus, StatusOf(s, true)}
	for most := ask.MaxDetail / 4; u.isTooLong(); most /= 4 {
		if most == 0 {
			l := &u.Status
			l.Questions, l.Details, l.Agents, l.Allowed = l.Questions[:len(l.Questions)/2], nil, nil, nil
			if len(l.Questions) == 0 {
				break
			}
			continue
		}
		for i := range u.Status.Questions {
			if q := &u.Status.Questions[i]; len(q.Detail) > most {
				q.Detail = strings.ToValidUTF8(q.Detail[:most], "") + "\n... (the rest is with the agent)"
			}
		}
	}
	return u
}

func (u StatusUpdate) isTooLong() bool {
	data, err := json.Marshal(u)
	return err != nil || len(data) > MaxStatusUpdate
}
