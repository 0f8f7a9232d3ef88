package acp

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// answer is what a question is answered with.
type answer = wire.PermissionResult

// ask hands a loop's question to the client. The words and their order are the sidecar's: no comes
// first. What the client can't ask stays open: it can be answered in a terminal.
func (a *Agent) ask(id, params json.RawMessage) {
	var q wire.Question
	_ = json.Unmarshal(params, &q)
	a.mu.Lock()
	s := a.loops[q.LoopID]
	hasForms := a.hasForms
	a.mu.Unlock()
	if s == nil {
		a.sidecar.Reply(id, nil, nil)
		return
	}
	if hasForms && (q.Kind == "input" || q.Kind == "select") {
		s.put(id, "elicitation/create", s.formOf(q), filledIn)
		return
	}
	kinds := map[string]string{"deny": "reject_once", "once": "allow_once", "loop": "allow_always", "value": "allow_once"}
	var answers []answer
	options := []any{}
	for _, o := range q.Offers {
		var said answer
		if len(o.Arguments) == 0 || json.Unmarshal(rpc.Raw(o.Arguments[0]), &said) != nil || kinds[said.Answer] == "" {
			continue
		}
		options = append(options, map[string]any{"optionId": strconv.Itoa(len(answers)), "name": o.Title, "kind": kinds[said.Answer]})
		answers = append(answers, said)
	}
	if len(options) < 2 {
		s.tell(q.Title + "\n\nAnswer it in a terminal: `ralph-lsp answer`")
		a.sidecar.Reply(id, nil, nil)
		return
	}
	call := map[string]any{"toolCallId": "question-" + q.ID, "kind": "other"}
	if q.CallID != "" { // its kind is known, or will be
		call = map[string]any{"toolCallId": s.idOf(q.CallID)}
		if q.Tool != "" { // it may be asked about before it is told of
			call["name"] = q.Tool
		}
		if diff := s.diffs[s.idOf(q.CallID)]; diff != nil {
			call["content"] = diff
		}
	}
	s.put(id, "session/request_permission", s.optionsOf(call, q.Title, q.Detail, options), func(result json.RawMessage) answer {
		if q.CallID == "" {
			s.close(call)
		}
		if i, ok := chosen(result); ok && i < len(answers) {
			return answers[i]
		}
		return answer{Answer: "deny"}
	})
}

// put asks the client what the sidecar asks with a request. A client that can't ask leaves it open.
func (s *session) put(id json.RawMessage, method string, params any, read func(json.RawMessage) answer) {
	key := string(id)
	asking := s.client.Request(method, params, func(result json.RawMessage, err *rpc.Error) {
		s.mu.Lock()
		delete(s.asked, key)
		s.mu.Unlock()
		if err != nil {
			s.sidecar.Reply(id, nil, nil)
			return
		}
		s.sidecar.Reply(id, read(result), nil)
	})
	s.mu.Lock()
	s.asked[key] = asking
	s.mu.Unlock()
}

// optionsOf is a question about a call, with a button for each of its options.
func (s *session) optionsOf(call map[string]any, title, detail string, options []any) any {
	call["title"], call["status"] = title, "pending"
	if call["content"] == nil && detail != "" {
		call["content"] = []any{map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": detail}}}
	}
	return map[string]any{"sessionId": s.id, "toolCall": call, "options": options}
}

// close ends a call that is nothing but a question.
func (s *session) close(call map[string]any) {
	s.say(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], "title": call["title"], "status": "completed"})
}

// formOf is a question for a text, or for one of several, as a form.
func (s *session) formOf(q wire.Question) any {
	field := map[string]any{"type": "string", "title": q.Title}
	if q.Placeholder != "" {
		field["description"] = q.Placeholder
	}
	if len(q.Options) > 0 {
		field["enum"] = q.Options
	}
	form := map[string]any{"sessionId": s.id, "mode": "form", "message": strings.TrimSpace(q.Title + "\n\n" + q.Detail),
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"answer": field}, "required": []string{"answer"}}}
	if q.CallID != "" {
		form["toolCallId"] = s.idOf(q.CallID)
	}
	return form
}

// filledIn reads a form. One that was put away is a no.
func filledIn(result json.RawMessage) answer {
	var p struct {
		Action  string
		Content struct{ Answer string }
	}
	if json.Unmarshal(result, &p) != nil || p.Action != "accept" {
		return answer{Answer: "deny"}
	}
	return answer{Answer: "value", Text: p.Content.Answer}
}

// chosen is the option that a client's user took; ok is false for none.
func chosen(result json.RawMessage) (i int, ok bool) {
	var p struct {
		Outcome struct{ Outcome, OptionID string }
	}
	if json.Unmarshal(result, &p) != nil || p.Outcome.Outcome != "selected" {
		return 0, false
	}
	i, err := strconv.Atoi(p.Outcome.OptionID)
	return i, err == nil && i >= 0
}

// withdraw takes a question back that somebody else has answered, or that needs no answer any more.
func (a *Agent) withdraw(params json.RawMessage) {
	var p struct{ ID json.RawMessage }
	_ = json.Unmarshal(params, &p)
	a.mu.Lock()
	q, ok := a.asked[string(p.ID)]
	delete(a.asked, string(p.ID))
	a.mu.Unlock()
	if ok && a.client.Forget(q) {
		a.client.Notify("$/cancel_request", map[string]any{"requestId": q})
		a.sidecar.Reply(p.ID, nil, rpc.Errorf(-32800, "cancelled"))
	}
}

// refused says why a loop didn't start. Where something else can be done the client's user is
// asked, and nothing is the first answer. Only the safest is offered: some clients show yes and no in
// place of what options say.
func (s *session) refused(err *rpc.Error) {
	var data struct {
		Reason, Question string
		Offers           []wire.Command
	}
	_ = json.Unmarshal(err.Data, &data)
	if len(data.Offers) == 0 || len(data.Offers[0].Arguments) == 0 || !strings.HasPrefix(data.Offers[0].Command, "ralph.loop.") { // no loop comes of the others
		s.fail(err, data.Reason)
		return
	}
	instead := data.Offers[0]
	options := []any{
		map[string]any{"optionId": "0", "name": "Leave it", "kind": "reject_once"},
		map[string]any{"optionId": "1", "name": instead.Title, "kind": "allow_once"},
	}
	s.mu.Lock()
	call := map[string]any{"toolCallId": "start-" + string(s.turn), "kind": "other"}
	s.mu.Unlock()
	title := cmp.Or(data.Question, err.Message+": "+instead.Title+"?")
	s.client.Request("session/request_permission", s.optionsOf(call, title, err.Message, options), func(result json.RawMessage, no *rpc.Error) {
		s.close(call)
		if i, ok := chosen(result); no == nil && ok && i == 1 {
			s.start(instead.Command, instead.Arguments[0])
			return
		}
		s.fail(err, data.Reason)
	})
}

// fail answers the prompt of a loop that didn't begin with why, unless its client has stopped it.
func (s *session) fail(err *rpc.Error, reason string) {
	s.mu.Lock()
	id, isCancelled := s.turn, s.cancelled
	s.turn = nil
	s.mu.Unlock()
	if s.sayEarly(err); isCancelled {
		s.client.Reply(id, map[string]any{"stopReason": "cancelled"}, nil)
		return
	}
	code := rpc.CodeInternal
	switch {
	case err.Code == rpc.CodeParams:
		code = rpc.CodeParams
	case reason == "backend_not_found":
		code = rpc.CodeAuth
	}
	s.client.Reply(id, nil, rpc.Errorf(code, "%s", err.Message))
}
