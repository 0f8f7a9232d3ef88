package wire

import (
	"encoding/json"
	"slices"
)

// LogPart is a piece of a log that can be read by itself, in pages: from its cursor on, before the next one's.
type LogPart struct {
	Cursor    string `json:"cursor"`
	Iteration int    `json:"iteration,omitempty"` // 0: before the first
	Bytes     int64  `json:"bytes"`               // of the session file
}

// Outline lists the parts of a log, for readers that want only some.
type Outline struct {
	Parts      []LogPart         `json:"parts"`
	Iterations []json.RawMessage `json:"iterations"` // the last _ralph/iteration of each: its end, or its begin while it runs
	Cursor     string            `json:"cursor"`     // behind the parts
}

// Begin is from where an iteration can be read: at most the last so many of its parts. isCut says that this
// isn't its beginning.
func (o Outline) Begin(iteration, parts int) (cursor string, isCut bool) {
	isOf := func(p LogPart) bool { return p.Iteration == iteration }
	first := slices.IndexFunc(o.Parts, isOf)
	if first < 0 {
		return o.Cursor, false
	}
	end := first
	for end < len(o.Parts) && isOf(o.Parts[end]) {
		end++
	}
	at := max(first, end-parts)
	return o.Parts[at].Cursor, at > first
}
