package acp

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// kinds are those of the protocol's options, by what an option answers.
var kinds = map[string]string{ask.Deny: "reject_once", ask.Once: "allow_once", ask.ForLoop: "allow_always", ask.Value: "allow_once"}

// Ask implements chat.Face. No comes first. What the client can't ask stays open: it can be answered in a terminal.
func (s *session) Ask(q wire.Question) {
	s.agent.mu.Lock()
	hasForms := s.agent.hasForms
	s.agent.mu.Unlock()
	if hasForms && (q.Kind == ask.Input || q.Kind == ask.Select) {
		s.put(q.ID, "elicitation/create", s.formOf(q), filledIn)
		return
	}
	answers := chat.AnswersTo(q)
	if len(answers) < 2 {
		s.Tell(q.Title + "\n\nAnswer it in a terminal: `ralph-lsp answer`")
		return
	}
	options := []any{}
	for i, a := range answers {
		options = append(options, map[string]any{"optionId": strconv.Itoa(i), "name": a.Title, "kind": kinds[a.Kind]})
	}
	call := map[string]any{"toolCallId": "question-" + q.ID, "kind": "other"}
	if q.CallID != "" { // its kind is known, or will be
		call = map[string]any{"toolCallId": s.idOf(q.CallID)}
		if q.Tool != "" { // it may be asked about before it is told of
			call["name"] = q.Tool
		}
		if diff := s.diffOf(s.idOf(q.CallID)); diff != nil {
			call["content"] = diff
		}
	}
	s.put(q.ID, "session/request_permission", s.optionsOf(call, q.Title, q.Detail, options), func(result json.RawMessage) ask.Answer {
		if q.CallID == "" {
			s.close(call)
		}
		if i, ok := chosen(result); ok && i < len(answers) {
			return answers[i].Answer
		}
		return ask.Answer{Kind: ask.Deny}
	})
}

// put asks the client a question of the loop's. A client that can't ask leaves it open, and so does one that has closed the
// session: it knows of nothing that is asked there, and says that it is cancelled.
func (s *session) put(questionID, method string, params any, read func(json.RawMessage) ask.Answer) {
	request := s.agent.client.Request(method, params, func(result json.RawMessage, err *rpc.Error) {
		s.mu.Lock()
		delete(s.asked, questionID)
		s.mu.Unlock()
		s.agent.mu.Lock()
		isOpen := s.agent.sessions[s.id] == s
		s.agent.mu.Unlock()
		if err == nil && isOpen {
			s.loop.Answer(questionID, read(result))
		}
	})
	s.mu.Lock()
	s.asked[questionID] = request
	s.mu.Unlock()
}

// Withdraw implements chat.Face.
func (s *session) Withdraw(questionID string) {
	s.mu.Lock()
	request, ok := s.asked[questionID]
	delete(s.asked, questionID)
	s.mu.Unlock()
	if ok && s.agent.client.Forget(request) {
		s.agent.client.Notify("$/cancel_request", map[string]any{"requestId": request})
	}
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
	s.say(map[string]any{
		"sessionUpdate": wire.KindToolCallUpdate, "toolCallId": call["toolCallId"], "title": call["title"], "status": wire.StatusCompleted,
	})
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
	form := map[string]any{
		"sessionId": s.id, "mode": "form", "message": strings.TrimSpace(q.Title + "\n\n" + q.Detail),
		"requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"answer": field}, "required": []string{"answer"}},
	}
	if q.CallID != "" {
		form["toolCallId"] = s.idOf(q.CallID)
	}
	return form
}

// filledIn reads a form. One that was put away is a no.
func filledIn(result json.RawMessage) ask.Answer {
	var p struct {
		Action  string
		Content struct{ Answer string }
	}
	if json.Unmarshal(result, &p) != nil || p.Action != "accept" {
		return ask.Answer{Kind: ask.Deny}
	}
	return ask.Answer{Kind: ask.Value, Text: p.Content.Answer}
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

// Instead implements chat.Face. Nothing is the first answer. Only one thing is offered: some clients show yes and no in
// place of what options say.
func (s *session) Instead(r chat.Refused, answer func(yes bool)) {
	options := []any{
		map[string]any{"optionId": "0", "name": "Leave it", "kind": "reject_once"},
		map[string]any{"optionId": "1", "name": r.Title, "kind": "allow_once"},
	}
	s.mu.Lock()
	s.told++
	call := map[string]any{"toolCallId": "start-" + strconv.Itoa(s.told), "kind": "other"}
	s.mu.Unlock()
	question := s.optionsOf(call, r.Question, r.Why, options)
	s.agent.client.Request("session/request_permission", question, func(result json.RawMessage, no *rpc.Error) {
		s.close(call)
		i, ok := chosen(result)
		answer(no == nil && ok && i == 1)
	})
}
