package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"
)

// Limits of what a client may send, in bytes.
const (
	hugeBuffer  = 8 << 20  // of a larger one the memory goes back before the next frame
	maxFrame    = 64 << 20 // a longer body is skipped and answered with an error
	maxSkipped  = 2 << 30  // nobody means a longer one: to skip it would swallow all that follows
	maxHeader   = 8 << 10  // text before a body that names no length
	firstBuffer = 4 << 10
	keptBuffer  = 1 << 20 // a larger buffer isn't kept for the next frame
)

// ErrBadHeader ends a connection, as the beginning of the next message is unknown.
var ErrBadHeader = errors.New("the header of a message can't be read")

// frameReader reads the bodies of messages. It hands out only what jsonrpc2
// can take, and refuses the rest with the error that it deserves.
type frameReader struct {
	in     *bufio.Reader
	body   []byte
	limit  int64 // maxFrame; less in tests
	refuse func(refusal)
}

// refusal is a message that can't be handled. ID is the request's as it came,
// or nil when it has none that can be told. Nobody waits for a silent one's answer.
type refusal struct {
	id      json.RawMessage
	code    jsonrpc2.Code
	message string
	silent  bool
}

func newFrameReader(in io.Reader, refuse func(refusal)) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(in, maxHeader), limit: maxFrame, refuse: refuse}
}

// next returns the next message: valid JSON in valid UTF-8, and a request, a
// notification or a response. The bytes are valid until the next call.
// The error is io.EOF between two messages, io.ErrUnexpectedEOF within one.
func (r *frameReader) next() ([]byte, error) {
	for {
		length, err := r.header()
		if err != nil {
			return nil, err
		}
		if length > r.limit {
			if err := r.skip(length); err != nil {
				return nil, err
			}
			continue
		}
		body, err := r.read(length)
		if err != nil {
			return nil, err
		}
		if why := check(body); why != nil {
			r.refuse(*why)
			continue
		}
		if body, ok := r.classify(body); ok {
			return body, nil
		}
	}
}

// header returns the length of the body that follows. Lines that are no header
// fields are skipped, so that what a client printed by mistake, or the rest of
// a body whose length was wrong, costs one message and not the connection.
func (r *frameReader) header() (length int64, err error) {
	length = -1
	garbage := false
	for read := 0; read <= maxHeader; {
		line, err := r.in.ReadSlice('\n')
		read += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return 0, fmt.Errorf("%w: a line of more than %d bytes", ErrBadHeader, maxHeader)
		case err == io.EOF && read > 0:
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		name, value, isField := cutField(text)
		switch {
		case text == "" && length >= 0:
			return length, nil
		case text == "":
		case strings.HasSuffix(strings.ToLower(name), "content-length"):
			if length, err = strconv.ParseInt(value, 10, 63); err != nil || length < 0 {
				return 0, fmt.Errorf("%w: Content-Length is %.40q", ErrBadHeader, value)
			}
			if length > maxSkipped {
				return 0, fmt.Errorf("%w: Content-Length is %d, and no message has more than %d bytes", ErrBadHeader, length, maxSkipped)
			}
		case !isField && !garbage:
			garbage = true
			r.refuse(refusal{code: jsonrpc2.ParseError, message: "a line that isn't a header field"})
		}
	}
	return 0, fmt.Errorf("%w: no Content-Length in %d bytes", ErrBadHeader, maxHeader)
}

// cutField splits "Name: value". The last colon counts: a field may follow
// garbage on the same line.
func cutField(line string) (name, value string, ok bool) {
	i := strings.LastIndexByte(line, ':')
	if i < 0 {
		return "", "", false
	}
	return strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+1:]), true
}

// skip refuses a body that is too long. Nothing of it is kept but its id.
func (r *frameReader) skip(length int64) error {
	head := make([]byte, min(length, maxLook))
	_, err := io.ReadFull(r.in, head)
	tail, rest := head, length-int64(len(head))
	if rest > 0 && err == nil {
		tail = make([]byte, min(rest, maxLook))
		if _, err = io.CopyN(io.Discard, r.in, rest-int64(len(tail))); err == nil {
			_, err = io.ReadFull(r.in, tail)
		}
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	id, wantsAnswer := skim(head, tail)
	r.refuse(refusal{
		id: id, code: jsonrpc2.InvalidRequest, silent: !wantsAnswer,
		message: fmt.Sprintf("a message of %d bytes; the limit is %d", length, r.limit),
	})
	return nil
}

// read reads a body into the reader's buffer. The memory follows what is sent,
// not what was announced.
func (r *frameReader) read(length int64) ([]byte, error) {
	if cap(r.body) > hugeBuffer {
		r.body = nil
		debug.FreeOSMemory() // of several in a row, only one counts
	}
	if r.body = r.body[:0]; cap(r.body) > keptBuffer {
		r.body = nil
	}
	for int64(len(r.body)) < length {
		if len(r.body) == cap(r.body) {
			larger := make([]byte, len(r.body), min(length, max(firstBuffer, 2*int64(cap(r.body)))))
			copy(larger, r.body)
			r.body = larger
		}
		at := len(r.body)
		n, err := r.in.Read(r.body[at:min(int64(cap(r.body)), length)])
		r.body = r.body[:at+n]
		if err == io.EOF && int64(len(r.body)) < length {
			return nil, io.ErrUnexpectedEOF
		} else if err != nil && err != io.EOF {
			return nil, err
		}
	}
	return r.body, nil
}

// check says what is wrong with a body as such.
func check(body []byte) *refusal {
	switch {
	case !json.Valid(body): // also what is nested too deep to be decoded
		return &refusal{code: jsonrpc2.ParseError, message: "invalid JSON"}
	case bytes.TrimLeft(body, " \t\r\n")[0] == '[':
		return &refusal{code: jsonrpc2.InvalidRequest, message: "the protocol has no batches"}
	}
	return nil
}

// classify returns a body that jsonrpc2 takes. Else the request in it has been
// refused; a bad response is dropped, as an answer to it would be one too many.
func (r *frameReader) classify(body []byte) (valid []byte, ok bool) {
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	_, err := jsonrpc2.DecodeMessage(body)
	if err == nil {
		return body, true
	}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	// Another value than an object has none of these.
	_ = json.Unmarshal(body, &message)
	if message.Method == nil && (message.Result != nil || message.Error != nil) {
		return nil, false
	}
	r.refuse(refusal{id: answerable(message.ID), code: jsonrpc2.InvalidRequest, message: "no valid JSON-RPC 2.0 message"})
	return nil, false
}

// answerable returns an id that can be given back: a string or a number.
func answerable(id json.RawMessage) json.RawMessage {
	if len(id) == 0 || !strings.ContainsRune(`"-0123456789`, rune(id[0])) {
		return nil
	}
	return bytes.Clone(id)
}

// frame puts the header before a body.
func frame(body []byte) []byte {
	framed := make([]byte, 0, len(body)+32)
	framed = append(framed, "Content-Length: "...)
	framed = strconv.AppendInt(framed, int64(len(body)), 10)
	framed = append(framed, "\r\n\r\n"...)
	return append(framed, body...)
}
