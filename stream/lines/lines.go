// Package lines cuts what a program prints into lines, of any length, with each byte copied once.
package lines

import (
	"bytes"
	"io"
)

// Max is the length in bytes up to which a line of an agent is read.
const Max = 64 << 20

// The buffer starts small, because most agents write little and many
// may run at once, and grows when a reader keeps filling it.
const (
	firstBuffer = 64 << 10
	quickBuffer = 512 << 10 // more gains no speed: it would fall out of the CPU's cache
)

// maxEmptyReads is how often in a row a reader may return nothing at all.
const maxEmptyReads = 100

// Each calls yield for each line of r without its ending: lines are split at
// LF, and one CR before it is dropped. A line is valid until yield returns.
// Lines of more than max bytes are skipped and counted. cut says that the last
// line had no LF. An error of yield ends the reading and is returned, an error
// of r other than io.EOF is returned after what came before it.
func Each(r io.Reader, max int, yield func(line []byte, cut bool) error) (skipped int, err error) {
	s := lineSplitter{max: max, yield: yield}
	if mem, ok := r.(*bytes.Reader); ok {
		_, err = mem.WriteTo(&s)
		return s.skipped, err
	}
	s.buf = make([]byte, firstBuffer)
	for empty := 0; err == nil; {
		n, rerr := r.Read(s.space())
		empty++
		if n > 0 {
			empty = 0
		}
		err = s.add(n)
		switch {
		case err != nil:
		case rerr != nil:
			err = s.close(rerr)
		case empty == maxEmptyReads:
			err = s.close(io.ErrNoProgress)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return s.skipped, err
}

// lineSplitter holds the bytes between the reader and the lines: buf[start:end]
// is the beginning of a line whose LF hasn't come yet.
type lineSplitter struct {
	buf        []byte
	start, end int
	max        int
	skipping   bool // the line in progress is too long: drop it up to its LF
	skipped    int
	yield      func(line []byte, cut bool) error
}

// Write takes a stream that is in memory as a whole, without copying it.
func (s *lineSplitter) Write(stream []byte) (int, error) {
	s.buf = stream
	err := s.add(len(stream))
	if err == nil {
		err = s.close(nil)
	}
	return len(stream), err
}

// space returns where the next bytes go. The reader writes right into the
// line's place, so that each byte is copied only once, except for the
// unfinished line that moves to the front when the buffer is used up.
func (s *lineSplitter) space() []byte {
	if s.start == s.end {
		s.start, s.end = 0, 0
	}
	if s.end < len(s.buf) {
		return s.buf[s.end:]
	}
	line := s.buf[s.start:s.end]
	if len(s.buf) < quickBuffer || len(line) == len(s.buf) {
		s.buf = make([]byte, 2*len(s.buf))
	}
	s.start, s.end = 0, copy(s.buf, line)
	return s.buf[s.end:]
}

// add takes n bytes that were read into space and yields the lines that they
// complete. Only the new bytes are searched.
func (s *lineSplitter) add(n int) error {
	fresh := s.end
	s.end += n
	for {
		i := bytes.IndexByte(s.buf[fresh:s.end], '\n')
		if i < 0 {
			break
		}
		line := s.buf[s.start : fresh+i]
		s.start = fresh + i + 1
		fresh = s.start
		if err := s.finish(line, false); err != nil {
			return err
		}
	}
	if s.end-s.start > s.max+len("\r") {
		s.skipping = true
	}
	if s.skipping {
		s.start, s.end = 0, 0
	}
	return nil
}

// close yields the line that has no LF, if there is one, and returns why the
// reading is over.
func (s *lineSplitter) close(reason error) error {
	if s.start == s.end && !s.skipping {
		return reason
	}
	if err := s.finish(s.buf[s.start:s.end], true); err != nil {
		return err
	}
	return reason
}

// finish yields a whole line, or counts it when it is too long.
func (s *lineSplitter) finish(line []byte, cut bool) error {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if s.skipping || len(line) > s.max {
		s.skipping = false
		s.skipped++
		return nil
	}
	return s.yield(line, cut)
}
