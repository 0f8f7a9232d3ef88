package stream

import (
	"cmp"
	"time"
)

// opencodeDecoder reads what opencode writes with run --format json: the parts
// of its messages, each when it is whole. There is no closing event; the last
// step's end is.
type opencodeDecoder struct {
	sessionID string
	message   liveMessage
	usage     Usage
	refused   bool // a tool of this step; opencode ends then
	resting   bool // done, if the stream ends here
	done      bool
}

func (d *opencodeDecoder) Done() bool { return d.done }

// Close makes up for the closing event that doesn't exist.
func (d *opencodeDecoder) Close(emit func(Event)) {
	d.message.end(emit)
	d.done = d.resting
}

// opencodeEvent holds the fields of all the kinds of events that matter.
type opencodeEvent struct {
	kind, sessionID string
	failure         opencodeError
	part            opencodePart
}

// opencodePart is a part of a message.
type opencodePart struct {
	messageID string
	text      string
	call      ToolCall
	result    ToolResult
	reason    string // why the step ended
	usage     Usage  // of the step
}

type opencodeError struct {
	name, message string
	status        int
}

func (c *cursor) opencodeEvent() (ev opencodeEvent) {
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "type":
			ev.kind = c.text()
		case "sessionID":
			ev.sessionID = c.text()
		case "error":
			ev.failure = c.opencodeError()
		case "part":
			ev.part = c.opencodePart()
		}
	}
	return ev
}

func (c *cursor) opencodeError() (e opencodeError) {
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "name":
			e.name = c.text()
		case "data":
			for data := c.object(); data.next(); {
				switch string(data.key) {
				case "message":
					e.message = c.text()
				case "statusCode":
					e.status = int(c.integer())
				}
			}
		}
	}
	return e
}

func (c *cursor) opencodePart() (p opencodePart) {
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "messageID":
			p.messageID = c.text()
		case "text":
			p.text = c.text()
		case "callID":
			p.call.ID = c.text()
		case "tool":
			p.call.Name = c.text()
		case "state":
			c.opencodeState(&p)
		case "reason":
			p.reason = c.text()
		case "tokens":
			p.usage.Tokens = c.opencodeTokens()
		case "cost":
			p.usage.Cost.USD, p.usage.Cost.Known = c.float()
		}
	}
	p.result.ID = p.call.ID
	p.usage.Context = p.usage.Tokens.Total()
	return p
}

// opencodeState reads the state of a tool that has ended. A command that
// failed is "completed" too, and known by its exit code.
func (c *cursor) opencodeState(p *opencodePart) {
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "status":
			p.result.IsError = p.result.IsError || c.text() == "error"
		case "input":
			p.call.Input = compactJSON(c.raw())
		case "output", "error":
			p.result.Output = c.text()
		case "metadata":
			for m := c.object(); m.next(); {
				if string(m.key) == "exit" {
					p.result.IsError = p.result.IsError || c.integer() > 0
				}
			}
		}
	}
}

// opencodeTokens reads the usage of a step. Its output leaves out the reasoning.
func (c *cursor) opencodeTokens() (t Tokens) {
	for o := c.object(); o.next(); {
		switch string(o.key) {
		case "input":
			t.Input = c.integer()
		case "output", "reasoning":
			t.Output += c.integer()
		case "cache":
			for cache := c.object(); cache.next(); {
				switch string(cache.key) {
				case "read":
					t.CacheRead = c.integer()
				case "write":
					t.CacheWrite = c.integer()
				}
			}
		}
	}
	return t
}

func (d *opencodeDecoder) Decode(line []byte, emit func(Event)) error {
	if kind, err := lineType(line); err != nil || kind == nil {
		return cmp.Or(err, checkLine(line))
	}
	c := newCursor(line)
	ev := c.opencodeEvent()
	if !c.done() {
		return ErrMalformed
	}
	if ev.sessionID != "" && ev.sessionID != d.sessionID {
		d.sessionID = ev.sessionID
		emit(SessionStart{Backend: "opencode", SessionID: ev.sessionID})
	}
	switch part := ev.part; ev.kind {
	case "step_start":
		d.resting, d.refused = false, false
		d.message.open(part.messageID, emit)
	case "text":
		d.message.open(part.messageID, emit)
		d.message.show(part.text, true, emit)
	case "reasoning":
		d.message.open(part.messageID, emit)
		d.message.think(part.text, emit)
	case "tool_use":
		d.tool(part, emit)
	case "step_finish":
		d.finish(part, emit)
	case "error":
		d.message.end(emit)
		message := cmp.Or(ev.failure.message, ev.failure.name, "opencode failed")
		emit(ClassifyError(ev.failure.status, message, time.Now()))
		d.resting = true
	}
	return nil
}

// tool reports a tool that has ended: nothing comes before. A refused one is
// told by its error.
func (d *opencodeDecoder) tool(p opencodePart, emit func(Event)) {
	emit(p.call)
	emit(p.result)
	if p.result.IsError && opencodeRefusal().MatchString(p.result.Output) {
		d.refused = true
		emit(Denied{Denial{Tool: p.call.Name, ID: p.call.ID, Detail: callDetail(p.call.Input)}})
	}
}

var opencodeRefusal = lazy(`^The user (rejected permission|has specified a rule which prevents)`)

func (d *opencodeDecoder) finish(p opencodePart, emit func(Event)) {
	d.message.end(emit)
	d.resting = p.reason != "tool-calls" || d.refused
	d.usage.Tokens = d.usage.Tokens.Plus(p.usage.Tokens)
	d.usage.Cost = d.usage.Cost.Plus(p.usage.Cost)
	d.usage.Context = p.usage.Context
	emit(TurnEnd{StopReason: p.reason, Usage: p.usage})
	emit(d.usage)
}
