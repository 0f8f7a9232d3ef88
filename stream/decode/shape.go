package decode

import (
	"bytes"
	"strconv"
	"strings"
)

// shape remembers a line with a delta: the bytes before the delta, and those
// behind it that were read. Thousands of lines in a row have the same shape,
// and a line that has it means the same with another delta, so that it needn't
// be parsed.
type shape struct {
	before, after []byte
	kind, parent  []byte // what it says besides the delta
}

// maxShape bounds what is remembered; lines with snapshots before the delta
// never look the same anyway.
const maxShape = 4 << 10

// learn takes the shape of a line whose delta is the string at line[start:end],
// quotes included, and which was read up to stop. The byte there belongs to it:
// without it a line that goes on with "null0" would look like one with "null".
func (s *shape) learn(line []byte, start, end, stop int, kind, parent []byte) {
	s.before = s.before[:0]
	if stop == len(line) || start+stop-end > maxShape {
		return
	}
	s.before = append(s.before, line[:start]...)
	s.after = append(s.after[:0], line[end:stop+1]...)
	s.kind, s.parent = append(s.kind[:0], kind...), append(s.parent[:0], parent...)
}

// delta returns the contents of the delta of a line that has the shape.
func (s *shape) delta(line []byte) (delta []byte, ok bool) {
	if len(s.before) == 0 || !bytes.HasPrefix(line, s.before) {
		return nil, false
	}
	delta, rest, ok := cutString(line[len(s.before):])
	return delta, ok && bytes.HasPrefix(rest, s.after) && isContents(delta)
}

// isContents says whether bytes can stand in a JSON string, which neither has control characters nor every escape.
func isContents(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] < ' ':
			return false
		case text[i] != '\\':
			continue
		}
		if i++; i == len(text) || strings.IndexByte(`"\/bfnrtu`, text[i]) < 0 {
			return false
		}
		if text[i] != 'u' {
			continue
		}
		if i += 4; i >= len(text) {
			return false
		}
		if _, err := strconv.ParseUint(string(text[i-3:i+1]), 16, 16); err != nil {
			return false
		}
	}
	return true
}

// cutString returns the contents of the JSON string that a line begins with, and what is behind it.
func cutString(line []byte) (contents, rest []byte, ok bool) {
	if !bytes.HasPrefix(line, []byte{'"'}) {
		return nil, nil, false
	}
	for end := 1; ; end++ {
		n := bytes.IndexByte(line[end:], '"')
		if n < 0 {
			return nil, nil, false
		}
		if end += n; !escapesNext(line[:end]) {
			return line[1:end], line[end+1:], true
		}
	}
}
