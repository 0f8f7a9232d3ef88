package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
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
	rpc.Command(s.sidecar, wire.CommandRead, argument, func(page answers.ReadResult, err *rpc.Error) {
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
	rpc.Command(s.sidecar, wire.CommandOutline, loop, func(outline wire.Outline, _ *rpc.Error) {
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
	switch u := wire.Decode(data).(type) {
	case nil, wire.Question, wire.Answered: // the client is asked itself
	case wire.UserChunk: // guidance, which its client has said
		if isReplay {
			s.say(map[string]any{"sessionUpdate": u.SessionUpdate, "content": u.Content})
		}
	case wire.Chunk:
		if u.ParentToolCallID == "" && (!isShort || u.SessionUpdate == wire.KindMessageChunk) {
			s.say(map[string]any{"sessionUpdate": u.SessionUpdate, "messageId": s.idOf(u.MessageID), "content": u.Content})
		}
	case wire.ToolCall:
		call := s.callOf(u)
		if call["content"] != nil {
			s.diffs[s.idOf(u.ToolCallID)] = call["content"]
		}
		s.say(call)
	case wire.ToolCallUpdate:
		if !isReplay || u.Status != wire.StatusInProgress {
			s.showOutput(u, isShort)
		}
	case wire.UsageUpdate:
		if u.Used > 0 && u.Size > 0 {
			usage := map[string]any{"sessionUpdate": u.SessionUpdate, "used": u.Used, "size": u.Size}
			if u.Cost != nil {
				usage["cost"] = u.Cost
			}
			s.say(usage)
		}
	case wire.Iteration:
		s.begins(u.Text, data)
	case wire.IterationEnd:
		s.tell(u.Said.Text, data)
	case wire.Goal:
		s.showCheck(u.Text, func(v *view) { v.check = u.Verify + u.Until })
	case wire.Verify:
		s.showCheck(u.Text, func(v *view) { v.verified = cmp.Or(verifiedAs[u.State], "pending") })
	case wire.SessionUpdate:
		s.mu.Lock()
		isNews := s.view.agent != u.Text
		s.view.agent = u.Text
		s.mu.Unlock()
		if isNews {
			s.tell(u.Text)
		}
	case wire.End:
		s.tell(u.Text, data)
		if !isReplay {
			s.plan("completed")
			s.end(string(u.Reason))
		}
	default:
		s.tell(wire.SaidIn(u).Text, data)
	}
}

// showOutput shows what a call gave, or that it is over.
func (s *session) showOutput(u wire.ToolCallUpdate, isShort bool) {
	id := s.idOf(u.ToolCallID)
	update := map[string]any{"sessionUpdate": u.SessionUpdate, "toolCallId": id, "status": u.Status}
	hasDiff := s.diffs[id] != nil
	if len(u.Content) > 0 && !isShort && !(hasDiff && u.Status == wire.StatusCompleted) { // it would take the diff's place
		update["content"] = u.Content
	}
	if u.Status != wire.StatusInProgress {
		delete(s.diffs, id)
	}
	s.say(update)
}

// callOf is a tool call as the client is told of it. Only what reads or changes files says where:
// clients show that in place of a title.
func (s *session) callOf(c wire.ToolCall) map[string]any {
	u := map[string]any{"sessionUpdate": c.SessionUpdate, "toolCallId": s.idOf(c.ToolCallID), "name": c.Name, "title": c.Title, "kind": c.Kind, "status": c.Status}
	if len(c.RawInput) > 0 {
		u["rawInput"] = c.RawInput
	}
	if slices.Contains([]wire.ToolKind{wire.ToolRead, wire.ToolEdit, wire.ToolDelete, wire.ToolMove}, c.Kind) && len(c.Locations) > 0 {
		u["locations"] = c.Locations
	}
	if diffs := diffsOf(s.folder, c.RawInput); c.Kind == wire.ToolEdit && len(diffs) > 0 {
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

// begins tells that an iteration begins, in a message of its own.
func (s *session) begins(text string, data json.RawMessage) {
	s.mu.Lock()
	s.iterations++
	s.view.iteration, s.view.verified = text, "pending"
	s.mu.Unlock()
	s.tell("── "+text+" ──", data)
	s.plan("in_progress")
}

// verifiedAs is how far a check is, as the plan says it; of any other it is pending.
var verifiedAs = map[verify.State]string{verify.Running: "in_progress", verify.Verified: "completed"}

// showCheck tells what the loop has to pass, or how far that is.
func (s *session) showCheck(text string, change func(*view)) {
	s.mu.Lock()
	before := s.view
	change(&s.view)
	hasChanged := before != s.view
	s.mu.Unlock()
	s.tell(text)
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
			s.entitle(map[string]wire.LoopStatus{l.LoopID: {Summary: wire.Summary{Text: l.Text}}})
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
		s.say(map[string]any{"sessionUpdate": "session_info_update", "_meta": Meta{About{Ended: stopReason}}})
		s.endTurn(reason)
	})
}
