package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxMessage bounds a message, in bytes. A longer one is skipped, and its conversation goes on.
const MaxMessage = 32 << 20

// errTooLong says that a message was skipped.
var errTooLong = errors.New("the message is too long")

// readLine returns the next message of a client: it is a line. The error is errTooLong for one that was
// skipped, of which the beginning is returned.
func readLine(r *bufio.Reader) ([]byte, error) {
	for {
		var line []byte
		tooLong := false
		for {
			part, err := r.ReadSlice('\n')
			if tooLong = tooLong || len(line)+len(part) > MaxMessage; !tooLong {
				line = append(line, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil { // the last line may have no end: it was cut off
				return nil, err
			}
			break
		}
		if tooLong {
			return line[:min(len(line), 1024)], errTooLong
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// WriteLine writes a message to a client: it is a line.
func WriteLine(w io.Writer, message []byte) error {
	_, err := w.Write(append(message, '\n'))
	return err
}
