// Package looplog is the one ordered log of a loop, over its session file and
// what is live of it. A cursor names a place in it, and means the same to a
// client that listens, to one that asks after a reload, and to one that follows
// the loop of another process.
//
// The file is the log, but it lags behind: what a message came to is written
// when it has ended, and not always in the order in which it was told. So there
// are places at which the file has all that was told (loop.Settled), and what
// is behind the last of them is counted, by kinds: so many bytes of the agent's
// text, so many results of tools. Of each kind the file has the same in the same
// order, so that whoever had a part of it live gets the rest from the file.
package looplog

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"path/filepath"
	"strconv"
)

// Cursor is a place between two updates of a log.
type Cursor struct {
	Log    string `json:"log"`           // which one
	Offset int64  `json:"at"`            // a place in its file, in bytes; without a file the number of the next update
	Had    counts `json:"had,omitempty"` // what comes behind the offset and before this place
	// A line before the offset, in bytes, that begins an iteration: reading may
	// begin there, and what the loop has used by then isn't told. 0: it begins where it has to.
	From int64 `json:"from,omitempty"`
}

// String is the cursor as clients have it. Those of the same place in a log
// that is live are equal.
func (c Cursor) String() string {
	data, err := json.Marshal(c) // maps are sorted
	if err != nil {
		panic(err) // it has nothing that can't be encoded
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// parse reads what a client takes for a cursor of a log. ok is false for what
// isn't one, the beginning included.
func parse(text, log string) (c Cursor, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &c) != nil || c.Log != log || c.Offset < 0 {
		return Cursor{Log: log}, false
	}
	return c, true
}

// nameOf names the log whose file that is.
func nameOf(path string) string { return shortOf(filepath.Base(path)) }

// shortOf is a short name for a long one.
func shortOf(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}
