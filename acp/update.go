package acp

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// view is what a session's client has seen of its loop.
type view struct {
	cursor    string // in the loop's log
	isReading bool   // what was missed
	missed    string // the place of what happened while that was read
	iteration string // as it is told; "": none has begun
	check     string
	verified  string      // how far the check is, as the plan says it
	agent     string      // who is at work
	tasks     *wire.Tasks // of the plan that the loop works through
}

// event is an update of docs/PROTOCOL.md, as far as it is shown.
type event struct {
	Kind       string          `json:"sessionUpdate"`
	MessageID  string          `json:"messageId"`
	Content    json.RawMessage `json:"content"`
	Parent     string          `json:"parentToolCallId"`
	ToolCallID string          `json:"toolCallId"`
	Name       string          `json:"name"`
	Title      string          `json:"title"`
	ToolKind   string          `json:"kind"`
	Status     string          `json:"status"`
	Locations  []wire.Location `json:"locations"`
	RawInput   json.RawMessage `json:"rawInput"`
	Used       *int64          `json:"used"`
	Size       *int64          `json:"size"`
	Cost       json.RawMessage `json:"cost"`
	Phase      string          `json:"phase"`
	Verify     string          `json:"verify"`
	Until      string          `json:"until"`
	State      string          `json:"state"`
	StopReason string          `json:"stopReason"`
	Text       string          `json:"text"` // what the user is told
}

// update takes what has happened to a loop. What doesn't follow what was seen is read instead.
func (a *Agent) update(params json.RawMessage) {
	var p wire.UpdateParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	a.mu.Lock()
	s := a.loops[p.LoopID]
	follows := s != nil && !s.view.isReading && p.After != "" && p.After == s.view.cursor
	switch {
	case follows:
		s.view.cursor = p.Cursor
	case s != nil && s.view.isReading:
		s.view.missed = p.Cursor
	}
	a.mu.Unlock()
	switch {
	case s == nil: // nobody's here, or its start isn't answered yet
	case follows:
		for _, u := range p.Updates {
			s.show(u, false)
		}
	default:
		s.catchUp()
	}
}

// catchUp shows what a session has missed of its loop's log.
func (s *session) catchUp() {
	s.mu.Lock()
	wasReading := s.view.isReading
	s.view.isReading = true
	s.mu.Unlock()
	if !wasReading {
		s.readOn(false, func() {})
	}
}

// readOn reads the log up to its present end, and then calls done.
func (s *session) readOn(isReplay bool, done func()) {
	s.mu.Lock()
	argument := wire.ReadParams{LoopParams: wire.LoopParams{LoopID: s.loopID}, After: s.view.cursor}
	s.mu.Unlock()
	type answer struct {
		Updates []json.RawMessage
		Cursor  string
		More    bool
	}
	rpc.Command(s.sidecar, wire.CommandRead, argument, func(page answer, err *rpc.Error) {
		s.mu.Lock()
		if page.Cursor != "" {
			s.view.cursor = page.Cursor
		}
		isLast := err != nil || !page.More && (s.view.missed == "" || s.view.missed == page.Cursor)
		s.view.isReading, s.view.missed = !isLast, ""
		s.mu.Unlock()
		for _, u := range page.Updates {
			s.show(u, isReplay)
		}
		if !isLast {
			s.readOn(isReplay, done)
			return
		}
		done()
	})
}

// toEnd puts a session's place behind all that its loop has done so far, unless it has one.
func (s *session) toEnd(loop wire.LoopParams, done func()) {
	s.mu.Lock()
	isThere := s.view.cursor != ""
	s.mu.Unlock()
	if isThere {
		done()
		return
	}
	rpc.Command(s.sidecar, wire.CommandOutline, loop, func(outline struct{ Cursor string }, _ *rpc.Error) {
		s.mu.Lock()
		s.view.cursor = outline.Cursor
		s.mu.Unlock()
		done()
	})
}

