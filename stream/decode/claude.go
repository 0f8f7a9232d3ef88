package decode

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// claudeDecoder reads claude's stream-json, and amp's, which is the same with
// fewer fields.
//
//	stream  = turn+
//	turn    = system(init) (message | user)* result
//	message = assistant+
//
// An assistant line is one content block of a message (amp: all of them), so lines
// with the same id are one message. A user line has the results of tools. With
// partial messages the raw events of the model come around them:
//
//	message = message_start block+ message_delta message_stop
//	block   = content_block_start content_block_delta* assistant content_block_stop
//
// Then the deltas are the live view, and the assistant lines still say what the
// message really is. Deltas without them are of a call that failed, which
// system(api_retry) or nothing tells. Lines with parent_tool_use_id are a
// subagent's, between those of the main agent. Other system lines and
// rate_limit_event may stand anywhere.
//
// A result ends the run, unless a background task wakes the agent: then another
// turn follows. So it does with what claude was told while it worked (stream-json
// input): command_lifecycle says what has become of it. A result's usage is that of the whole process so far.
type claudeDecoder struct {
	backend    string
	nameless   int // messages that came without an ID, each in one event
	session    who
	open       []*claudeMessage      // at most one for the main agent and each subagent, at most maxOpen
	turns      stream.Recent[bool]   // IDs of the main agent's messages that were counted
	calls      stream.Recent[string] // what the running tool calls are about, by ID
	denied     stream.Recent[bool]   // IDs of the refused tool calls
	background stream.Recent[string] // the calls above those whose agents work on while their callers do, by ID
	usage      claudeUsage
	quota      *stream.Quota // the window that refused the last request
	failure    lastFailure
	prompt     string   // the UUID of what it was told first
	queued     []string // the UUIDs of what it was told and hasn't read
	won        bool     // a result was a success
	idle       bool     // no message has begun since the last result
	shape      shape    // of the last delta's line
	done       bool
}

func (d *claudeDecoder) Done() bool { return d.done && len(d.queued) == 0 }

// Close ends the messages that are still open. Text that was only streamed stays shown, but is nobody's answer; its
// usage counts.
func (d *claudeDecoder) Close(emit func(stream.Event)) {
	for _, m := range d.open {
		m.flush(emit)
		switch {
		case m.confirmed:
			d.end(m, emit)
		case m.parent == "" && m.tokens.Total() > 0:
			emit(d.usage.turn(m.tokens))
		}
	}
	d.open, d.queued = nil, nil
}

func (d *claudeDecoder) Decode(line []byte, emit func(stream.Event)) error {
	if delta, ok := d.shape.delta(line); ok {
		d.delta(d.shape.kind, delta, d.shape.parent, emit)
		return nil
	}
	kind, err := lineType(line)
	if err != nil {
		return err
	}
	switch string(kind) {
	case "stream_event":
		return d.streamEvent(line, emit)
	case "assistant":
		return d.assistant(line, emit)
	case "user":
		return d.user(line, emit)
	case "system":
		return d.system(line, emit)
	case "rate_limit_event":
		return d.rateLimit(line, emit)
	case "result":
		return d.result(line, emit)
	case "command_lifecycle", "control_request", "control_cancel_request":
		return d.talk(string(kind), line, emit)
	}
	return checkLine(line)
}

// message returns the open message of the main agent (parent is empty) or of
// the subagent that was started by the tool call parent, nil if there is none.
func (d *claudeDecoder) message(parent []byte) *claudeMessage {
	for _, m := range d.open {
		if m.parent == string(parent) {
			return m
		}
	}
	return nil
}

// begin returns the open message with this ID, after opening it if need be.
// Another message of the same agent is over then.
func (d *claudeDecoder) begin(parent, id string, emit func(stream.Event)) *claudeMessage {
	if m := d.message([]byte(parent)); m != nil {
		if m.id == id {
			return m
		}
		d.finish(m, emit)
	}
	if parent == "" {
		d.done, d.idle = false, false
	}
	if len(d.open) == maxOpen {
		d.finish(d.open[slices.IndexFunc(d.open, func(m *claudeMessage) bool { return m.parent != "" })], emit)
	}
	m := &claudeMessage{id: id, parent: parent}
	d.open = append(d.open, m)
	return m
}

// maxOpen is how many messages may be open at once. The last message of a subagent stays open up to the end of the
// run, as nothing tells that it was the last.
const maxOpen = 64

// finish closes a message. One of which only deltas came is taken back: claude
// abandons a failed attempt without a word.
func (d *claudeDecoder) finish(m *claudeMessage, emit func(stream.Event)) {
	d.open = slices.DeleteFunc(d.open, func(o *claudeMessage) bool { return o == m })
	m.flush(emit)
	d.end(m, emit)
}

// finishAll closes all messages of the main agent, or of everybody.
func (d *claudeDecoder) finishAll(subagents bool, emit func(stream.Event)) {
	for _, m := range slices.Clone(d.open) {
		if subagents || m.parent == "" {
			d.finish(m, emit)
		}
	}
}

