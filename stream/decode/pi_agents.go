package decode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// piCall is a running tool call whose tool lists the agents that it has work, as the
// subagent tool among pi's examples does:
//
//	{"details": {"mode": "chain", "results": [{"agent", "task", "exitCode", "messages": [...], "usage"}, ...]}}
//
// Each update of the call repeats all that they have said and done so far.
type piCall struct {
	stream.ToolCall
	mode   string // "" until something is listed
	agents []piAgent
}

// piAgent is what was shown of one of them.
type piAgent struct {
	call  string // that its events are below
	shown int    // messages
	open  bool   // it has a call of its own, without a result
	text  string // the last that it said
	last  piReport
}

// piReport is what a list says of an agent, as far as it matters here.
type piReport struct {
	agent, task string
	messages    []byte // valid only as long as its line
	stopReason  string
	problem     string // in the words of its model, else of its process
	exitCode    float64
	usage       stream.Usage
}

// failed is as the tool judges it.
func (l piReport) failed() bool {
	return l.exitCode != 0 || l.stopReason == "error" || l.stopReason == "aborted"
}

// maxPiCalls bounds the calls that are followed: one may never end.
const maxPiCalls = 64

// follow begins to follow a call.
func (d *piDecoder) follow(call stream.ToolCall) {
	if len(d.following) == maxPiCalls {
		d.following = d.following[1:]
	}
	d.following = append(d.following, &piCall{ToolCall: call})
}

// followed returns a call that is followed, nil for none.
func (d *piDecoder) followed(id string) *piCall {
	for _, call := range d.following {
		if call.ID == id {
			return call
		}
	}
	return nil
}

// list shows what is news in the details of a call.
func (p *piCall) list(details []byte, emit func(stream.Event)) {
	c := jsoncursor.New(details)
	c.Members("mode", &p.mode, "results", func() {
		n := 0
		for results := c.Array(); results.Next(); n++ {
			if n < maxListed {
				p.update(n, readPiReport(c), emit)
			}
		}
	})
}

// maxListed bounds the agents of a call that are shown: pi's example has at most 8.
const maxListed = 64

func readPiReport(c *jsoncursor.Cursor) (l piReport) {
	var stderr string
	c.Members("agent", &l.agent, "task", &l.task, "messages", &l.messages, "stopReason", &l.stopReason, "errorMessage", &l.problem,
		"stderr", &stderr, "exitCode", func() { l.exitCode, _ = c.Number() }, "usage", func() { l.usage = readPiUsage(c) })
	l.problem = cmp.Or(l.problem, stderr)
	return l
}

// update shows what is news of one agent. One that has yet to begin has no messages.
func (p *piCall) update(n int, l piReport, emit func(stream.Event)) {
	c := jsoncursor.New(l.messages)
	messages := c.Array()
	if !messages.Next() {
		return
	}
	for len(p.agents) <= n {
		p.agents = append(p.agents, piAgent{call: p.ID})
	}
	a := &p.agents[n]
	if a.shown == 0 && p.mode != stream.ModeSingle {
		a.call, a.open = fmt.Sprintf("%s/%d", p.ID, n+1), true
		emit(stream.ToolCall{ID: a.call, Name: stream.StepTool, Input: p.step(n, l), ParentToolCallID: p.ID})
	}
	for at, more := 0, true; more; at, more = at+1, messages.Next() {
		if at >= a.shown {
			a.message(readPiMessage(c), emit)
		} else {
			c.Skip()
		}
	}
	l.messages = nil
	a.last = l
	if p.mode == stream.ModeChain && n > 0 {
		p.agents[n-1].end(false, emit)
	}
	if l.stopReason == "stop" || l.stopReason == "length" {
		a.end(false, emit)
	}
}

// message shows a message of the agent's, or the result of one of its tools.
func (a *piAgent) message(m piMessage, emit func(stream.Event)) {
	a.shown++
	switch {
	case m.role == "toolResult":
		emit(stream.Below(stream.ToolResult{ID: m.toolCallID, Output: contentText(m.content), IsError: m.isError}, a.call))
	case m.role == "assistant" && !m.failed():
		if text := contentText(m.content); text != "" {
			a.text = text
			id := fmt.Sprintf("m%d", a.shown)
			emit(stream.Below(stream.Text{Delta: text, MessageID: id}, a.call))
			emit(stream.Below(stream.MessageEnd{MessageID: id, Text: text}, a.call))
		}
		for _, call := range piToolCalls(m.content) {
			emit(stream.Below(call, a.call))
		}
	}
}

// end tells what the agent came to. stopped: its tool ended before it did.
func (a *piAgent) end(stopped bool, emit func(stream.Event)) {
	if !a.open {
		return
	}
	a.open = false
	r := stream.ToolResult{ID: a.call, Output: a.text, IsError: stopped || a.last.failed(), Spent: a.last.usage.Spent()}
	if r.IsError {
		r.Output = cmp.Or(a.last.problem, a.text)
	}
	r.ParentToolCallID = a.call[:strings.LastIndexByte(a.call, '/')]
	emit(r)
}

// end ends what is still open of a call whose tool has ended.
func (p *piCall) end(failed bool, emit func(stream.Event)) {
	for i := range p.agents {
		stopped := failed && p.agents[i].last.stopReason == "toolUse"
		p.agents[i].end(stopped, emit)
	}
}

// piToolCalls are the calls in a message's content.
func piToolCalls(content []byte) (calls []stream.ToolCall) {
	c := jsoncursor.New(content)
	if c.Peek() != '[' {
		return nil
	}
	for blocks := c.Array(); blocks.Next(); {
		var call stream.ToolCall
		isCall := false
		c.Members("type", func() { isCall = c.Text() == "toolCall" }, "id", &call.ID, "name", &call.Name,
			"arguments", func() { call.Input = compactJSON(c.Raw()) })
		if isCall {
			calls = append(calls, call)
		}
	}
	return calls
}

// step is the input of an agent's call.
func (p *piCall) step(n int, l piReport) json.RawMessage {
	in := map[string]any{"agent": l.agent, "task": l.task}
	if of, _ := p.Subagent(); p.mode == stream.ModeChain && of.Count > n {
		in["step"], in["of"] = n+1, of.Count
	}
	raw, _ := json.Marshal(in) // texts and numbers can always be encoded
	return raw
}
