package ahp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// transcript is what windows are shown in a session's chat: turns, the last of which may be under way. What changes there is told
// in actions.
type transcript struct {
	show    func(action object)
	changed func() // how the session stands

	isPast bool // it is read: when its turns were isn't known
	turns  []object
	turn   *turn // under way
	count  int   // of the turns that are ours
	calls  map[string]*call
}

// begin begins a turn of ours. queued is the message of a user's that waited, "" for another one.
func (s *transcript) begin(m message, queued string) {
	s.count++
	s.turn = newTurn("ralph-"+strconv.Itoa(s.count), now(), m)
	started := object{"type": "chat/turnStarted", "turnId": s.turn.id, "startedAt": s.turn.since, "message": m}
	if queued != "" {
		started["queuedMessageId"] = queued
	}
	s.show(started)
	s.changed()
}

// doing is what is told of a call.
type doing struct {
	id, name, kind, status string
	title                  *string // nil: nothing is said of it
	input                  json.RawMessage
	text                   string // what it gave
	isFirst                bool   // the call is told of, not what became of it
}

// turn is one that is under way.
type turn struct {
	id, since    string
	began        time.Time
	message      message
	parts        []object
	calls        map[string]object // its calls' states
	hasIteration bool
}

func newTurn(id, since string, m message) *turn {
	return &turn{id: id, since: since, began: time.Now(), message: m, calls: map[string]object{}}
}

func (t *turn) state() object {
	return object{"id": t.id, "startedAt": t.since, "message": t.message, "responseParts": append([]object{}, t.parts...)}
}

func (t *turn) asks() bool {
	for _, c := range t.calls {
		if c["status"] == "pending-confirmation" {
			return true
		}
	}
	return false
}

// call is a call of a tool, whichever turn it is in.
type call struct {
	id, name, title, kind, input string
	ask                          *question
}

// question is what is asked about a call.
type question struct {
	id      string // of an agent's; "" for one about a start
	title   string
	options []object
	isAlone bool        // the call is nothing but the question
	answer  func(i int) // takes which option was chosen; -1: none
}

// doings are what is done by kinds of tools, and what was done.
var doings = map[string][2]string{
	"read": {"Reading", "Read"}, "edit": {"Editing", "Edited"}, "delete": {"Deleting", "Deleted"}, "move": {"Moving", "Moved"},
	"search": {"Searching for", "Searched for"}, "execute": {"Running", "Ran"}, "fetch": {"Fetching", "Fetched"},
}

// words say what a call does, or did.
func (c *call) words(i int) string {
	if doing, isKnown := doings[c.kind]; isKnown && c.title != "" {
		return doing[i] + " " + c.title
	}
	return strings.TrimSpace(c.name + " " + c.title)
}

// inputOf is a tool's input as a person reads it: a command, else all of it.
func inputOf(data json.RawMessage) string {
	var input struct{ Command string }
	if _ = json.Unmarshal(data, &input); input.Command != "" {
		return input.Command
	}
	return string(data)
}

// keepTurn makes the turn under way one that is over.
func (s *transcript) keepTurn(state string, failure object) {
	t := s.turn
	for _, c := range t.calls {
		if status := c["status"]; status == "running" || status == "pending-confirmation" {
			s.settle(c, false)
			c["reason"] = "skipped"
		}
	}
	kept := t.state()
	kept["state"], kept["duration"] = state, time.Since(t.began).Milliseconds()
	if s.isPast { // when it was isn't known
		delete(kept, "startedAt")
		delete(kept, "duration")
	}
	if failure != nil {
		kept["responseParts"] = append(t.parts, object{"kind": "error", "error": failure})
	}
	s.turns = append(s.turns, kept)
	s.turn = nil
}

// endTurn ends the turn under way, if there is one.
func (s *transcript) endTurn(state string, failure object) {
	if s.turn == nil {
		return
	}
	ended := object{"type": "chat/turnComplete", "turnId": s.turn.id, "duration": time.Since(s.turn.began).Milliseconds()}
	if failure != nil {
		ended["type"], ended["error"] = "chat/error", failure
	}
	s.keepTurn(state, failure)
	s.show(ended)
	s.changed()
}

// ensure has a turn be there for what is told.
func (s *transcript) ensure() *turn {
	if s.turn == nil {
		s.begin(messageOf("systemNotification", "Ralph"), "")
	}
	return s.turn
}

// say adds text to the turn, to its last part where that is of the same message.
func (s *transcript) say(kind, id, text string) {
	if text == "" {
		return
	}
	t := s.ensure()
	if len(t.parts) > 0 && id != "" {
		if last := t.parts[len(t.parts)-1]; last["kind"] == kind && strings.HasPrefix(fmt.Sprint(last["id"]), id+"#") {
			last["content"] = last["content"].(string) + text
			action := "chat/delta"
			if kind == "reasoning" {
				action = "chat/reasoning"
			}
			s.show(object{"type": action, "turnId": t.id, "partId": last["id"], "content": text})
			return
		}
	}
	part := object{"kind": kind, "id": fmt.Sprintf("%s#%d", id, len(t.parts)), "content": text}
	t.parts = append(t.parts, part)
	s.show(object{"type": "chat/responsePart", "turnId": t.id, "part": part})
}

