package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
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

// WriteFrame writes a message to the sidecar, in the same process, as LSP has it.
func WriteFrame(w io.Writer, message []byte) error {
	_, err := fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(message), message)
	return err
}

// Heard takes what the sidecar says, in the goroutine in which it says it: a pipe would be a detour.
type Heard struct {
	Take   func(message []byte)
	unread []byte
}

func (h *Heard) Write(p []byte) (int, error) {
	h.unread = append(h.unread, p...)
	rest := h.unread
	for {
		head, body, isWhole := bytes.Cut(rest, []byte("\r\n\r\n"))
		if !isWhole {
			break
		}
		length, err := strconv.Atoi(strings.TrimPrefix(string(head), "Content-Length: "))
		if err != nil {
			return 0, err
		}
		if len(body) < length {
			break
		}
		h.Take(body[:length])
		rest = body[length:]
	}
	h.unread = append(h.unread[:0], rest...)
	return len(p), nil
}

// Queue is a pipe in memory that never makes its writer wait: who says something while being told
// something must not.
type Queue struct {
	mu     sync.Mutex
	news   sync.Cond
	unread bytes.Buffer
	closed bool
}

// NewQueue makes one that is empty.
func NewQueue() *Queue {
	q := &Queue{}
	q.news.L = &q.mu
	return q
}

func (q *Queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.news.Signal()
	if q.closed {
		return 0, io.ErrClosedPipe
	}
	return q.unread.Write(p)
}

// Read waits for something to read, or for the end.
func (q *Queue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.unread.Len() == 0 && !q.closed {
		q.news.Wait()
	}
	return q.unread.Read(p)
}

// Close lets the reader come to the end; nothing is written behind that.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.news.Broadcast()
}
