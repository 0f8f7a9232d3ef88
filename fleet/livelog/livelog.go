// Package livelog has the lines of what a loop's attempts say: live, and in the files that are kept of them.
package livelog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// Tag puts in front of a line of a transcript which attempt says it, and which line of that
// it is, from 1 on: what is told live comes from several attempts, and may come twice.
func Tag(line []byte, attempt, n int) []byte {
	rest, ok := bytes.CutPrefix(line, []byte("{"))
	if !ok {
		return line
	}
	return append(fmt.Appendf(nil, `{"attempt":%d,"line":%d,`, attempt, n), rest...)
}

// Untag is the reverse. The attempt is 0 for what isn't such a line.
func Untag(line []byte) (attempt, n int, rest []byte) {
	after, isTagged := bytes.CutPrefix(line, []byte(`{"attempt":`))
	first, after, ok := bytes.Cut(after, []byte(`,"line":`))
	second, after, more := bytes.Cut(after, []byte(","))
	attempt, err := strconv.Atoi(string(first))
	n, err2 := strconv.Atoi(string(second))
	if !isTagged || !ok || !more || err != nil || err2 != nil || attempt < 1 || n < 1 {
		return 0, 0, line
	}
	return attempt, n, append([]byte("{"), after...)
}

// EachLine calls take with each line of a transcript behind the first ones. A line without an end isn't whole.
func EachLine(transcript io.Reader, skip int, take func(line []byte) error) error {
	lines := bufio.NewReaderSize(transcript, 64<<10)
	for n := 0; ; n++ {
		var line []byte
		var err error
		if n < skip {
			for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
				_, err = lines.ReadSlice('\n')
			}
		} else {
			line, err = lines.ReadBytes('\n')
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n >= skip:
			if err := take(line); err != nil {
				return err
			}
		}
	}
}
