package stream

import (
	"cmp"
	"time"

	"ralph-lsp/internal/jsoncursor"
)

const FormatOpencode Format = "opencode-json" // opencode run --format json

func init() {
	formats[FormatOpencode] = format{decoder: func() Decoder { return &opencodeDecoder{} }, cost: true}
}

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

func readOpencodeEvent(c *jsoncursor.Cursor) (ev opencodeEvent) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			ev.kind = c.Text()
		case "sessionID":
			ev.sessionID = c.Text()
		case "error":
			ev.failure = readOpencodeError(c)
		case "part":
			ev.part = readOpencodePart(c)
		}
	}
	return ev
}

func readOpencodeError(c *jsoncursor.Cursor) (e opencodeError) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "name":
			e.name = c.Text()
		case "data":
			for data := c.Object(); data.Next(); {
				switch string(data.Key) {
				case "message":
					e.message = c.Text()
				case "statusCode":
					e.status = int(c.Count())
				}
			}
		}
	}
	return e
}

func readOpencodePart(c *jsoncursor.Cursor) (p opencodePart) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "messageID":
			p.messageID = c.Text()
		case "text":
			p.text = c.Text()
		case "callID":
			p.call.ID = c.Text()
		case "tool":
			p.call.Name = c.Text()
		case "state":
			readOpencodeState(c, &p)
		case "reason":
			p.reason = c.Text()
		case "tokens":
			p.usage.Tokens = readOpencodeTokens(c)
		case "cost":
			p.usage.Cost.USD, p.usage.Cost.Known = c.Amount()
		}
	}
	p.result.ID = p.call.ID
	p.usage.Context = p.usage.Tokens.Total()
	return p
}

// readOpencodeState reads the state of a tool that has ended. A command that
// failed is "completed" too, and known by its exit code.
func readOpencodeState(c *jsoncursor.Cursor, p *opencodePart) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "status":
			p.result.IsError = p.result.IsError || c.Text() == "error"
		case "input":
			p.call.Input = compactJSON(c.Raw())
		case "output", "error":
			p.result.Output = c.Text()
		case "metadata":
			for m := c.Object(); m.Next(); {
				if string(m.Key) == "exit" {
					p.result.IsError = p.result.IsError || c.Count() > 0
				}
			}
		}
	}
}

// readOpencodeTokens reads the usage of a step. Its output leaves out the reasoning.
func readOpencodeTokens(c *jsoncursor.Cursor) (t Tokens) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "input":
			t.Input = c.Count()
		case "output", "reasoning":
			t.Output += c.Count()
		case "cache":
			for cache := c.Object(); cache.Next(); {
				switch string(cache.Key) {
				case "read":
					t.CacheRead = c.Count()
				case "write":
					t.CacheWrite = c.Count()
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
	c := jsoncursor.New(line)
	ev := readOpencodeEvent(c)
	if !c.Done() {
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
