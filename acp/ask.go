package acp

import (
	"encoding/json"
	"strconv"
)

// offer is a command that can be offered: LSP's.
type offer struct {
	Title     string            `json:"title"`
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// asked is a question of the sidecar's that the client has.
type asked struct{ client json.RawMessage }

// ask hands a loop's question to the client. The words and their order are the sidecar's: no comes
// first. What the client can't ask stays open: it can be answered in a terminal.
func (a *Agent) ask(id, params json.RawMessage) {
	var q struct {
		LoopID     string  `json:"loopId"`
		ID         string  `json:"id"`
		Kind       string  `json:"kind"`
		ToolCallID string  `json:"toolCallId"`
		Title      string  `json:"title"`
		Detail     string  `json:"detail"`
		Offers     []offer `json:"offers"`
	}
	_ = json.Unmarshal(params, &q)
	a.mu.Lock()
	s := a.loops[q.LoopID]
	a.mu.Unlock()
	if s == nil {
		a.sidecar.reply(id, nil, nil)
		return
	}
	type answer struct {
		Answer string `json:"answer"`
		Text   string `json:"text,omitempty"`
	}
	kinds := map[string]string{"deny": "reject_once", "once": "allow_once", "loop": "allow_always", "value": "allow_once"}
	var answers []answer
	options := []any{}
	for _, o := range q.Offers {
		var said answer
		if len(o.Arguments) == 0 || json.Unmarshal(o.Arguments[0], &said) != nil || kinds[said.Answer] == "" {
			continue
		}
		options = append(options, map[string]any{"optionId": strconv.Itoa(len(answers)), "name": o.Title, "kind": kinds[said.Answer]})
		answers = append(answers, said)
	}
	if len(options) < 2 {
		s.tell(q.Title + "\n\nAnswer it in a terminal: `ralph-lsp answer`")
		a.sidecar.reply(id, nil, nil)
		return
	}
	call := "question-" + q.ID
	if q.ToolCallID != "" {
		call = s.idOf(q.ToolCallID)
	}
	toolCall := map[string]any{"toolCallId": call, "title": q.Title, "status": "pending", "kind": "other"}
	if q.Detail != "" {
		toolCall["content"] = []any{map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": q.Detail}}}
	}
	key := string(id)
	asking := a.client.request("session/request_permission", map[string]any{"sessionId": s.id, "toolCall": toolCall, "options": options}, func(result json.RawMessage, err *rpcError) {
		a.mu.Lock()
		delete(a.asked, key)
		a.mu.Unlock()
		if err != nil { // it can't ask
			a.sidecar.reply(id, nil, nil)
			return
		}
		said := answer{Answer: "deny"}
		if i, ok := chosen(result); ok && i < len(answers) {
			said = answers[i]
		}
		a.sidecar.reply(id, said, nil)
	})
	a.mu.Lock()
	a.asked[key] = asked{asking}
	a.mu.Unlock()
}

// chosen is the option that a client's user took; ok is false for none.
func chosen(result json.RawMessage) (i int, ok bool) {
	var p struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	if json.Unmarshal(result, &p) != nil || p.Outcome.Outcome != "selected" {
		return 0, false
	}
	i, err := strconv.Atoi(p.Outcome.OptionID)
	return i, err == nil && i >= 0
}

// withdraw takes a question back that somebody else has answered, or that needs no answer any more.
func (a *Agent) withdraw(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(params, &p)
	a.mu.Lock()
	q, ok := a.asked[string(p.ID)]
	delete(a.asked, string(p.ID))
	a.mu.Unlock()
	if ok && a.client.forget(q.client) {
		a.client.notify("$/cancel_request", map[string]any{"requestId": q.client})
		a.sidecar.reply(p.ID, nil, errorf(-32800, "cancelled"))
	}
}

// refused says why a loop didn't start. Where something else can be done the client's user is
// asked, and nothing is the first answer.
func (s *session) refused(err *rpcError) {
	var data struct {
		Reason   string  `json:"reason"`
		Question string  `json:"question"`
		Offers   []offer `json:"offers"`
	}
	_ = json.Unmarshal(err.Data, &data)
	if len(data.Offers) == 0 {
		s.fail(err, data.Reason)
		return
	}
	options := []any{map[string]any{"optionId": "no", "name": "Leave it", "kind": "reject_once"}}
	for i, o := range data.Offers {
		options = append(options, map[string]any{"optionId": strconv.Itoa(i), "name": o.Title, "kind": "allow_once"})
	}
	s.mu.Lock()
	call := "start-" + string(s.turn)
	s.mu.Unlock()
	title := data.Question
	if title == "" {
		title = err.Message
	}
	s.client.request("session/request_permission", map[string]any{"sessionId": s.id, "options": options,
		"toolCall": map[string]any{"toolCallId": call, "title": title, "status": "pending", "kind": "other", "content": []any{
			map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": err.Message}},
		}}},
		func(result json.RawMessage, no *rpcError) {
			i, ok := chosen(result)
			if no != nil || !ok || i >= len(data.Offers) || len(data.Offers[i].Arguments) == 0 {
				s.fail(err, data.Reason)
				return
			}
			s.start(data.Offers[i].Command, data.Offers[i].Arguments[0])
		})
}

// fail answers the prompt of a loop that didn't begin with why.
func (s *session) fail(err *rpcError, reason string) {
	s.mu.Lock()
	id := s.turn
	s.turn = nil
	s.mu.Unlock()
	code := codeInternal
	switch {
	case err.Code == codeParams:
		code = codeParams
	case reason == "backend_not_found":
		code = codeAuth
	}
	s.client.reply(id, nil, errorf(code, "%s", err.Message))
}
