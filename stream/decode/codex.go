package decode

import (
	"cmp"
	"strconv"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// codexDecoder reads what codex writes with exec --json. It tells tokens, and no
// cost.
//
//	stream = thread.started item* turn+
//	turn   = turn.started (item | error)* (turn.completed | turn.failed)
//	item   = [item.started item.updated*] item.completed
//
// An item is a message, a thought or a tool, and each line has all of it so far.
// Only tools are announced before they are complete. The items before the first
// turn are warnings. An error says that codex tries again, or why the turn will
// fail. The end of a turn ends the run, and has the tokens of that turn alone.
type codexDecoder struct {
	common
	failure lastFailure
}

// codexEvent holds the fields of all the kinds of events that matter.
type codexEvent struct {
	Type     string
	ThreadID string      `json:"thread_id"`
	Message  string      // of error
	Error    errorObject // of turn.failed
	Item     codexItem
	Usage    codexUsage
}

type codexUsage struct {
	Input      jsoncursor.Int `json:"input_tokens"`
	CacheRead  jsoncursor.Int `json:"cached_input_tokens"`
	CacheWrite jsoncursor.Int `json:"cache_write_input_tokens"`
	Output     jsoncursor.Int `json:"output_tokens"`
}

// tokens splits a turn's usage: its input counts what came from the cache, and
// what went there, too.
func (u codexUsage) tokens() stream.Tokens {
	return tokensOf(max(u.Input-u.CacheRead-u.CacheWrite, 0), u.Output, u.CacheRead, u.CacheWrite)
}

func (d *codexDecoder) Decode(line []byte, emit func(stream.Event)) error {
	var ev codexEvent
	if err := readEvent(line, &ev); err != nil {
		return err
	}
	switch ev.Type {
	case "thread.started":
		emit(stream.SessionStart{Backend: "codex", SessionID: ev.ThreadID})
	case "turn.started":
		d.done = false
	case "item.started", "item.updated":
		d.progress(ev.Item, emit)
	case "item.completed":
		d.complete(ev.Item, emit)
	case "turn.completed":
		d.turnEnds(stream.TurnEnd{StopReason: "completed", Usage: stream.Usage{Tokens: ev.Usage.tokens()}}, emit)
		d.done = true
	case "turn.failed":
		e := stream.ClassifyError(0, cmp.Or(ev.Error.message, "the turn failed"), time.Now())
		d.failure.tell(e, emit)
		emit(stream.TurnEnd{StopReason: "failed", Error: e.Message})
		d.done = true
	case "error":
		if r, ok := codexRetry(ev.Message); ok {
			emit(r)
		} else {
			d.failure.tell(stream.ClassifyError(0, ev.Message, time.Now()), emit)
		}
	}
	return nil
}

var codexReconnecting = lazy.Regexp(`^Reconnecting\.\.\. (\d+)/(\d+)(?: \((.*)\))?$`)

// codexRetry reads the error that says that codex tries again. There is no event
// for that: a failure that counts has the same type, and other words.
func codexRetry(message string) (r stream.Retry, ok bool) {
	m := codexReconnecting().FindStringSubmatch(message)
	if m == nil {
		return stream.Retry{}, false
	}
	e := stream.ClassifyError(0, m[3], time.Now())
	r = stream.Retry{Kind: e.Kind, Message: e.Message}
	r.Attempt, _ = strconv.Atoi(m[1])
	r.MaxAttempts, _ = strconv.Atoi(m[2])
	return r, true
}
