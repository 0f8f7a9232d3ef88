package acp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxMessage bounds a message, in bytes. A longer one is skipped, and its conversation goes on.
const maxMessage = 32 << 20

// errTooLong says that a message was skipped.
var errTooLong = errors.New("the message is too long")

// framing tells messages apart in a stream of bytes.
type framing interface {
	// read returns the next message. The error is errTooLong for one that was skipped.
	read(r *bufio.Reader) ([]byte, error)
	write(w io.Writer, message []byte) error
}

// lines are ACP's: a message is a line.
type lines struct{}

func (lines) read(r *bufio.Reader) ([]byte, error) {
	for {
		var line []byte
		tooLong := false
		for {
			part, err := r.ReadSlice('\n')
			if tooLong = tooLong || len(line)+len(part) > maxMessage; !tooLong {
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
			return nil, errTooLong
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (lines) write(w io.Writer, message []byte) error {
	_, err := w.Write(append(message, '\n'))
	return err
}

// headers are LSP's base protocol. The other side is the sidecar in the same process.
type headers struct{}

func (headers) read(r *bufio.Reader) ([]byte, error) {
	length := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" {
			break
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, fmt.Errorf("Content-Length: %w", err)
			}
		}
	}
	if length < 0 || length > 2*maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", length)
	}
	message := make([]byte, length)
	_, err := io.ReadFull(r, message)
	return message, err
}

func (headers) write(w io.Writer, message []byte) error {
	_, err := fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(message), message)
	return err
}
