package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Other is an update of a kind that this version doesn't know.
type Other struct {
	SessionUpdate string `json:"sessionUpdate"`
	Said
}

// decoders read the updates of each kind.
var decoders = map[string]func([]byte) Update{
	KindMessageChunk: decode[Chunk], KindThoughtChunk: decode[Chunk], KindUserChunk: decode[UserChunk], KindDiscard: decode[Discard],
	KindToolCall: decode[ToolCall], KindToolCallUpdate: decode[ToolCallUpdate], KindUsage: decode[UsageUpdate], KindSession: decode[SessionUpdate],
	KindIteration: decode[Iteration], KindState: decode[StateChange], KindRetry: decode[Retry], KindCompaction: decode[Compaction],
	KindTopic: decode[Topic], KindGoal: decode[Goal], KindPromise: decode[Promise], KindVerify: decode[Verify], KindGuidance: decode[Guidance],
	KindQuestion: decode[Question], KindAnswer: decode[AnswerUpdate], KindLimits: decode[Limits], KindWarning: decode[Warning],
	KindError: decode[ErrorUpdate], KindEnd: decode[End], KindNote: decode[Note], OnceStatus: decode[StatusUpdate],
}

func decode[U any](update []byte) Update {
	var u U
	if json.Unmarshal(update, &u) != nil {
		return nil
	}
	return u
}

// Decode reads an update in its JSON as the struct of this package that its kind has, an Other
// for an unknown kind. It returns nil for what can't be read. Nobody else reads updates.
func Decode(update []byte) Update {
	kind := KindOf(update)
	if read := decoders[kind]; read != nil {
		return read(update)
	}
	if kind == "" {
		return nil
	}
	return decode[Other](update)
}

// updateHead is what an update begins with, as Encoder writes it.
var updateHead = []byte(`{"sessionUpdate":"`)

// KindOf is what an update in its JSON is, "" for none of ours.
func KindOf(update []byte) string {
	rest, isOurs := bytes.CutPrefix(update, updateHead)
	if kind, _, ends := bytes.Cut(rest[:min(len(rest), 64)], []byte(`"`)); isOurs && ends {
		return string(kind)
	}
	head, _ := decode[Other](update).(Other) // who has changed one on its way may have sorted its keys
	return head.SessionUpdate
}

// Stamp says where a line of JSON that stands by itself belongs: its keys follow those of the update.
type Stamp struct {
	LoopID    string    `json:"loopId,omitempty"`
	Iteration int       `json:"iteration,omitempty"`
	Time      time.Time `json:"time,omitzero"`
}

// StampOf is the stamp of such a line, as far as it has one.
func StampOf(line []byte) (s Stamp) {
	_ = json.Unmarshal(line, &s)
	return s
}

// SaidIn is what a person is told with an update; the zero value is nothing.
func SaidIn(u Update) Said {
	if u, ok := u.(interface{ said() Said }); ok {
		return u.said()
	}
	return Said{}
}

// Of is the loop's end that an update tells, without what only its own process knows.
func (e End) Of() loop.End {
	return loop.End{
		Reason: loop.StopReason(e.StopReason), Promise: e.Promise, Iterations: e.Iterations, Limit: e.Limit, Cost: e.Cost, Unknown: e.UnknownCosts, Hats: e.Hats, Tokens: *cmp.Or(e.Tokens, new(Tokens)),
		Duration: history.DurationOf(e.DurationMs), Error: e.Error, Denials: e.Denials, Changes: e.Changes, Verified: e.Verified, Guards: e.Guards,
	}
}
