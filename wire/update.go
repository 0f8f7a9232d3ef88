package wire

import (
	"bytes"
	"encoding/json"
	"time"
)

// Update is one entry of a ralph/update notification, with the names and the enums of the Agent Client Protocol;
// others are named _ralph/... A value that doesn't apply is left out of the JSON, never null. It is a struct of this
// package that begins with SessionUpdate, or a Raw.
type Update any

// TextContent is a content block of text.
type TextContent struct {
	Type string `json:"type"` // "text"
	Text string `json:"text"`
}

// MissingAgentUpdate tells of a start that found no agent. Only the terminal
// prints it: an editor gets the same as the data of an error.
type MissingAgentUpdate struct {
	ErrorUpdate
	MissingAgent
}

// MissingAgent has the details of an agent that isn't installed.
type MissingAgent struct {
	Checked []string          `json:"checked"`           // the programs that were looked for
	Path    string            `json:"path,omitempty"`    // where
	Install map[string]string `json:"install,omitempty"` // how to install each agent
}

// Raw is an update in its JSON, for who has read one back.
type Raw = json.RawMessage

// The kinds of what comes from neither agent nor loop.
const (
	KindUserChunk = "user_message_chunk" // a UserChunk: a message to the agent
	KindNote      = "_ralph/note"        // a Note
)

// UserChunk is a piece of what the agent was told.
type UserChunk struct {
	SessionUpdate string      `json:"sessionUpdate"` // KindUserChunk
	MessageID     string      `json:"messageId,omitempty"`
	Content       TextContent `json:"content"`
}

// Note is a remark that no other update has, such as that one was too long for a bus.
type Note struct {
	SessionUpdate string `json:"sessionUpdate"` // KindNote
	Label         string `json:"label"`         // its subject
	Text          string `json:"text,omitempty"`
}

// otherKinds read the updates that come from neither agent nor loop.
var otherKinds = map[string]func([]byte) Update{
	KindUserChunk: decode[UserChunk], KindNote: decode[Note], OnceStatus: decode[StatusUpdate],
}

// Other is an update of a kind that this version doesn't know.
type Other struct {
	SessionUpdate string `json:"sessionUpdate"`
	Notice
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
	for _, kinds := range []map[string]func([]byte) Update{agentKinds, loopKinds, otherKinds} {
		if read := kinds[kind]; read != nil {
			return read(update)
		}
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

// NoticeIn is what a person is told with an update; the zero value is nothing.
func NoticeIn(u Update) Notice {
	if u, ok := u.(interface{ notice() Notice }); ok {
		return u.notice()
	}
	return Notice{}
}

// MethodUpdate is the notification that carries a loop's updates.
const MethodUpdate = "ralph/update"

// UpdateParams are the parameters of ralph/update.
type UpdateParams struct {
	LoopID    string            `json:"loopId"`
	Iteration int               `json:"iteration,omitempty"`
	After     string            `json:"after,omitempty"`  // the cursor before the first update; absent: something is left out before
	Cursor    string            `json:"cursor,omitempty"` // the cursor behind the last one
	Dropped   int               `json:"dropped"`          // pieces of text, outputs and so on left out since the last notification
	Updates   []json.RawMessage `json:"updates"`          // each an Update
}

// The levels of ralph/setUpdates.
const (
	LevelNone  = "none"
	LevelTools = "tools" // all but the agent's text and thoughts
	LevelAll   = "all"
)

// MethodSetUpdates chooses the level of the updates: LevelNone, LevelTools or
// LevelAll.
const MethodSetUpdates = "ralph/setUpdates"

// SetUpdatesParams are the params of MethodSetUpdates.
type SetUpdatesParams struct {
	Level string `json:"level"` // LevelNone or LevelTools or LevelAll
}
