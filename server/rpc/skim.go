package rpc

import (
	"bytes"
	"encoding/json"
)

// skim looks at a message that is too long to be kept, as it goes by: what is
// to be known for an answer stands in the outermost object, often behind the
// params.
type skim struct {
	id        json.RawMessage // nil: none that can be told
	hasID     bool
	hasMethod bool

	depth    int
	isKey    bool // a text now is the name of a key of the outermost object
	inText   bool
	escaped  bool
	key      string
	scalar   []byte // a key, or a value that is no table or list, of the outermost object
	tooLong  bool   // it is longer than maxSkimmed
	finished bool   // the outermost object is closed
}

const (
	maxSkimmed = 256       // bytes of an id that is given back
	maxLook    = 256 << 20 // bytes of a message that are looked at
)

func (s *skim) Write(p []byte) (int, error) {
	for i := 0; i < len(p); i++ {
		if s.inText && s.depth > 1 && !s.escaped { // most of a long message
			n := bytes.IndexAny(p[i:], `"\\`)
			if n < 0 {
				break
			}
			i += n
		}
		s.step(p[i])
	}
	return len(p), nil
}

func (s *skim) step(c byte) {
	switch {
	case s.inText:
		s.keep(c)
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.inText = false
		}
		return
	case c == '"':
		s.inText = true
	case c == '{' || c == '[':
		s.depth++
		s.isKey = s.depth == 1 && c == '{'
		return
	case c == '}' || c == ']':
		if s.depth--; s.depth == 0 {
			s.endValue()
			s.finished = true
		}
		return
	case s.depth == 1 && c == ':':
		s.key, s.isKey = string(s.scalar), false
		s.scalar, s.tooLong = s.scalar[:0], false
		return
	case s.depth == 1 && c == ',':
		s.endValue()
		s.isKey = true
		return
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		return
	}
	s.keep(c)
}

// keep keeps a byte of the outermost object's keys and values.
func (s *skim) keep(c byte) {
	if s.depth != 1 || s.finished {
		return
	}
	if s.tooLong = s.tooLong || len(s.scalar) == maxSkimmed; !s.tooLong {
		s.scalar = append(s.scalar, c)
	}
}

// endValue takes down what a key's value was.
func (s *skim) endValue() {
	switch s.key {
	case `"id"`:
		s.hasID, s.id = true, nil
		if !s.tooLong && json.Valid(s.scalar) {
			s.id = answerable(bytes.Clone(s.scalar))
		}
	case `"method"`:
		s.hasMethod = true
	}
	s.key, s.scalar, s.tooLong = "", s.scalar[:0], false
}

// wantsAnswer says whether somebody waits for an answer, as far as it is known.
// A notification and a response have none.
func (s *skim) wantsAnswer() bool {
	if !s.finished {
		return true
	}
	return s.hasMethod == s.hasID
}
