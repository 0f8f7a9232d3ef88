// Package lines cuts what a program prints, and what a file has, into lines of any length.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Max is the length in bytes up to which a line of an agent is read.
const Max = 64 << 20

// buffer is how much is read at once. Only what is left of an unfinished line is copied once more.
const buffer = 64 << 10

// Reader cuts what it reads into lines.
type Reader struct {
	Start   int64 // where the line begins that Next returned last, in bytes from the beginning
	Whole   int64 // where the last line ends that has an LF
	Skipped int   // lines that were too long

	in   *bufio.Reader
	most int
	end  int64  // of what was read
	long []byte // a line that doesn't fit into the buffer
	err  error  // comes behind the last line
}

// NewReader returns a Reader of lines of at most so many bytes; longer ones are skipped and counted.
func NewReader(r io.Reader, most int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, min(buffer, most+len("\r\n"))), most: most}
}

// Next returns the next line without its ending: lines are split at LF, and one CR before it is dropped. It
// is valid until the next call. isCut says that it is the last, and has no LF. The end is io.EOF.
func (l *Reader) Next() (line []byte, isCut bool, err error) {
	for l.err == nil {
		line := l.read()
		size := l.end - l.Start
		line, hasEnd := bytes.CutSuffix(line, []byte{'\n'})
		if hasEnd {
			l.Whole = l.end
		}
		switch line = bytes.TrimSuffix(line, []byte{'\r'}); {
		case size == 0:
		case size > int64(l.most+len("\r\n")) || len(line) > l.most:
			l.Skipped++
		default:
			return line, !hasEnd, nil
		}
	}
	return nil, false, l.err
}

// read reads a line with its ending. Of one that is too long, something in the middle is missing.
func (l *Reader) read() (line []byte) {
	l.Start, l.long = l.end, l.long[:0]
	for {
		line, l.err = l.in.ReadSlice('\n')
		l.end += int64(len(line))
		isPart := errors.Is(l.err, bufio.ErrBufferFull)
		if !isPart && len(l.long) == 0 {
			return line
		}
		if !isPart || l.end-l.Start <= int64(l.most+len("\r\n")) {
			l.long = append(l.long, line...)
		}
		if !isPart {
			return l.long
		}
	}
}
