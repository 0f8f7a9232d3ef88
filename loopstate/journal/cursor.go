package journal

import (
	"strconv"
	"strings"
)

// cursor is a place between two lines of a journal.
type cursor struct {
	name   string // of the journal, from its first line
	offset int64  // in bytes
}

// String is the cursor as clients have it. Those of one place are equal.
func (c cursor) String() string { return c.name + "." + strconv.FormatInt(c.offset, 10) }

// parseCursor reads what a client takes for a cursor of a journal. ok is false for what
// isn't one, the beginning included.
func parseCursor(text, name string) (offset int64, ok bool) {
	rest, ok := strings.CutPrefix(text, name+".")
	if !ok {
		return 0, false
	}
	offset, err := strconv.ParseInt(rest, 10, 64)
	return offset, err == nil && offset >= 0
}

// splitCursor reads a cursor of whichever journal.
func splitCursor(text string) (c cursor, ok bool) {
	at := strings.LastIndexByte(text, '.')
	if at < 0 {
		return c, false
	}
	c.name = text[:at]
	c.offset, ok = parseCursor(text, c.name)
	return c, ok
}