// show shows an update. In a replay it is short: no thoughts, no outputs, and nothing ends. What is told
// of the loop itself comes with the update.
func (s *session) show(data json.RawMessage, isReplay bool) {
	isShort := isReplay && !s.Native
	var e event
	if json.Unmarshal(data, &e) != nil {
		return
	}
	switch e.Kind {
	case "user_message_chunk": // guidance, which its client has said
		if isReplay {
			s.say(map[string]any{"sessionUpdate": e.Kind, "content": e.Content})
		}
	case "agent_message_chunk", "agent_thought_chunk":
		if e.Parent == "" && (!isShort || e.Kind == "agent_message_chunk") {
			s.say(map[string]any{"sessionUpdate": e.Kind, "messageId": s.idOf(e.MessageID), "content": e.Content})
		}
	case "tool_call":
		call := s.callOf(e)
		if call["content"] != nil {
			s.diffs[s.idOf(e.ToolCallID)] = call["content"]
		}
		s.say(call)
	case "tool_call_update":
		if isReplay && e.Status == "in_progress" {
			return
		}
		u := map[string]any{"sessionUpdate": e.Kind, "toolCallId": s.idOf(e.ToolCallID)}
		if e.Status != "" {
			u["status"] = e.Status
		}
		hasDiff := s.diffs[s.idOf(e.ToolCallID)] != nil
		if len(e.Content) > 0 && !isShort && !(hasDiff && e.Status == "completed") { // it would take the diff's place
			u["content"] = e.Content
		}
		if e.Status != "in_progress" {
			delete(s.diffs, s.idOf(e.ToolCallID))
		}
		s.say(u)
	case "usage_update":
		if e.Used != nil && e.Size != nil {
			u := map[string]any{"sessionUpdate": e.Kind, "used": *e.Used, "size": *e.Size}
			if len(e.Cost) > 0 {
				u["cost"] = e.Cost
			}
			s.say(u)
		}
	case "_ralph/iteration":
		s.showIteration(e, data)
	case "_ralph/goal", "_ralph/verify":
		s.showCheck(e)
	case "_ralph/question", "_ralph/answer": // the client is asked itself
	case "_ralph/session":
		s.mu.Lock()
		isNews := s.view.agent != e.Text
		s.view.agent = e.Text
		s.mu.Unlock()
		if isNews {
			s.tell(e.Text)
		}
	case "_ralph/end":
		s.tell(e.Text, data)
		if !isReplay {
			s.plan("completed")
			s.end(e.StopReason)
		}
	default:
		s.tell(e.Text, data)
	}
}

// callOf is a tool call as the client is told of it. Only what reads or changes files says where:
// clients show that in place of a title.
func (s *session) callOf(e event) map[string]any {
	u := map[string]any{"sessionUpdate": "tool_call", "toolCallId": s.idOf(e.ToolCallID), "name": e.Name, "title": e.Title, "kind": e.ToolKind, "status": e.Status}
	if len(e.RawInput) > 0 {
		u["rawInput"] = e.RawInput
	}
	if slices.Contains([]string{"read", "edit", "delete", "move"}, e.ToolKind) && len(e.Locations) > 0 {
		u["locations"] = e.Locations
	}
	if diffs := diffsOf(s.folder, e.RawInput); e.ToolKind == "edit" && len(diffs) > 0 {
		u["content"] = diffs
	}
	return u
}

// diffsOf are the changes that an edit's input has, by the names that agents have for them.
func diffsOf(folder string, input json.RawMessage) (diffs []any) {
	type change struct {
		Old   string  `json:"old_string"`
		New   *string `json:"new_string"`
		OldPi string  `json:"oldText"`
		NewPi *string `json:"newText"`
	}
	var edit struct {
		change
		FilePath string   `json:"file_path"`
		Path     string   `json:"path"`
		Content  *string  `json:"content"`
		Edits    []change `json:"edits"`
	}
	if json.Unmarshal(input, &edit) != nil || edit.FilePath+edit.Path == "" {
		return nil
	}
	path := edit.FilePath
	if path == "" {
		path = edit.Path
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	for _, c := range append([]change{edit.change}, edit.Edits...) {
		switch {
		case c.New != nil:
			diffs = append(diffs, map[string]any{"type": "diff", "path": path, "oldText": c.Old, "newText": *c.New})
		case c.NewPi != nil:
			diffs = append(diffs, map[string]any{"type": "diff", "path": path, "oldText": c.OldPi, "newText": *c.NewPi})
		}
	}
	if edit.Content != nil && len(diffs) == 0 {
		diffs = append(diffs, map[string]any{"type": "diff", "path": path, "newText": *edit.Content})
	}
	return diffs
}

// showIteration tells the begin and the end of one in messages of their own.
func (s *session) showIteration(e event, data json.RawMessage) {
	if e.Phase != "begin" {
		s.tell(e.Text, data)
		return
	}
	s.mu.Lock()
	s.iterations++
	s.view.iteration, s.view.verified = e.Text, "pending"
	s.mu.Unlock()
	s.tell("── "+e.Text+" ──", data)
	s.plan("in_progress")
}

// showCheck tells what the loop has to pass, and how far that is.
func (s *session) showCheck(e event) {
	s.mu.Lock()
	before := s.view
	switch {
	case e.Kind == "_ralph/goal":
		s.view.check = e.Verify + e.Until
	case e.State == "running":
		s.view.verified = "in_progress"
	case e.State == "verified":
		s.view.verified = "completed"
	default:
		s.view.verified = "pending"
	}
	hasChanged := before != s.view
	s.mu.Unlock()
	s.tell(e.Text)
	if hasChanged {
		s.plan("in_progress")
	}
}

// idOf tells the messages and calls of an iteration from those of others, as many agents count anew.
// An iteration may come again, and another loop counts from 1.
func (s *session) idOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.iterations) + "." + id
}

