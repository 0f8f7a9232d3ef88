package terminal

import (
	"bytes"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// kindOf is what an update is.
func kindOf(it journal.Item) string {
	rest, _ := bytes.CutPrefix(it.JSON, []byte(`{"sessionUpdate":"`))
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(kind)
}

// EndOf is the end that an update of a loop's end was made of; ok is false for another update.
func EndOf(update []byte) (e loop.End, ok bool) {
	var u struct { // its keys are those of the record, but for two
		history.LoopEnd
		SessionUpdate string
		UnknownCosts  int
	}
	if json.Unmarshal(update, &u) != nil || u.SessionUpdate != wire.KindEnd {
		return e, false
	}
	u.LoopEnd.UnknownCosts = u.UnknownCosts
	return loop.EndOfRecord(u.LoopEnd), true
}

// IterationOf is an update of an iteration; ok is false for another one.
func IterationOf(update []byte) (u wire.Iteration, ok bool) {
	ok = json.Unmarshal(update, &u) == nil && u.SessionUpdate == wire.KindIteration
	return u, ok
}
