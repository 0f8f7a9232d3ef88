package mcp

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// call is a tool at work.
type call struct {
	*Server
	id     json.RawMessage
	can    capabilities
	params                 // with which it came first
	asking json.RawMessage // our request that it waits for; nil: none
}

// waiting is a call that goes on when it comes again.
type waiting struct {
	*call
	then func(result json.RawMessage, err *rpc.Error)
}

// maxWaiting bounds the calls that may come again. Where there are more, none is waited for.
const maxWaiting = 100

// call begins a call, or goes on with one that has come again: with what it was, whatever it says it is.
func (s *Server) call(id json.RawMessage, p params) {
	s.mu.Lock()
	w, isAgain := s.waiting[p.RequestState]
	delete(s.waiting, p.RequestState)
	c := w.call
	if !isAgain {
		c = &call{Server: s, params: p, can: s.can}
	}
	if p.Meta.Version != "" {
		c.can = p.Meta.Capabilities
	}
	c.id, s.calls[string(id)] = id, c
	s.mu.Unlock()
	switch {
	case isAgain:
		w.then(p.InputResponses[question], nil)
	case p.RequestState != "":
		c.fail("that question was answered, or waits no more: call the tool again")
	case !answers.KnowsTool(p.Name):
		c.reply(nil, rpc.Errorf(rpc.CodeParams, "there is no tool %q", p.Name))
	case c.can.Roots == nil:
		c.look(s.Folder)
	default:
		c.ask("roots/list", map[string]any{}, func(result json.RawMessage, _ *rpc.Error) { c.look(rootsIn(result)...) })
	}
}

// rootsIn are the folders that a client names.
func rootsIn(result json.RawMessage) (folders []string) {
	var p struct{ Roots []struct{ URI string } }
	_ = json.Unmarshal(result, &p)
	for _, r := range p.Roots {
		if path, err := wire.PathOf(r.URI); err == nil {
			folders = append(folders, wire.FileURI(path))
		}
	}
	return folders
}

// question is the name of the one that a call ends with.
const question = "question"

// ask asks the client something, and goes on with what it answers.
func (c *call) ask(method string, params any, then func(json.RawMessage, *rpc.Error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.calls[string(c.id)] != c: // it was cancelled
		return
	case c.Meta.Version == "":
		c.asking = c.client.Request(method, params, then)
		return
	case len(c.waiting) >= maxWaiting:
		clear(c.waiting)
	}
	state := rand.Text()
	c.waiting[state] = waiting{c, then}
	delete(c.calls, string(c.id))
	c.client.Reply(c.id, map[string]any{"resultType": "input_required", "requestState": state, "inputRequests": map[string]any{
		question: map[string]any{"method": method, "params": params},
	}}, nil)
}

// look does what needs nobody's word, in the folders that the client has open.
func (c *call) look(folders ...string) {
	if len(folders) == 0 {
		c.fail("the client has no folder open")
		return
	}
	c.work.Go(func() {
		result, err := c.Tools.Call(c.ctx, answers.ToolParams{Name: c.Name, Input: c.Arguments, Folders: folders})
		switch {
		case err != nil:
			c.fail(err.Error())
		case len(result.Offers) == 0:
			c.tell(result.Text, false)
		case !c.can.hasForms():
			c.fail("Nothing was done: only the user may say so, and this client can't ask them (it has no elicitation). They can " +
				"do it in a terminal, in the project's folder: " + byHand[c.Name])
		default:
			c.confirm(result)
		}
	})
}

// byHand is what users type for what can't be asked.
var byHand = map[string]string{answers.ToolStart: `ralph-lsp run "PROMPT"`, answers.ToolSteer: `ralph-lsp steer "WORDS"`}

// notNow is the first answer to each question, and the one that counts where none is given.
const notNow = "Leave it"

// confirm asks the user for the word that an offer needs, and then does it.
func (c *call) confirm(asked answers.ToolResult) {
	offer := asked.Offers[0]
	form := map[string]any{"mode": "form", "message": asked.Title + "\n\n" + asked.Text, "requestedSchema": map[string]any{
		"type": "object", "required": []string{"answer"},
		"properties": map[string]any{"answer": map[string]any{"type": "string", "title": asked.Title,
			"enum": []string{notNow, offer.Title}, "default": notNow}},
	}}
	c.ask("elicitation/create", form, func(said json.RawMessage, err *rpc.Error) {
		var p struct {
			Action  string
			Content struct{ Answer string }
		}
		_ = json.Unmarshal(said, &p)
		switch {
		case err != nil || p.Action == "cancel" || p.Action == "":
			c.fail("Nothing was done: the user has given no answer.")
		case p.Action != "accept" || p.Content.Answer != offer.Title:
			c.fail("Nothing was done: the user doesn't want it.")
		default:
			c.do(offer, asked.Done)
		}
	})
}

// do does what the user agreed to.
func (c *call) do(offer wire.Command, done string) {
	c.work.Go(func() {
		result, err := c.Tools.Agreed(c.ctx, offer)
		if err != nil {
			c.fail(err.Error())
			return
		}
		c.tell(strings.TrimSpace(strings.Join(append([]string{cmp.Or(result.Text, done), result.LoopID}, result.Warnings...), "\n")), false)
	})
}

func (c *call) fail(why string) { c.tell(why, true) }

// tell ends the call with a text for the model.
func (c *call) tell(text string, isError bool) {
	c.reply(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": isError, "resultType": "complete"}, nil)
}

// reply answers the call, unless its client has cancelled it.
func (c *call) reply(result any, err *rpc.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[string(c.id)] == c {
		delete(c.calls, string(c.id))
		c.client.Reply(c.id, result, err)
	}
}

// cancel ends a call whose client doesn't wait for it any more, with its question.
func (s *Server) cancel(id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[string(id)]
	delete(s.calls, string(id))
	if c != nil && c.asking != nil && s.client.Forget(c.asking) {
		s.client.Notify("notifications/cancelled", map[string]any{"requestId": c.asking})
	}
}
