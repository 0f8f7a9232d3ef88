package terminal

import (
	"bytes"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// kindOf is what an update is.
func kindOf(update []byte) string {
	rest, _ := bytes.CutPrefix(update, []byte(`{"sessionUpdate":"`))
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(kind)
}

// EndOf is the end that an update of a loop's end was made of; ok is false for another update.
func EndOf(update []byte) (e loop.End, ok bool) {
	var u struct { // its keys are those of the record, but for one
		loop.End
		DurationMs int64
	}
	if kindOf(update) != wire.KindEnd || json.Unmarshal(update, &u) != nil {
		return e, false
	}
	u.Duration = history.DurationOf(u.DurationMs)
	return u.End, true
}

// IterationOf is an update of an iteration; ok is false for another one.
func IterationOf(update []byte) (u wire.Iteration, ok bool) {
	ok = kindOf(update) == wire.KindIteration && json.Unmarshal(update, &u) == nil
	return u, ok
}
