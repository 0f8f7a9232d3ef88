package ahp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// wsClient is a client's end of a WebSocket.
type wsClient struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex
}

// dial opens a connection with lines of a request's head.
func dial(address, target string, lines ...string) (*wsClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &wsClient{conn: conn, in: bufio.NewReader(conn)}
	head := append([]string{"GET " + target + " HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}, lines...)
	if _, err := io.WriteString(conn, strings.Join(head, "\r\n")+"\r\n\r\n"); err != nil {
		return nil, err
	}
	for status := ""; ; {
		line, err := c.in.ReadString('\n')
		switch {
		case err != nil:
			return nil, err
		case status == "":
			status = line
		case line == "\r\n" && strings.Contains(status, " 101 "):
			return c, nil
		case line == "\r\n":
			conn.Close()
			return nil, fmt.Errorf("refused: %s", status)
		}
	}
}

func (c *wsClient) close() { _ = c.conn.Close() }

func (c *wsClient) send(message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := binary.BigEndian.AppendUint64([]byte{0x81, 0x80 | 127}, uint64(len(message)))
	_, err := c.conn.Write(append(append(head, 0, 0, 0, 0), message...)) // a mask of zeros leaves it as it is
	return err
}

func (c *wsClient) receive() ([]byte, error) {
	var head [2]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	length := uint64(head[1])
	var longer [8]byte
	switch length {
	case 126:
		_, _ = io.ReadFull(c.in, longer[6:])
		length = binary.BigEndian.Uint64(longer[:])
	case 127:
		_, _ = io.ReadFull(c.in, longer[:])
		length = binary.BigEndian.Uint64(longer[:])
	}
	message := make([]byte, length)
	if _, err := io.ReadFull(c.in, message); err != nil || head[0] != 0x81 {
		return nil, fmt.Errorf("it is closed: %x %w", head, io.EOF)
	}
	return message, nil
}
