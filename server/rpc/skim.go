package rpc

import (
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

const (
	maxSkimmed = 256     // bytes of an id that is given back
	maxLook    = 4 << 10 // bytes of a message's beginning, and of its end, that are looked at
)

// The members in front of the params, and those behind them: none of their values has members of its own.
var (
	plainMember  = `("[^"\\]*")\s*:\s*("(?:[^"\\]|\\.)*"|[-+.\w]+)\s*`
	firstMembers = lazy.Regexp(`^\s*\{\s*(?:` + plainMember + `,?\s*)*`)
	lastMembers  = lazy.Regexp(`(?:,\s*` + plainMember + `)*\}\s*$`)
	members      = lazy.Regexp(plainMember)
)

// skim looks at a message that is too long to be kept. The keys that an answer needs stand in the outermost object,
// before or after the params. The id is nil where none can be found. A notification and a response want no answer.
func skim(head, tail []byte) (id json.RawMessage, wantsAnswer bool) {
	var hasID, hasMethod bool
	for _, m := range members().FindAllSubmatch(slices.Concat(firstMembers().Find(head), lastMembers().Find(tail)), -1) {
		switch string(m[1]) {
		case `"id"`:
			hasID, id = true, nil
			if len(m[2]) <= maxSkimmed && json.Valid(m[2]) {
				id = answerable(m[2])
			}
		case `"method"`:
			hasMethod = true
		}
	}
	return id, hasID == hasMethod
}