// end emits what a message came to, and the end of its turn.
func (d *claudeDecoder) end(m *claudeMessage, emit func(stream.Event)) {
	switch {
	case m.told && len(m.blocks) == 0:
	case m.confirmed && !m.aborted:
		emit(stream.MessageEnd{MessageID: m.id, Text: m.text(), ParentToolCallID: m.parent})
	case m.shown:
		emit(stream.MessageEnd{MessageID: m.id, Discarded: true, ParentToolCallID: m.parent})
	}
	if _, counted := d.turns.Get(m.id); !m.confirmed || m.parent != "" || counted {
		return
	}
	d.turns.Put(m.id, true)
	end := stream.TurnEnd{StopReason: m.stopReason, Usage: stream.Usage{Tokens: m.tokens, Context: m.tokens.Total()}}
	if m.aborted {
		end.Error = "the request was interrupted"
	} else {
		d.failure, d.quota = "", nil
	}
	emit(end)
	emit(d.usage.turn(m.tokens))
}

// fail emits an error. Claude says it with a synthetic message and again with its
// result; of a rate limit an event before them has the time.
func (d *claudeDecoder) fail(e stream.Error, emit func(stream.Event)) {
	if d.quota != nil && e.Kind == stream.KindRateLimit && e.ResetsAt.IsZero() {
		e.ResetsAt = d.quota.ResetsAt
	}
	d.failure.tell(e, emit)
}

// user reads the results of tools and skips everything else that a user line has.
func (d *claudeDecoder) user(line []byte, emit func(stream.Event)) error {
	var parent string
	var content []byte
	var task claudeTask
	c := jsoncursor.New(line)
	c.Members("parent_tool_use_id", &parent, "tool_use_result", func() { task = readClaudeTask(c) },
		"message", func() { c.Members("content", &content) })
	if !c.Done() {
		return ErrMalformed
	}
	blocks := jsoncursor.New(content)
	for a := blocks.Array(); a.Next(); {
		r, isResult := stream.ToolResult{ParentToolCallID: parent}, false
		blocks.Members("type", func() { isResult = blocks.Text() == "tool_result" }, "tool_use_id", &r.ID,
			"content", func() { r.Output = contentText(blocks.Raw()) }, "is_error", &r.IsError)
		if isResult {
			d.calls.Drop(r.ID)
			if m := d.message([]byte(r.ID)); m != nil && r.ID != "" && task.status != "async_launched" {
				d.finish(m, emit) // its agent's last message
			}
			if task.status == "async_launched" { // it has begun; a system line tells its end
				d.background.Put(r.ID, parent)
				continue
			}
			if task.status == "completed" && task.spent != (stream.Spent{}) {
				r.Output, r.Spent = cmp.Or(task.said, r.Output), task.spent
			}
			emit(r)
		}
	}
	return nil
}

// claudeTask is what claude knows of an agent that another had work, beside what that one says.
type claudeTask struct {
	status string
	said   string // its last message; the result has it with notes for its caller around it
	spent  stream.Spent
}

func readClaudeTask(c *jsoncursor.Cursor) (t claudeTask) {
	c.Members("status", &t.status, "content", func() { t.said = contentText(c.Raw()) }, "totalTokens", &t.spent.Tokens,
		"total_tokens", &t.spent.Tokens,
		"totalDurationMs", func() { t.spent.Duration = milliseconds{jsoncursor.Int(c.Count())}.duration() },
		"duration_ms", func() { t.spent.Duration = milliseconds{jsoncursor.Int(c.Count())}.duration() })
	return t
}

// taskEnded ends the call of an agent that worked in the background. claude tells of
// other tasks in the same way.
func (d *claudeDecoder) taskEnded(s claudeSystem, emit func(stream.Event)) {
	parent, ok := d.background.Get(s.ID)
	if !ok {
		return
	}
	d.background.Drop(s.ID)
	if m := d.message([]byte(s.ID)); m != nil {
		d.finish(m, emit)
	}
	spent := readClaudeTask(jsoncursor.New(s.Usage)).spent
	emit(stream.ToolResult{ID: s.ID, Output: s.Summary, IsError: s.Status != "completed", ParentToolCallID: parent, Spent: spent})
}

// claudeQuota is the state of a window of the subscription.
type claudeQuota struct {
	ResetsAt    jsoncursor.Int // seconds since 1970
	Utilization amount
}

func (q claudeQuota) of(window string) stream.Quota {
	quota := stream.Quota{Window: window, Utilization: q.Utilization.USD}
	if q.ResetsAt > 0 {
		quota.ResetsAt = time.Unix(int64(q.ResetsAt), 0).UTC()
	}
	return quota
}

// rateLimit reads the state of the window that counts at the moment, then of the
// others.
func (d *claudeDecoder) rateLimit(line []byte, emit func(stream.Event)) error {
	var ev struct {
		Info struct {
			Status  string
			Window  string `json:"rateLimitType"`
			Overage bool   `json:"isUsingOverage"` // beyond the window, paid for separately
			claudeQuota
			Windows map[string]claudeQuota `json:"unifiedWindows"`
		} `json:"rate_limit_info"`
	}
	if err := readEvent(line, &ev); err != nil {
		return err
	}
	info := ev.Info
	quota := info.of(info.Window)
	quota.Rejected = info.Status == "rejected" && !info.Overage
	if quota.Rejected {
		d.finishAll(false, emit) // the refused request is another one
		d.quota = &quota
	}
	emit(quota)
	for _, name := range slices.Sorted(maps.Keys(info.Windows)) {
		if name != info.Window {
			emit(info.Windows[name].of(name))
		}
	}
	return nil
}
