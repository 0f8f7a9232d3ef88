package acp

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/service/chat"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// block is a part of a prompt.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource"`
}

// textOf is a prompt as a person would type it: files are named, and what the client sends of them
// stands below.
func textOf(blocks []block) string {
	var said, attached []string
	for i, b := range blocks {
		switch b.Type {
		case "text":
			if i > 0 && blocks[i-1].Type == "text" { // some send a prompt that was stopped again, before the next one
				said = append(said, "\n\n")
			}
			said = append(said, b.Text)
		case "resource_link":
			said = append(said, "@"+pathOf(b.URI))
		case "resource":
			said = append(said, "@"+pathOf(b.Resource.URI))
			if b.Resource.Text != "" {
				attached = append(attached, pathOf(b.Resource.URI)+":\n```\n"+strings.TrimRight(b.Resource.Text, "\n")+"\n```")
			}
		}
	}
	text := strings.TrimSpace(strings.Join(said, ""))
	if len(attached) > 0 {
		text += "\n\n" + strings.Join(attached, "\n\n")
	}
	return text
}

// pathOf is the path of a file URI; any other URI stays as it is.
func pathOf(uri string) string {
	path, err := wire.PathOf(uri)
	if err != nil {
		return uri
	}
	return path
}

// prompt is a turn: a whole loop. While one runs it is a word to its agent.
func (a *Agent) prompt(s *session, id json.RawMessage, p params) *rpc.Error {
	s.loop.Prompt(textOf(p.Prompt), s.chosen(), func(o chat.Outcome) {
		switch {
		case o.Cancelled:
			a.client.Reply(id, map[string]any{"stopReason": "cancelled"}, nil)
		case o.Err != nil:
			a.client.Reply(id, nil, errorOf(o.Err))
		default:
			a.client.Reply(id, map[string]any{"stopReason": cmp.Or(turnReasons[o.Ended], "end_turn")}, nil)
		}
	})
	return nil
}

// turnReasons are ACP's for those for which loops end; any other ends a turn as usual, and the last
// text says why.
var turnReasons = map[loop.StopReason]string{
	loop.StopMaxIterations: "max_turn_requests", loop.StopMaxCost: "max_turn_requests", loop.StopMaxTime: "max_turn_requests",
	loop.StopCancelled: "cancelled", loop.StopStateRemoved: "cancelled", loop.StopInterrupted: "cancelled",
}

// errorOf is why nothing was done, with the protocol's code.
func errorOf(err error) *rpc.Error {
	code, known := rpc.CodeInternal, service.FailureOf(err)
	switch {
	case known == nil:
	case known.Key != "":
		code = rpc.CodeParams
	case known.Reason == wire.ReasonBackendNotFound:
		code = rpc.CodeAuth
	}
	return rpc.Errorf(code, "%s", err.Error())
}

// steering is what some clients say in place of a second prompt.
func (a *Agent) steering(s *session, id json.RawMessage, p params) *rpc.Error {
	if !s.loop.IsBusy() {
		a.client.Reply(id, map[string]any{"outcome": "promptRequired"}, nil)
		return nil
	}
	s.loop.Steer(textOf(p.Prompt), func(_ string, err error) {
		outcome := "injected"
		if err != nil {
			outcome = "failed"
		}
		a.client.Reply(id, map[string]any{"outcome": outcome}, nil)
	})
	return nil
}

// cancel is the client's stop, which some send when a turn takes them too long: the loop is
// interrupted, and can go on. One that comes behind its turn is about nothing.
func (a *Agent) cancel(s *session, _ json.RawMessage, _ params) *rpc.Error {
	if s.loop.IsBusy() {
		s.loop.Interrupt()
	}
	return nil
}
