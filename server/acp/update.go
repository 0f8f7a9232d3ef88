package acp

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// view is what a session's client has seen of its loop.
type view struct {
	iteration string // as it is told; "": none has begun
	check     string
	verified  string      // how far the check is, as the plan says it
	tasks     *wire.Tasks // of the plan that the loop works through
}

// Show implements chat.Face. A replay is short: no thoughts, no outputs.
func (s *session) Show(u wire.Update, _ []byte, isReplay bool) {
	switch u := u.(type) {
	case wire.UserChunk: // guidance, which its client has said
		if isReplay {
			s.say(map[string]any{"sessionUpdate": u.SessionUpdate, "content": u.Content})
		}
	case wire.Chunk:
		if u.ParentToolCallID == "" && (!isReplay || u.SessionUpdate == wire.KindMessageChunk) {
			s.say(map[string]any{"sessionUpdate": u.SessionUpdate, "messageId": s.idOf(u.MessageID), "content": u.Content})
		}
	case wire.ToolCall:
		call := s.callOf(u)
		if call["content"] != nil {
			s.setDiff(s.idOf(u.ToolCallID), call["content"])
		}
		s.say(call)
	case wire.ToolCallUpdate:
		if !isReplay || u.Status != wire.StatusInProgress {
			s.showOutput(u, isReplay)
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
		s.begins(u.Text)
	case wire.Goal:
		s.showCheck(u.Text, func(v *view) { v.check = u.Verify + u.Until })
	case wire.Verify:
		s.showCheck(u.Text, func(v *view) { v.verified = cmp.Or(verifiedAs[u.State], "pending") })
	default:
		s.Tell(wire.NoticeIn(u).Text)
	}
}

// setDiff notes what an open call changes.
func (s *session) setDiff(id string, diff any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diffs[id] = diff
}

func (s *session) diffOf(id string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.diffs[id]
}

// showOutput shows what a call gave, or that it is over.
func (s *session) showOutput(u wire.ToolCallUpdate, isShort bool) {
	id := s.idOf(u.ToolCallID)
	update := map[string]any{"sessionUpdate": u.SessionUpdate, "toolCallId": id, "status": u.Status}
	hasDiff := s.diffOf(id) != nil
	if len(u.Content) > 0 && !isShort && !(hasDiff && u.Status == wire.StatusCompleted) { // it would take the diff's place
		update["content"] = u.Content
	}
	if u.Status != wire.StatusInProgress {
		s.mu.Lock()
		delete(s.diffs, id)
		s.mu.Unlock()
	}
	s.say(update)
}

// callOf is a tool call as the client is told of it. Only what reads or changes files says where:
// clients show that in place of a title.
func (s *session) callOf(c wire.ToolCall) map[string]any {
	u := map[string]any{
		"sessionUpdate": c.SessionUpdate, "toolCallId": s.idOf(c.ToolCallID),
		"name": c.Name, "title": c.Title, "kind": c.Kind, "status": c.Status,
	}
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
func (s *session) begins(text string) {
	s.mu.Lock()
	s.iterations++
	s.view.iteration, s.view.verified = text, "pending"
	s.mu.Unlock()
	s.Tell("── " + text + " ──")
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
	s.Tell(text)
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

// Tell implements chat.Face: it says a line of the loop's own, as a message of its own.
func (s *session) Tell(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	s.mu.Lock()
	s.told++
	id := "ralph-" + strconv.Itoa(s.told)
	s.mu.Unlock()
	content := map[string]any{"type": "text", "text": "\n" + text + "\n\n"}
	s.say(map[string]any{"sessionUpdate": wire.KindMessageChunk, "messageId": id, "content": content})
}

// say sends an update of a session.
func (s *session) say(update map[string]any) {
	s.mu.Lock()
	s.heard = time.Now()
	s.mu.Unlock()
	s.agent.client.Notify("session/update", map[string]any{"sessionId": s.id, "update": update})
}

// Begun implements chat.Face.
func (s *session) Begun(string) {
	s.Tell("This turn lasts as long as the loop. To speak to it meanwhile, write here, or run `ralph-lsp steer \"...\"` in a terminal.")
	s.mu.Lock()
	beats := s.beats
	s.beats = true
	s.mu.Unlock()
	if !beats {
		go s.beat()
	}
}

// Stands implements chat.Face: how the loop stands is the session's title, where clients show what it costs.
func (s *session) Stands(now wire.LoopStatus) {
	title := strings.TrimSpace("Ralph " + now.Text)
	s.mu.Lock()
	isNew := s.title != title
	s.title = title
	s.mu.Unlock()
	if isNew {
		s.say(map[string]any{"sessionUpdate": "session_info_update", "title": title})
	}
	if now.Live && s.isNews(now.Tasks) {
		s.plan("in_progress")
	}
}

// beat lets a client hear something while a turn lasts: many give up on one that is silent.
func (s *session) beat() {
	every := cmp.Or(s.agent.Heartbeat, 25*time.Second)
	ticks := time.NewTicker(every / 5)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-s.agent.ctx.Done():
			return
		}
		s.mu.Lock()
		isSilent, title := time.Since(s.heard) >= every*4/5, s.title
		s.beats = s.loop.IsBusy()
		isOver := !s.beats
		s.mu.Unlock()
		switch {
		case isOver:
			return
		case isSilent:
			now := time.Now().UTC().Format(time.RFC3339)
			s.say(map[string]any{"sessionUpdate": "session_info_update", "title": title, "updatedAt": now})
		}
	}
}

// Ended implements chat.Face: the loop's receipt ends what is told of it.
func (s *session) Ended(now wire.LoopStatus, _ loop.StopReason) {
	s.plan("completed")
	s.Tell(chat.ReceiptText(now))
}
