package decode

import (
	"bytes"
	"unicode/utf8"
)

// binaryShare counts how much of an output is no text.
type binaryShare struct {
	binary, total int // bytes
}

func (s *binaryShare) add(line []byte) {
	s.total += len(line)
	if bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) {
		s.binary += len(line)
	}
}

// most says whether most of the output is no text. A tool's odd line isn't enough.
func (s *binaryShare) most() bool { return 2*s.binary > s.total }
