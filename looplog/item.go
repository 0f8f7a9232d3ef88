package looplog

import (
	"encoding/json"

	"ralph-lsp/verify"
	"ralph-lsp/wire"
)

// Item is an update of a log, as JSON.
type Item struct {
	JSON      json.RawMessage
	Text      bool // of a message
	Iteration int

	kind    kind
	amount  int     // how much of its kind it is
	message message // of a chunk, and of what takes it back
	latest  bool    // it says all there is to say, each time
}

// message tells a message from others of its iteration.
type message struct{ id, parent string }

// kind is what an item is counted as.
type kind string

// The kinds.
const (
	passing       kind = ""  // not counted: it isn't kept, or says all there is to say each time
	kindText      kind = "t" // in bytes, and for each subagent by itself
	kindThought   kind = "h"
	kindUser      kind = "u"
	kindDiscard   kind = "d"
	kindCall      kind = "c"
	kindResult    kind = "r"
	kindSubResult kind = "s" // of a subagent's tool: the file has it at once, the others with their turn
	kindIteration kind = "i"
	kindSession   kind = "S"
	kindRetry     kind = "y"
	kindShrink    kind = "k"
	kindTopic     kind = "o"
	kindGoal      kind = "g"
	kindPromise   kind = "p"
	kindGuidance  kind = "G"
	kindVerify    kind = "v"
	kindQuestion  kind = "q"
	kindAnswer    kind = "a"
	kindLimits    kind = "l"
	kindWarning   kind = "w"
	kindError     kind = "e"
	kindNote      kind = "n"
	kindEnd       kind = "E"
)

// kindOf returns what an update is counted as.
func kindOf(u wire.Update) kind {
	switch u := u.(type) {
	case wire.Chunk:
		switch {
		case u.SessionUpdate == wire.KindMessageChunk:
			return textOf(u.ParentToolCallID)
		case u.ParentToolCallID == "":
			return kindThought
		}
		return passing // what subagents think
	case wire.ToolCallUpdate:
		switch {
		case u.Status == wire.StatusInProgress:
			return passing
		case u.ParentToolCallID == "":
			return kindResult
		}
		return kindSubResult
	case wire.UsageUpdate, wire.StateChange:
		return passing
	case wire.UserChunk:
		return kindUser
	case wire.Discard:
		return kindDiscard
	case wire.ToolCall:
		return kindCall
	case wire.Iteration:
		return kindIteration
	case wire.SessionUpdate:
		return kindSession
	case wire.Retry:
		return kindRetry
	case wire.Compaction:
		return kindShrink
	case wire.Topic:
		return kindTopic
	case wire.Goal:
		return kindGoal
	case wire.Promise:
		return kindPromise
	case wire.Verify:
		if u.State == string(verify.Running) {
			return passing
		}
		return kindVerify
	case wire.Guidance:
		return kindGuidance
	case wire.Question:
		return kindQuestion
	case wire.AnswerUpdate:
		return kindAnswer
	case wire.Limits:
		return kindLimits
	case wire.Warning:
		return kindWarning
	case wire.ErrorUpdate, wire.MissingAgentUpdate:
		return kindError
	case wire.Note:
		return kindNote
	case wire.End:
		return kindEnd
	case wire.StatusUpdate: // of no client's log
		return passing
	}
	return passing
}

// textOf is the kind of the text of a subagent, or of the agent itself.
func textOf(parent string) kind {
	if parent == "" {
		return kindText
	}
	return kindText + kind(shortOf(parent))
}

// NewItem returns the item of an update, with the update as it was encoded.
func NewItem(u wire.Update, encoded json.RawMessage, iteration int) Item {
	item := Item{JSON: encoded, Iteration: iteration, kind: kindOf(u), amount: 1}
	switch u := u.(type) {
	case wire.Chunk:
		item.Text, item.amount = true, len(u.Content.Text)
		item.message = message{u.MessageID, u.ParentToolCallID}
	case wire.UserChunk:
		item.amount = len(u.Content.Text)
	case wire.Discard:
		item.Text = true // it takes back what wasn't shown
		item.message = message{u.MessageID, u.ParentToolCallID}
	case wire.UsageUpdate:
		item.latest = true
	}
	return item
}

// behind returns what is left of a text without its first n bytes.
func (it Item) behind(n int) Item {
	var u wire.UserChunk // it has all fields but the parent's
	if json.Unmarshal(it.JSON, &u) != nil || n > len(u.Content.Text) {
		return it // we wrote it ourselves
	}
	u.Content.Text = u.Content.Text[n:]
	var rest wire.Update = u
	if it.kind != kindUser {
		rest = wire.Chunk{SessionUpdate: u.SessionUpdate, MessageID: u.MessageID, ParentToolCallID: it.message.parent, Content: u.Content}
	}
	if encoded, err := wire.NewEncoder().Encode(rest, false); err == nil {
		it.JSON, it.amount = encoded, it.amount-n
	}
	return it
}
