// Package lines cuts what a program prints into lines of any length.
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

// Each calls yield for each line of r without its ending: lines are split at
// LF, and one CR before it is dropped. A line is valid until yield returns.
// Lines of more than max bytes are skipped and counted. cut says that the last
// line had no LF. An error of r other than io.EOF is returned after what came before it.
func Each(r io.Reader, max int, yield func(line []byte, cut bool)) (skipped int, err error) {
	in := bufio.NewReaderSize(r, buffer)
	var long []byte // the beginning of a line that doesn't fit into the buffer
	isTooLong := false
	for err == nil {
		var line []byte
		line, err = in.ReadSlice('\n')
		isPart := errors.Is(err, bufio.ErrBufferFull)
		if isPart || len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if isPart {
			err = nil
			if len(long) > max+len("\r") {
				long, isTooLong = long[:0], true
			}
			continue
		}
		whole, hasEnd := bytes.CutSuffix(line, []byte{'\n'})
		switch whole = bytes.TrimSuffix(whole, []byte{'\r'}); {
		case len(line) == 0 && !isTooLong: // the end
		case isTooLong || len(whole) > max:
			skipped++
		default:
			yield(whole, !hasEnd)
		}
		long, isTooLong = long[:0], false
	}
	if err == io.EOF {
		err = nil
	}
	return skipped, err
}
