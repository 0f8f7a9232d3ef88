package ahp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/acp"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// told is what the agent tells and asks, as far as it is read.
type told struct {
	SessionID string
	RequestID json.RawMessage
	Update    update
	ToolCall  update
	Options   []struct{ OptionID, Name, Kind string }
}

type option struct {
	ID      string
	Options []struct{ Value, Name string }
}

type update struct {
	Kind          string `json:"sessionUpdate"`
	MessageID     string
	Content       json.RawMessage
	ToolCallID    string
	Name          string
	Title         *string
	ToolKind      string `json:"kind"`
	Status        string
	RawInput      json.RawMessage
	ConfigOptions []option
	Meta          struct{ Ralph json.RawMessage } `json:"_meta"` // of a session_info_update an acp.About, else the update of ralph's that is told
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

// question is what the agent asks about a call.
type question struct {
	id      json.RawMessage
	title   string
	options []object
}

// keepTurn makes the turn under way one that is over.
func (s *session) keepTurn(state string, failure object) {
	t := s.turn
	for _, c := range t.calls {
		if status := c["status"]; status == "running" || status == "pending-confirmation" {
			s.settle(c, false)
			c["reason"] = "skipped"
		}
	}
	kept := t.state()
	kept["state"], kept["duration"] = state, time.Since(t.began).Milliseconds()
	if s.reading != nil { // when it was isn't known
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
func (s *session) endTurn(state string, failure object) {
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

// update makes the session's turns of what the agent tells.
func (s *session) update(u update) {
	of := wire.Decode(u.Meta.Ralph)
	begun, _ := of.(wire.Iteration)
	switch {
	case u.Kind == "config_option_update":
		if ready := s.isReady; ready != nil {
			s.isReady = nil
			ready()
		}
	case u.Kind == "session_info_update":
		var about acp.About
		_ = json.Unmarshal(u.Meta.Ralph, &about) // not each has one
		if about.LoopID != "" {
			s.loopID = about.LoopID
		}
		if u.Title != nil && *u.Title != "" && *u.Title != s.title {
			s.title = *u.Title
			s.act(s.resource, object{"type": "session/titleChanged", "title": s.title})
			s.changed()
		}
		if about.Ended != "" {
			s.isOver()
		}
	case u.Kind == "user_message_chunk" && s.turn == nil: // the loop's prompt, in what is read
		s.begin(messageOf("user", textOf(u.Content)), nil)
	case u.Kind == "user_message_chunk":
		s.say("markdown", "", "> "+strings.ReplaceAll(strings.TrimSpace(textOf(u.Content)), "\n", "\n> ")+"\n\n")
	case begun.Phase == wire.PhaseBegin:
		s.iterate(begun.Iteration, textOf(u.Content))
	case u.Kind == "agent_message_chunk":
		if g, _ := of.(wire.Guidance); g.State == loop.GuidanceDelivered && s.steering != nil {
			s.isHeard(s.steering)
		}
		s.say("markdown", u.MessageID, textOf(u.Content))
	case u.Kind == "agent_thought_chunk":
		s.say("reasoning", "thought-"+u.MessageID, textOf(u.Content))
	case u.Kind == "tool_call", u.Kind == "tool_call_update":
		s.showCall(u)
	}
}

// iterate begins the turn of an iteration: finished steps of one turn collapse into a line. The first
// is that of its user's message.
func (s *session) iterate(iteration int, heading string) {
	heading = strings.Trim(heading, "─ \n")
	if s.turn == nil || s.turn.hasIteration {
		s.endTurn("complete", nil)
		s.refreshAll()
		if len(s.queued) > 0 {
			s.begin(s.queued[0].Message, s.queued[0])
		} else {
			s.begin(messageOf("systemNotification", heading), nil)
		}
	}
	s.worked[s.turn.id] = work{s.loopID, iteration}
	if s.turn.hasIteration = true; s.turn.message.read().Text != heading {
		s.say("markdown", "", "**"+heading+"**\n\n")
	}
}

// ensure has a turn be there for what is told.
func (s *session) ensure() *turn {
	if s.turn == nil {
		s.begin(messageOf("systemNotification", "Ralph"), nil)
	}
	return s.turn
}

// say adds text to the turn, to its last part where that is of the same message.
func (s *session) say(kind, id, text string) {
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

// textOf is the text of a block of content, or of several.
func textOf(content json.RawMessage) string {
	type block struct {
		Type, Text string
		Content    json.RawMessage
	}
	var one block
	var many []block
	if json.Unmarshal(content, &one) == nil {
		many = []block{one}
	} else {
		_ = json.Unmarshal(content, &many)
	}
	var text strings.Builder
	for _, b := range many {
		switch {
		case b.Type == "text":
			text.WriteString(b.Text)
		case b.Content != nil:
			text.WriteString(textOf(b.Content))
		}
	}
	return text.String()
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

// showCall shows how a call stands.
func (s *session) showCall(u update) {
	c := s.callOf(u)
	isOver := u.Status == "completed" || u.Status == "failed"
	t := s.ensure()
	state := t.calls[c.id]
	if state == nil {
		if isOver && u.Kind == "tool_call_update" && c.name == "" {
			return // a question that was taken back
		}
		state = s.put(c)
	} else if u.Kind == "tool_call" && !isOver { // it was asked about before
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
	result := object{"success": u.Status == "completed", "pastTenseMessage": c.words(1)}
	if text := textOf(u.Content); text != "" {
		result["content"] = []any{object{"type": "text", "text": text}}
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

// callOf is the call that an update is about.
func (s *session) callOf(u update) *call {
	c := s.calls[u.ToolCallID]
	if c == nil {
		c = &call{id: u.ToolCallID}
		s.calls[c.id] = c
	}
	if u.Name != "" {
		c.name = u.Name
	}
	if u.ToolKind != "" {
		c.kind = u.ToolKind
	}
	if u.Title != nil && (c.title == "" || u.Kind == "tool_call") { // what was asked about it is no name for it
		c.title = *u.Title
	}
	if len(u.RawInput) > 0 {
		c.input = inputOf(u.RawInput)
	}
	return c
}

// inputOf is a tool's input as a person reads it: a command, else all of it.
func inputOf(data json.RawMessage) string {
	var input struct{ Command string }
	if _ = json.Unmarshal(data, &input); input.Command != "" {
		return input.Command
	}
	return string(data)
}

// put puts a call into the turn, with what is asked about it.
func (s *session) put(c *call) object {
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

// ask puts what the agent asks to the user.
func (s *session) ask(id json.RawMessage, p told) {
	u := p.ToolCall
	title := ""
	if u.Title != nil {
		title = *u.Title
	}
	c := s.callOf(update{ToolCallID: u.ToolCallID, Name: u.Name, ToolKind: u.ToolKind, RawInput: u.RawInput})
	if c.title == "" { // nobody has told of it yet, or it is nothing but a question
		c.title = strings.TrimPrefix(title, c.name+" ")
		if text := textOf(u.Content); text != "" {
			c.input = text
		}
	}
	c.ask = &question{id: id, title: title}
	for _, o := range p.Options {
		kind := "deny"
		if strings.HasPrefix(o.Kind, "allow_") {
			kind = "approve"
		}
		c.ask.options = append(c.ask.options, object{"id": o.OptionID, "label": o.Name, "kind": kind})
	}
	s.put(c)
}

// confirm answers what was asked about a call of the turn under way. One of a turn that was cancelled
// comes behind the cancel, and says that it is approved: it counts for nothing.
func (s *session) confirm(a action) (rejection string, after func()) {
	c := s.calls[a.ToolCallID]
	if s.turn == nil || s.turn.id != a.TurnID || c == nil || c.ask == nil || s.turn.calls[c.id] == nil {
		return "nothing is asked there any more", func() {}
	}
	kind := "deny"
	if a.Approved {
		kind = "approve"
	}
	chosen := ""
	for _, o := range c.ask.options { // without one of ours it is the first of its kind: only this once
		if o["kind"] == kind && (chosen == "" && a.SelectedOptionID == "" || a.SelectedOptionID == o["id"]) {
			chosen = o["id"].(string)
		}
	}
	id := c.ask.id
	c.ask = nil
	outcome := object{"outcome": "cancelled"}
	if chosen != "" {
		outcome = object{"outcome": "selected", "optionId": chosen}
	}
	s.settle(s.turn.calls[c.id], a.Approved && chosen != "")
	return "", func() {
		s.agent.Reply(id, object{"outcome": outcome}, nil)
		s.changed()
	}
}

// settle notes how a question was answered.
func (s *session) settle(state object, approved bool) {
	delete(state, "options")
	delete(state, "confirmationTitle")
	if state["status"], state["confirmed"] = "running", "user-action"; !approved {
		delete(state, "confirmed")
		state["status"], state["reason"] = "cancelled", "denied"
	}
}

// confirmed shows that a question was answered elsewhere. What became of its call is told of that.
func (s *session) confirmed(state object) {
	s.settle(state, true)
	s.show(object{"type": "chat/toolCallConfirmed", "turnId": s.turn.id, "toolCallId": state["toolCallId"], "approved": true, "confirmed": "user-action"})
}

// withdraw takes a question back that needs no answer any more.
func (s *session) withdraw(request string) {
	for _, c := range s.calls {
		if c.ask == nil || string(c.ask.id) != request {
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