// showCall shows how a call stands.
func (s *transcript) showCall(u doing) {
	c := s.callOf(u)
	isOver := u.status == wire.StatusCompleted || u.status == wire.StatusFailed
	t := s.ensure()
	state := t.calls[c.id]
	if state == nil {
		if isOver && !u.isFirst && c.name == "" {
			return // a question that was taken back
		}
		state = s.put(c)
	} else if u.isFirst && !isOver { // it was asked about before
		s.put(c)
	}
	if !isOver {
		return
	}
	delete(s.calls, c.id)
	if state["status"] == "cancelled" || state["status"] == "completed" {
		return
	}
	if state["status"] == "pending-confirmation" { // somebody else has answered
		s.confirmed(state)
	}
	result := object{"success": u.status == wire.StatusCompleted, "pastTenseMessage": c.words(1)}
	if isShown := c.kind != string(wire.ToolEdit) || u.status == wire.StatusFailed; isShown && u.text != "" { // an edit is in the changes
		result["content"] = []any{object{"type": "text", "text": u.text}}
	}
	state["status"] = "completed"
	for key, value := range result {
		state[key] = value
	}
	complete := object{"type": "chat/toolCallComplete", "turnId": t.id, "toolCallId": c.id, "result": result}
	if c.kind == "execute" { // without it VS Code hides one that was asked about; before, it would hide our options
		state["_meta"] = object{"toolKind": "terminal"}
		complete["_meta"] = state["_meta"]
	}
	s.show(complete)
}

// callOf is the call that something is told of.
func (s *transcript) callOf(u doing) *call {
	c := s.calls[u.id]
	if c == nil {
		c = &call{id: u.id}
		s.calls[c.id] = c
	}
	c.name, c.kind = cmp.Or(u.name, c.name), cmp.Or(u.kind, c.kind)
	if u.title != nil && (c.title == "" || u.isFirst) { // what was asked about it is no name for it
		c.title = *u.title
	}
	if len(u.input) > 0 {
		c.input = inputOf(u.input)
	}
	return c
}

// put puts a call into the turn, with what is asked about it.
func (s *transcript) put(c *call) object {
	t := s.ensure()
	state := t.calls[c.id]
	if state == nil {
		name := c.name
		if name == "" {
			name = "question"
		}
		state = object{"toolCallId": c.id, "toolName": name, "displayName": name}
		t.calls[c.id] = state
		t.parts = append(t.parts, object{"kind": "toolCall", "toolCall": state})
		s.show(object{"type": "chat/toolCallStart", "turnId": t.id, "toolCallId": c.id, "toolName": name, "displayName": name})
	}
	ready := object{"invocationMessage": c.words(0)}
	if c.input != "" {
		ready["toolInput"] = c.input
	}
	if c.ask != nil {
		state["status"], ready["confirmationTitle"], ready["options"] = "pending-confirmation", c.ask.title, c.ask.options
	} else {
		confirmed, _ := state["confirmed"].(string)
		state["status"], ready["confirmed"] = "running", cmp.Or(confirmed, "not-needed")
	}
	for key, value := range ready {
		state[key] = value
	}
	ready["type"], ready["turnId"], ready["toolCallId"] = "chat/toolCallReady", t.id, c.id
	s.show(ready)
	s.changed()
	return state
}

// puts puts a question about a call to the user.
func (s *transcript) puts(about doing, asked *question, detail string) {
	c := s.callOf(about)
	if c.title == "" { // nobody has told of it yet, or it is nothing but a question
		c.title = strings.TrimPrefix(asked.title, c.name+" ")
		if detail != "" {
			c.input = detail
		}
	}
	c.ask = asked
	s.put(c)
}

// confirm answers what was asked about a call of the turn under way. One of a turn that was cancelled
// comes behind the cancel, and says that it is approved: it counts for nothing.
func (s *transcript) confirm(a action) (rejection string, after func()) {
	c := s.calls[a.ToolCallID]
	if s.turn == nil || s.turn.id != a.TurnID || c == nil || c.ask == nil || s.turn.calls[c.id] == nil {
		return "nothing is asked there any more", func() {}
	}
	kind := "deny"
	if a.Approved {
		kind = "approve"
	}
	chosen := -1
	for i, o := range c.ask.options { // without one of ours it is the first of its kind: only this once
		if o["kind"] == kind && (chosen < 0 && a.SelectedOptionID == "" || a.SelectedOptionID == o["id"]) {
			chosen = i
		}
	}
	asked := c.ask
	c.ask = nil
	s.settle(s.turn.calls[c.id], a.Approved && chosen >= 0)
	return "", func() {
		asked.answer(chosen)
		s.changed()
		if asked.isAlone && s.turn != nil {
			s.showCall(doing{id: c.id, title: &asked.title, status: wire.StatusCompleted})
		}
	}
}

// settle notes how a question was answered.
func (s *transcript) settle(state object, approved bool) {
	delete(state, "options")
	delete(state, "confirmationTitle")
	if state["status"], state["confirmed"] = "running", "user-action"; !approved {
		delete(state, "confirmed")
		state["status"], state["reason"] = "cancelled", "denied"
	}
}

// confirmed shows that a question was answered elsewhere. What became of its call is told of that.
func (s *transcript) confirmed(state object) {
	s.settle(state, true)
	s.show(object{
		"type": "chat/toolCallConfirmed", "turnId": s.turn.id, "toolCallId": state["toolCallId"], "approved": true, "confirmed": "user-action",
	})
}

// withdraw takes a question back that needs no answer any more.
func (s *transcript) withdraw(questionID string) {
	for _, c := range s.calls {
		if c.ask == nil || c.ask.id != questionID {
			continue
		}
		c.ask = nil
		if s.turn != nil {
			if state := s.turn.calls[c.id]; state != nil && state["status"] == "pending-confirmation" {
				s.confirmed(state)
			}
		}
	}
}
