package terminal

import (
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// EndOf is the end that an update of a loop's end was made of; ok is false for another update.
func EndOf(update []byte) (e loop.End, ok bool) {
	var u struct { // its keys are those of the record, but for one
		loop.End
		DurationMs int64
	}
	if wire.KindOf(update) != wire.KindEnd || json.Unmarshal(update, &u) != nil {
		return e, false
	}
	u.Duration = history.DurationOf(u.DurationMs)
	return u.End, true
}

// IterationOf is an update of an iteration; ok is false for another one.
func IterationOf(update []byte) (u wire.Iteration, ok bool) {
	ok = wire.KindOf(update) == wire.KindIteration && json.Unmarshal(update, &u) == nil
	return u, ok
}

// WarningOf is what an update warns of; ok is false for another one.
func WarningOf(update []byte) (text string, ok bool) {
	var u wire.Warning
	ok = wire.KindOf(update) == wire.KindWarning && json.Unmarshal(update, &u) == nil
	return u.Message, ok
}

// IsUnderWay says whether an update tells that a loop has begun to work, or waits for something.
func IsUnderWay(update []byte) bool {
	var u wire.StateChange
	switch wire.KindOf(update) {
	case wire.KindIteration, wire.KindEnd:
		return true
	case wire.KindState:
		return json.Unmarshal(update, &u) == nil && u.State != string(loop.StateRunning) && u.State != string(loop.StateStarting)
	}
	return false
}
