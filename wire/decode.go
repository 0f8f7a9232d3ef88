package wire

import (
	"bytes"
	"encoding/json"
	"time"
)

// Other is an update of a kind that this version doesn't know.
type Other struct {
	SessionUpdate string `json:"sessionUpdate"`
	Said
}

// decoders read the updates of each kind.
var decoders = map[string]func([]byte) Update{
	KindMessageChunk: decode[Chunk], KindThoughtChunk: decode[Chunk], KindUserChunk: decode[UserChunk], KindDiscard: decode[Discard],
	KindToolCall: decode[ToolCall], KindToolCallUpdate: decode[ToolCallUpdate], KindUsage: decode[UsageUpdate],
	KindSession:   decode[SessionUpdate],
	KindIteration: decodeIteration, KindState: decode[StateChange], KindRetry: decode[Retry], KindCompaction: decode[Compaction],
	KindTopic: decode[Topic], KindGoal: decode[Goal], KindPromise: decode[Promise], KindVerify: decode[Verify], KindGuidance: decode[Guidance],
	KindQuestion: decode[Question], KindAnswer: decode[Answered], KindLimits: decode[Limits], KindWarning: decode[Warning],
	KindError: decode[ErrorUpdate], KindEnd: decode[End], KindNote: decode[Note], OnceStatus: decode[StatusUpdate],
}

func decode[U any](update []byte) Update {
	var u U
	if json.Unmarshal(update, &u) != nil {
		return nil
	}
	return u
}

func decodeIteration(update []byte) Update {
	if begin, ok := decode[Iteration](update).(Iteration); ok && begin.Phase == PhaseBegin {
		return begin
	}
	return decode[IterationEnd](update)
}

// IterationOf is which iteration an update opens, or closes; ok is false for another update.
func IterationOf(u Update) (number int, isOver, ok bool) {
	switch u := u.(type) {
	case Iteration:
		return u.Iteration, false, true
	case IterationEnd:
		return u.Iteration, true, true
	}
	return 0, false, false
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
	head, _ := decode[Other](update).(Other) // a program on its way may have sorted its keys
	return head.SessionUpdate
}

// Stamp says where a line of JSON that stands by itself belongs: its keys follow the update's.
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
