package history

import (
	"bytes"
	"errors"
	"io"
)

const (
	maxLine     = 16 << 20 // bytes; a longer line is skipped
	firstBuffer = 64 << 10
	quickBuffer = 256 << 10 // larger ones would fall out of the CPU's cache
)

// lineReader reads a file line by line and knows where it is, so that somebody
// can go on from there.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int
	offset     int64 // in the file, of buf[start]
	skipped    int   // lines that are too long
	torn       bool  // the last line had no newline
	err        error // of r
}

// newLineReader reads from r, which stands at offset in its file.
func newLineReader(r io.Reader, offset int64) *lineReader {
	return &lineReader{r: r, buf: make([]byte, firstBuffer), offset: offset}
}

// next returns a line without its ending, valid until the next call. The last
// one may be cut off; torn says so. The end is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	tooLong, searched := false, 0
	for {
		if n := bytes.IndexByte(l.buf[l.start+searched:l.end], '\n'); n >= 0 {
			line := l.take(searched+n, 1)
			if !tooLong && len(line) <= maxLine {
				return line, nil
			}
			l.skipped++
			tooLong, searched = false, 0
			continue
		}
		searched = l.end - l.start
		if searched > maxLine {
			tooLong = true
			l.take(searched, 0)
			searched = 0
		}
		if l.err == nil {
			l.fill()
			continue
		}
		if searched == 0 && !tooLong {
			return nil, l.err
		}
		l.torn = true
		line := l.take(searched, 0)
		if tooLong {
			l.skipped++
			return nil, l.err
		}
		return line, nil
	}
}

// take goes behind n bytes and an ending, and returns the bytes without a CR.
func (l *lineReader) take(n, ending int) []byte {
	line := l.buf[l.start : l.start+n]
	l.start += n + ending
	l.offset += int64(n + ending)
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// fill reads more behind what is there.
func (l *lineReader) fill() {
	if l.start == l.end {
		l.start, l.end = 0, 0
	}
	if l.end == len(l.buf) {
		to := l.buf
		if l.end-l.start > len(l.buf)/2 || len(l.buf) < quickBuffer {
			to = make([]byte, 2*len(l.buf))
		}
		l.end = copy(to, l.buf[l.start:l.end])
		l.start, l.buf = 0, to
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	l.err = err
}

// failure returns why the reading is over, nil for the end of the file.
func (l *lineReader) failure(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