// tell says a line of the loop's own, as a message of its own, with the update that it
// comes from.
func (s *session) tell(text string, of ...json.RawMessage) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	s.mu.Lock()
	s.told++
	id := "ralph-" + strconv.Itoa(s.told)
	s.mu.Unlock()
	u := map[string]any{"sessionUpdate": "agent_message_chunk", "messageId": id, "content": map[string]any{"type": "text", "text": "\n" + text + "\n\n"}}
	if len(of) > 0 {
		u["_meta"] = map[string]any{"ralph": of[0]}
	}
	s.say(u)
}

// say sends an update of a session.
func (s *session) say(update map[string]any) {
	s.mu.Lock()
	s.heard = time.Now()
	s.mu.Unlock()
	s.client.Notify("session/update", map[string]any{"sessionId": s.id, "update": update})
}

// message is what editors show in a window of their own: it concerns no loop in particular.
func (a *Agent) message(params json.RawMessage) {
	var p struct{ Message string }
	if json.Unmarshal(params, &p) != nil {
		return
	}
	a.mu.Lock()
	var turns []*session
	for _, s := range a.sessions {
		if s.turn != nil {
			turns = append(turns, s)
		}
	}
	a.mu.Unlock()
	for _, s := range turns {
		s.tell(p.Message)
	}
}

// status takes how the loops stand. A loop whose start isn't answered yet has no session that could show it.
func (a *Agent) status(params json.RawMessage) {
	var p wire.StatusParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	all := map[string]wire.LoopStatus{}
	for _, l := range p.Loops {
		all[l.LoopID] = l
	}
	a.mu.Lock()
	a.standing = all
	sessions := slices.Collect(maps.Values(a.loops))
	a.mu.Unlock()
	for _, s := range sessions {
		s.entitle(all)
	}
}

// entitle shows how a session's loop stands as its title, where clients show what it costs.
func (s *session) entitle(all map[string]wire.LoopStatus) {
	s.mu.Lock()
	now, isKnown := all[s.loopID]
	title := strings.TrimSpace("Ralph " + now.Text)
	isNew := isKnown && s.title != title
	if isNew {
		s.title = title
	}
	s.mu.Unlock()
	if isNew {
		s.say(map[string]any{"sessionUpdate": "session_info_update", "title": title})
	}
	if isKnown && s.isNews(now.Tasks) {
		s.plan("in_progress")
	}
}

// beat lets a client hear something while a turn lasts: many give up on one that is silent.
func (s *session) beat(turn string) {
	every := s.Heartbeat
	if every == 0 {
		every = 25 * time.Second
	}
	for range time.Tick(every / 5) {
		s.mu.Lock()
		isOver, isSilent, title := string(s.turn) != turn, time.Since(s.heard) >= every*4/5, s.title
		s.mu.Unlock()
		switch {
		case isOver:
			return
		case isSilent:
			s.say(map[string]any{"sessionUpdate": "session_info_update", "title": title, "updatedAt": time.Now().UTC().Format(time.RFC3339)})
		}
	}
}

// turnReasons are ACP's for those for which loops end; any other ends a turn as usual, and the last
// text says why.
var turnReasons = map[string]string{
	"max_iterations": "max_turn_requests", "max_cost": "max_turn_requests", "max_time": "max_turn_requests",
	"cancelled": "cancelled", "state_removed": "cancelled", "interrupted": "cancelled",
}

// end ends a loop's turn with its receipt.
func (s *session) end(stopReason string) {
	reason := turnReasons[stopReason]
	if reason == "" {
		reason = "end_turn"
	}
	rpc.Command(s.sidecar, wire.CommandStatus, wire.FolderParams{Folder: wire.FileURI(s.folder)}, func(p wire.StatusResult, _ *rpc.Error) {
		for _, l := range p.Loops {
			if l.LoopID != s.loopID {
				continue
			}
			s.entitle(map[string]wire.LoopStatus{l.LoopID: {Text: l.Text}})
			if l.Last == nil {
				continue
			}
			var receipt strings.Builder
			for _, row := range l.Last.Rows {
				fmt.Fprintf(&receipt, "- %s: %s\n", row.Label, row.Text)
			}
			for _, c := range l.Last.Commands {
				fmt.Fprintf(&receipt, "- `%s`: %s\n", c.Line, c.Text)
			}
			s.tell(receipt.String())
		}
		s.say(map[string]any{"sessionUpdate": "session_info_update", "_meta": map[string]any{"ralph": map[string]any{"ended": stopReason}}})
		s.endTurn(reason)
	})
}
