package history

import (
	"bufio"
	"bytes"
	"io"
)

const (
	maxLine    = 16 << 20 // bytes; a longer line is skipped
	lineBuffer = 256 << 10
)

// lineReader reads a file line by line and knows where it is.
type lineReader struct {
	r      *bufio.Reader
	long   []byte // a line that is longer than r's buffer
	offset int64  // in the file, behind the last line
	torn   bool   // the last line had no newline
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, lineBuffer)}
}

// next returns a line without its ending, valid until the next call. The last
// one may be cut off; torn says so. The end is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.r.ReadSlice('\n')
		size := len(line)
		if err == bufio.ErrBufferFull {
			for l.long = append(l.long[:0], line...); err == bufio.ErrBufferFull; {
				line, err = l.r.ReadSlice('\n')
				if size += len(line); size <= maxLine+len("\r\n") {
					l.long = append(l.long, line...)
				}
			}
			line = l.long
		}
		l.offset += int64(size)
		if size == 0 {
			return nil, err
		}
		l.torn = err != nil
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		if size <= maxLine+len("\r\n") && len(line) <= maxLine {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
