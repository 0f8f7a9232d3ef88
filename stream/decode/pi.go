package decode

import (
	"crypto/sha256"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// piDecoder reads what pi writes in its json and rpc modes.
//
//	stream  = [session] run*
//	run     = try (auto_retry_start try)* agent_settled
//	try     = agent_start turn+ agent_end
//	turn    = turn_start message* tool* message(toolResult)* turn_end
//	message = message_start message_update* message_end
//	tool    = tool_execution_start tool_execution_update* tool_execution_end
//
// Only the assistant's message has updates, and only that counts as an answer:
// the others are the prompt and the results of tools. The tools of a turn run side
// by side. auto_retry_end stands in the try that went well, or where pi gives up.
// Compactions and entries of the session may stand between any two of these, and
// in rpc mode responses do, too. A line without a meaning here is skipped.
//
// agent_settled ends the run. Before 0.80.4 there was none, and before that not
// always an agent_end: see Close. Up to 0.83 every message_update repeated the
// whole message twice, since then it is a delta and the usage so far; both are read
// in the same way, up to the delta.
type piDecoder struct {
	session   who
	message   liveMessage
	text      joiner // of its deltas
	thinking  joiner // the same
	nextBlock bool   // the next delta opens another text block
	ended     bool   // this turn's message_end was seen
	failure   lastFailure
	total     stream.Usage        // of all turns that have ended, with their tools, and of compactions
	call      stream.Usage        // the model call of the turn in progress; it counts when its message has ended
	tools     []toolSpending      // of the turn in progress
	following []*piCall           // those that run and have agents work
	told      stream.Usage        // the usage that was emitted last
	shape     shape               // of the last delta's line
	steering  stream.Recent[bool] // messages that the agent was sent while it worked
	accepted  bool                // the prompt was
	begun     bool                // an agent has begun to work
	done      bool                // see Done
	resting   bool                // done, if the stream ends here
}

func (d *piDecoder) Done() bool { return d.done }

// Close makes up for pi before 0.80.4, which has no closing event: its last event is an agent_end or, earlier still,
// a turn_end. A turn that was cut off has been paid for; its known cost counts.
func (d *piDecoder) Close(emit func(stream.Event)) {
	d.flush(emit)
	d.settle()
	d.tell(emit)
	d.done = d.done || d.resting
}

func (d *piDecoder) Decode(line []byte, emit func(stream.Event)) error {
	if delta, ok := d.shape.delta(line); ok {
		d.show(d.shape.kind, delta, emit)
		return nil
	}
	kind, err := lineType(line)
	if err != nil {
		return err
	}
	switch string(kind) {
	case "message_update":
		return d.update(line, emit)
	case "message_start":
		return d.messageStart(line, emit)
	case "message_end":
		return d.messageEnd(line, emit)
	case "turn_end":
		return d.turnEnd(line, emit)
	case "tool_execution_start":
		return d.toolStart(line, emit)
	case "tool_execution_update":
		return d.toolUpdate(line, emit)
	case "tool_execution_end":
		return d.toolEnd(line, emit)
	case "agent_end":
		return d.agentEnd(line)
	}
	return d.seldom(string(kind), line, emit)
}

// update shows a delta. It stops reading right behind it, because the line may
// go on with snapshots of the message that are longer than all the rest.
func (d *piDecoder) update(line []byte, emit func(stream.Event)) error {
	var ev piUpdate
	c := jsoncursor.New(line)
	for top := c.Object(); top.Next(); {
		switch string(top.Key) {
		case "usage":
			ev.usage = readPiUsage(c)
		case "assistantMessageEvent":
			if !readPiUpdate(c, &ev) {
				continue
			}
			if isPiDelta(ev.kind) {
				d.shape.learn(line, ev.start, ev.end, c.Pos(), ev.kind, nil)
			}
			d.show(ev.kind, ev.delta, emit)
			d.spend(ev.usage)
			return nil
		}
	}
	if !c.Done() {
		return ErrMalformed
	}
	if string(ev.kind) == "error" { // today's pi says it with its message_end only
		d.failure.tell(piError(ev.reason, ev.reason), emit)
	}
	return nil
}

// piUpdate is the assistantMessageEvent of a message_update.
type piUpdate struct {
	kind, delta []byte
	start, end  int // where delta stands, with its quotes
	reason      string
	usage       stream.Usage // of the message so far, where it stands before the event
}

// readPiUpdate reads an assistantMessageEvent. enough says that it was left in the
// middle, because the rest doesn't matter.
func readPiUpdate(c *jsoncursor.Cursor, ev *piUpdate) (enough bool) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			ev.kind = c.RawText()
		case "delta":
			ev.delta = c.RawText()
			ev.end = c.Pos()
			ev.start = ev.end - len(ev.delta) - len(`""`)
		case "reason":
			ev.reason = c.Text()
		}
		if ev.kind != nil && (ev.delta != nil || !isPiDelta(ev.kind)) && string(ev.kind) != "error" {
			return true
		}
	}
	return false
}

