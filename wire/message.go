package wire

import "encoding/json"

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
