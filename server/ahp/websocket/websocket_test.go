package websocket

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

const hello = "GET /?tkn=x HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

// visit sends a server what a client sends, and returns the messages that come of it, what the client
// hears, and the error behind the messages.
func visit(t *testing.T, sent []byte, most int, allow func(Request) int) (messages []string, heard []byte, err error) {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer server.Close()
		var c *Conn
		if c, err = Accept(server, most, allow); err != nil {
			return
		}
		for {
			var m []byte
			if m, err = c.Read(); err != nil {
				return
			}
			messages = append(messages, string(m))
			_, _ = c.Write(m)
		}
	}()
	go func() {
		_, _ = client.Write(sent)
	}()
	heard, _ = io.ReadAll(client)
	<-done
	return messages, heard, err
}

func anyone(Request) int { return 0 }

// frame is one as clients send it.
func frame(first byte, payload string) []byte {
	head := []byte{first}
	switch n := len(payload); {
	case n < 126:
		head = append(head, 0x80|byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), uint64(n))
	}
	mask := []byte{1, 2, 3, 4}
	head = append(head, mask...)
	for i := range len(payload) {
		head = append(head, payload[i]^mask[i%4])
	}
	return head
}

func TestMessages(t *testing.T) {
	long, longer := strings.Repeat("é", 100), strings.Repeat("x", 70_000)
	end := frame(0x88, "\x03\xe8")
	for name, c := range map[string]struct {
		frames [][]byte
		want   []string
		code   uint16
		eof    bool
	}{
		"three lengths":       {frames: [][]byte{frame(0x81, "a"), frame(0x81, long), frame(0x81, longer), end}, want: []string{"a", long, longer}, code: 1000, eof: true},
		"fragments":           {frames: [][]byte{frame(0x01, "\xc3"), frame(0x89, "p"), frame(0x00, "\xa9"), frame(0x80, "!"), end}, want: []string{"é!"}, code: 1000, eof: true},
		"nothing at all":      {frames: [][]byte{frame(0x81, ""), end}, want: []string{""}, code: 1000, eof: true},
		"a pong":              {frames: [][]byte{frame(0x8a, "x"), end}, code: 1000, eof: true},
		"too long":            {frames: [][]byte{frame(0x81, strings.Repeat("x", 80_001))}, code: 1009},
		"too long in parts":   {frames: [][]byte{frame(0x01, longer), frame(0x80, longer)}, code: 1009},
		"half an eternity":    {frames: [][]byte{{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, code: 1009},
		"not UTF-8":           {frames: [][]byte{frame(0x81, "\xff")}, code: 1007},
		"binary":              {frames: [][]byte{frame(0x82, "x")}, code: 1003},
		"no mask":             {frames: [][]byte{{0x81, 1, 'x'}}, code: 1002},
		"an extension":        {frames: [][]byte{frame(0xc1, "x")}, code: 1002},
		"an unknown opcode":   {frames: [][]byte{frame(0x83, "x")}, code: 1002},
		"one more, unknown":   {frames: [][]byte{frame(0x8b, "x")}, code: 1002},
		"a long ping":         {frames: [][]byte{frame(0x89, long)}, code: 1002},
		"a ping in parts":     {frames: [][]byte{frame(0x09, "x")}, code: 1002},
		"the rest of nothing": {frames: [][]byte{frame(0x80, "x")}, code: 1002},
		"two at once":         {frames: [][]byte{frame(0x01, "x"), frame(0x81, "y")}, code: 1002},
	} {
		t.Run(name, func(t *testing.T) {
			got, heard, err := visit(t, append([]byte(hello), bytes.Join(c.frames, nil)...), 80_000, anyone)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || errors.Is(err, io.EOF) != c.eof {
				t.Errorf("got %d messages, %v", len(got), err)
			}
			if !bytes.Contains(heard, []byte("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")) { // the specification's example
				t.Errorf("the handshake is answered with %.200q", heard)
			}
			if code := binary.BigEndian.Uint16(heard[len(heard)-2:]); code != c.code {
				t.Errorf("closed with %d, not %d", code, c.code)
			}
			for _, m := range c.want {
				if !bytes.Contains(heard, []byte(m)) {
					t.Errorf("%.20q doesn't come back", m)
				}
			}
		})
	}
}

func TestAPingIsAnswered(t *testing.T) {
	_, heard, _ := visit(t, append([]byte(hello), append(frame(0x89, "are you there"), frame(0x88, "")...)...), 10, anyone)
	if !bytes.Contains(heard, []byte("\x8a\x0dare you there")) {
		t.Errorf("heard %q", heard)
	}
}

func TestWhoIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ sent, status string }{
		"by the server":   {hello, " 403 "},
		"not a WebSocket": {strings.Replace(hello, "Upgrade: websocket", "Upgrade: h2c", 1), " 426 "},
		"another version": {strings.Replace(hello, "Version: 13", "Version: 8", 1), " 426 "},
		"no upgrade":      {strings.Replace(hello, "keep-alive, Upgrade", "keep-alive", 1), " 426 "},
		"a form":          {strings.Replace(hello, "GET", "POST", 1), " 426 "},
		"not HTTP":        {"hello\r\n\r\n", " 400 "},
		"a bad header":    {strings.Replace(hello, "Host: ", "Ho st\r\n", 1), " 400 "},
		"an endless head": {"GET / HTTP/1.1\r\nX: " + strings.Repeat("x", maxHead), " 400 "},
	} {
		allow := anyone
		if name == "by the server" {
			allow = func(r Request) int {
				if r.URL.Query().Get("tkn") != "x" || r.Header.Get("Host") != "127.0.0.1" {
					t.Errorf("it is told %v", r)
				}
				return 403
			}
		}
		if _, heard, err := visit(t, []byte(c.sent), 10, allow); err == nil || !strings.Contains(string(heard), c.status) || bytes.Contains(heard, []byte("101")) {
			t.Errorf("%s: %v, %q", name, err, heard)
		}
	}
}

// Whatever a client sends, the server neither hangs nor believes what it announces.
func FuzzFrames(f *testing.F) {
	f.Add(frame(0x81, "a"))
	f.Add(append(frame(0x01, "a"), frame(0x80, "b")...))
	f.Add([]byte{0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, sent []byte) {
		client, server := net.Pipe()
		c := &Conn{conn: server, max: 1000}
		c.in = bufio.NewReader(bytes.NewReader(sent))
		go func() { _, _ = io.Copy(io.Discard, client) }()
		for {
			m, err := c.Read()
			if err != nil {
				return
			}
			if len(m) > 1000 {
				t.Fatalf("a message has %d bytes", len(m))
			}
		}
	})
}