// spend keeps what the model call in progress has used so far: the last word that
// says something. Deltas of the same shape as the one before say the same about it,
// and aren't asked.
func (d *piDecoder) spend(u stream.Usage) {
	if u.Counts() || !d.call.Counts() {
		d.call = u
	}
}

func isPiDelta(kind []byte) bool {
	return string(kind) == "text_delta" || string(kind) == "thinking_delta"
}

// show emits what a message_update adds to the live view.
func (d *piDecoder) show(kind, delta []byte, emit func(stream.Event)) {
	switch string(kind) {
	case "text_delta":
		d.open()
		d.say(d.text.join(delta), emit)
	case "thinking_delta":
		d.open()
		d.message.think(d.thinking.join(delta), emit)
	case "text_start":
		d.open()
		d.nextBlock = true
	case "text_end", "thinking_end":
		d.flush(emit)
	}
}

// open begins a message where there is none.
func (d *piDecoder) open() {
	if d.message.id != "" {
		return
	}
	if d.ended { // the turn before has no end
		d.settle()
	}
	d.text, d.thinking, d.nextBlock = joiner{}, joiner{}, false
	d.message.open("", nil) // nothing is shown that it could end
}

func (d *piDecoder) say(text string, emit func(stream.Event)) {
	d.message.show(text, d.nextBlock, emit)
	d.nextBlock = d.nextBlock && text == ""
}

// flush shows what the deltas have held back.
func (d *piDecoder) flush(emit func(stream.Event)) {
	if d.message.id != "" {
		d.say(d.text.flush(), emit)
		d.message.think(d.thinking.flush(), emit)
	}
}

func (d *piDecoder) messageStart(line []byte, emit func(stream.Event)) error {
	m, err := piMessageOf(line)
	if err != nil || m.role != "assistant" {
		return err
	}
	d.done, d.resting = false, false
	d.atWork(m, emit)
	d.message.discard(emit)
	d.open()
	d.spend(m.usage)
	return nil
}

func (d *piDecoder) messageEnd(line []byte, emit func(stream.Event)) error {
	m, err := piMessageOf(line)
	if err == nil && m.role == "toolResult" {
		d.toolSpent(m.toolCallID, nestedUsage(m.usage, m.listed), emit)
	}
	if err == nil && m.role == "user" {
		d.heard(contentText(m.content), emit)
	}
	if err != nil || m.role != "assistant" {
		return err
	}
	d.atWork(m, emit)
	d.finish(m, emit)
	d.spend(m.usage)
	d.ended = true
	if !m.failed() { // else its turn ends with it
		d.tell(emit)
	}
	return nil
}

// heard tells that a text was read that was said while the agent worked; the prompt wasn't.
func (d *piDecoder) heard(text string, emit func(stream.Event)) {
	if _, told := d.steering.Get(textKey(text)); told { // and maybe more than once
		emit(stream.Heard{Text: text})
	}
}

// textKey stands for a text that may be long.
func textKey(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// atWork says which model writes, when that is news.
func (d *piDecoder) atWork(m piMessage, emit func(stream.Event)) {
	d.session.tell(stream.SessionStart{Backend: "pi", Provider: m.provider, Model: m.model}, emit)
}

// finish closes the open message with its authoritative text, or takes it back.
func (d *piDecoder) finish(m piMessage, emit func(stream.Event)) {
	d.open()
	d.flush(emit)
	if m.failed() {
		d.message.discard(emit)
		d.failure.tell(piError(m.stopReason, m.errorMessage), emit)
		return
	}
	text := contentText(m.content)
	if d.message.text.empty() {
		d.say(text, emit)
	}
	d.message.close(text, emit)
}

// turnEnd counts what the turn has used. In recordings without message_end it
// closes the message too.
func (d *piDecoder) turnEnd(line []byte, emit func(stream.Event)) error {
	m, err := piMessageOf(line)
	if err != nil {
		return err
	}
	d.atWork(m, emit)
	switch {
	case d.ended:
	case contentText(m.content) != "" || m.failed():
		d.finish(m, emit)
	case d.message.id != "":
		d.flush(emit)
		d.message.close(d.message.text.String(), emit)
	}
	d.spend(m.usage)
	d.resting = m.stopReason == "stop" || m.stopReason == "length"
	end := stream.TurnEnd{StopReason: m.stopReason, Usage: d.call}
	if m.failed() {
		end.Error = piError(m.stopReason, m.errorMessage).Message
	} else {
		d.failure = ""
	}
	emit(end)
	d.settle()
	d.tell(emit)
	return nil
}

// piError says what a failed message's stopReason and errorMessage mean.
func piError(stopReason, message string) stream.Error {
	if message == "" {
		message = "the model request failed"
	}
	e := stream.ClassifyError(0, message, time.Now())
	if stopReason == "aborted" {
		e.Kind = stream.KindAborted
	}
	return e
}
