// Package livelog has the lines of what a loop's attempts say: live, and in the files that are kept of them.
package livelog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
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

// maxText is what is left of a text at first in a line that is too long, in bytes.
const maxText = 8 << 10

// Short is a line of at most so many bytes: long texts of one that has more are cut, and it says so (truncated).
func Short(line []byte, most int) []byte {
	if len(line) <= most {
		return line
	}
	var update map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if d.Decode(&update) == nil {
		update["truncated"] = true
		for text := maxText; text >= 64; text /= 8 {
			data, err := json.Marshal(cut(update, text))
			if err == nil && len(data) < most {
				return append(data, '\n')
			}
		}
	}
	return fmt.Appendf(nil, `{"sessionUpdate":"_ralph/note","text":"an update of %d KiB is left out here"}%s`, len(line)>>10, "\n")
}

// cut cuts the texts in a JSON value.
func cut(v any, most int) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = cut(v[key], most)
		}
	case []any:
		for i := range v {
			v[i] = cut(v[i], most)
		}
	case string:
		if len(v) <= most {
			return v
		}
		return fmt.Sprintf("%s… (%d KiB more in the transcript)", strings.ToValidUTF8(v[:most], ""), (len(v)-most)>>10)
	}
	return v
}
