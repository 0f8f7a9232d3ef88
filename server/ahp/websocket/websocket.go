// Package websocket is the server's side of the WebSocket protocol (RFC 6455), as far as a client
// on this machine needs it: text messages both ways, without extensions and subprotocols. The known
// libraries link net/http, which adds more to the program than a release may have.
package websocket

import (
	"bufio"
	"crypto/sha1" // the protocol's: it proves nothing but that we have read the key
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	maxHead      = 16 << 10
	shakeTimeout = 10 * time.Second
	writeTimeout = 30 * time.Second
	magic        = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

// Request is how a client asks for a connection.
type Request struct {
	URL    *url.URL
	Header textproto.MIMEHeader
}

// Conn is a connection. One goroutine may read it, any may write.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	max  int

	mu     sync.Mutex
	closed bool
}

// Accept answers a client's handshake; allow returns the status of HTTP with which it is refused, or 0.
// Messages of more than most bytes end the connection.
func Accept(conn net.Conn, most int, allow func(Request) int) (*Conn, error) {
	_ = conn.SetDeadline(time.Now().Add(shakeTimeout))
	head := &io.LimitedReader{R: conn, N: maxHead}
	in := bufio.NewReader(head)
	request, key, err := readRequest(in)
	status := 400
	if err == nil {
		if status = allow(request); status == 0 && key == "" {
			status = 426
		}
	}
	if status != 0 {
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d Refused\r\nConnection: close\r\nContent-Length: 0\r\nSec-WebSocket-Version: 13\r\n\r\n", status)
		return nil, errors.Join(fmt.Errorf("refused with status %d", status), err)
	}
	sum := sha1.Sum([]byte(key + magic))
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "+
		"Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:])); err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	head.N = 1<<63 - 1
	return &Conn{conn: conn, in: in, max: most}, nil
}

// readRequest reads the head of a request. The key is "" where it asks for no WebSocket.
func readRequest(in *bufio.Reader) (r Request, key string, err error) {
	reader := textproto.NewReader(in)
	line, err := reader.ReadLine()
	if err != nil {
		return r, "", err
	}
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	if r.URL, err = url.ParseRequestURI(target); err != nil {
		return r, "", err
	}
	if r.Header, err = reader.ReadMIMEHeader(); err != nil {
		return r, "", err
	}
	if method == "GET" && version == "HTTP/1.1" && r.Header.Get("Sec-Websocket-Version") == "13" &&
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Connection"), ",")), "upgrade") {
		key = r.Header.Get("Sec-Websocket-Key")
	}
	return r, key, nil
}

// Opcodes of frames.
const (
	opMore  = 0x0
	opText  = 0x1
	opBin   = 0x2
	opClose = 0x8
	opPing  = 0x9
	opPong  = 0xA
)

// Codes with which connections are closed.
const (
	closeNormal   = 1000
	closeProtocol = 1002
	closeType     = 1003
	closeText     = 1007
	closeTooLong  = 1009
)

// refusal is a mistake of the client's.
type refusal struct {
	code int
	why  string
}

func (r refusal) Error() string { return r.why }

// Read returns the next message. Pings are answered meanwhile. After an error the connection is
// closed; it is io.EOF when the client has said that it goes.
func (c *Conn) Read() ([]byte, error) {
	message, err := c.read()
	if err == nil {
		return message, nil
	}
	var wrong refusal
	code := closeNormal
	if errors.As(err, &wrong) {
		code = wrong.code
	}
	c.close(code)
	return nil, err
}

func (c *Conn) read() (message []byte, err error) {
	isBegun := false
	for {
		op, isLast, payload, err := c.frame(len(message))
		switch {
		case err != nil:
			return nil, err
		case op == opClose:
			return nil, io.EOF
		case op == opPing:
			if err := c.write(opPong, payload); err != nil {
				return nil, err
			}
			continue
		case op == opPong:
			continue
		case op == opBin:
			return nil, refusal{closeType, "a message isn't text"}
		case op == opText && !isBegun, op == opMore && isBegun:
			isBegun = true
			message = append(message, payload...)
		default:
			return nil, refusal{closeProtocol, "a frame is out of order"}
		}
		if !isLast {
			continue
		}
		if !utf8.Valid(message) {
			return nil, refusal{closeText, "a message isn't UTF-8"}
		}
		return message, nil
	}
}

// frame reads a frame of a message of which so many bytes are there.
func (c *Conn) frame(before int) (op byte, isLast bool, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:2]); err != nil {
		return 0, false, nil, err
	}
	op, isLast = head[0]&0x0f, head[0]&0x80 != 0
	length := uint64(head[1] & 0x7f)
	isControl := op >= opClose
	switch {
	case head[0]&0x70 != 0, head[1]&0x80 == 0, op > opBin && !isControl, op > opPong, isControl && (!isLast || length > 125):
		return 0, false, nil, refusal{closeProtocol, "a frame isn't one of a client"}
	case length == 126:
		_, err = io.ReadFull(c.in, head[:2])
		length = uint64(binary.BigEndian.Uint16(head[:2]))
	case length == 127:
		_, err = io.ReadFull(c.in, head[:8])
		length = binary.BigEndian.Uint64(head[:8])
	}
	if err != nil {
		return 0, false, nil, err
	}
	if !isControl && length > uint64(c.max-before) {
		return 0, false, nil, refusal{closeTooLong, "a message is too long"}
	}
	var mask [4]byte
	if _, err := io.ReadFull(c.in, mask[:]); err != nil {
		return 0, false, nil, err
	}
	// What is announced is only believed as it comes.
	payload, err = io.ReadAll(io.LimitReader(c.in, int64(length)))
	if err == nil && uint64(len(payload)) < length {
		err = io.ErrUnexpectedEOF
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return op, isLast, payload, err
}

// Write sends a message.
func (c *Conn) Write(message []byte) (int, error) {
	if err := c.write(opText, message); err != nil {
		return 0, err
	}
	return len(message), nil
}

func (c *Conn) write(op byte, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	head := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	frame := net.Buffers{head, payload}
	_, err := frame.WriteTo(c.conn)
	return err
}

// Close closes the connection.
func (c *Conn) Close() { c.close(closeNormal) }

func (c *Conn) close(code int) {
	_ = c.write(opClose, binary.BigEndian.AppendUint16(nil, uint16(code)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	_ = c.conn.Close()
}
