package stream

import (
	"cmp"
	"strconv"
	"time"

	"ralph-lsp/internal/jsoncursor"
)

const FormatCodex Format = "codex-json" // codex exec --json

func init() { formats[FormatCodex] = format{decoder: func() Decoder { return &codexDecoder{} }} }

// codexDecoder reads what codex writes with exec --json: items, such as a
// message or a command, that come whole. It tells tokens, and no cost.
type codexDecoder struct {
	calls   map[string]bool // items that were announced as tool calls
	usage   Usage
	failure string // the last error that was emitted, to say it only once
	done    bool
}

func (d *codexDecoder) Done() bool { return d.done }

func (d *codexDecoder) Close(func(Event)) {}

// codexEvent holds the fields of all the kinds of events that matter.
type codexEvent struct {
	kind     string
	threadID string
	message  string // error, turn.failed
	item     codexItem
	tokens   Tokens
}

func readCodexEvent(c *jsoncursor.Cursor) (ev codexEvent) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "type":
			ev.kind = c.Text()
		case "thread_id":
			ev.threadID = c.Text()
		case "message":
			ev.message = c.Text()
		case "error":
			ev.message = readErrorObject(c).message
		case "item":
			ev.item = readCodexItem(c)
		case "usage":
			ev.tokens = readCodexTokens(c)
		}
	}
	return ev
}

// readCodexTokens reads the usage of a turn. Its input counts what came from the
// cache, and what went there, too.
func readCodexTokens(c *jsoncursor.Cursor) (t Tokens) {
	for o := c.Object(); o.Next(); {
		switch string(o.Key) {
		case "input_tokens":
			t.Input = c.Count()
		case "cached_input_tokens":
			t.CacheRead = c.Count()
		case "cache_write_input_tokens":
			t.CacheWrite = c.Count()
		case "output_tokens":
			t.Output = c.Count()
		}
	}
	t.Input = max(t.Input-t.CacheRead-t.CacheWrite, 0)
	return t
}

func (d *codexDecoder) Decode(line []byte, emit func(Event)) error {
	if kind, err := lineType(line); err != nil || kind == nil {
		return cmp.Or(err, checkLine(line))
	}
	c := jsoncursor.New(line)
	ev := readCodexEvent(c)
	if !c.Done() {
		return ErrMalformed
	}
	switch ev.kind {
	case "thread.started":
		emit(SessionStart{Backend: "codex", SessionID: ev.threadID})
	case "turn.started":
		d.done = false
	case "item.started", "item.updated":
		d.progress(ev.item, emit)
	case "item.completed":
		d.complete(ev.item, emit)
	case "turn.completed":
		d.usage.Tokens = d.usage.Tokens.Plus(ev.tokens)
		emit(TurnEnd{StopReason: "completed", Usage: Usage{Tokens: ev.tokens}})
		emit(d.usage)
		d.done = true
	case "turn.failed":
		e := ClassifyError(0, cmp.Or(ev.message, "the turn failed"), time.Now())
		d.fail(e, emit)
		emit(TurnEnd{StopReason: "failed", Error: e.Message})
		d.done = true
	case "error":
		if r, ok := codexRetry(ev.message); ok {
			emit(r)
		} else {
			d.fail(ClassifyError(0, ev.message, time.Now()), emit)
		}
	}
	return nil
}

// fail emits an error, once for each failure: codex says it by itself and again
// at the end of the turn.
func (d *codexDecoder) fail(e Error, emit func(Event)) {
	if e.Message == d.failure {
		return
	}
	d.failure = e.Message
	emit(e)
}

var codexReconnecting = lazy(`^Reconnecting\.\.\. (\d+)/(\d+)(?: \((.*)\))?$`)

// codexRetry reads the error that says that codex tries again.
func codexRetry(message string) (r Retry, ok bool) {
	m := codexReconnecting().FindStringSubmatch(message)
	if m == nil {
		return Retry{}, false
	}
	e := ClassifyError(0, m[3], time.Now())
	r = Retry{Kind: e.Kind, Message: e.Message}
	r.Attempt, _ = strconv.Atoi(m[1])
	r.MaxAttempts, _ = strconv.Atoi(m[2])
	return r, true
}
