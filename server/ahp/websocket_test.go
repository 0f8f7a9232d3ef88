package ahp

import (
	"context"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// wsClient is a client's end of a WebSocket.
type wsClient struct{ *websocket.Conn }

// dial opens a connection with lines of a request's head.
func dial(address, target string, lines ...string) (*wsClient, error) {
	head, host := http.Header{}, ""
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			host = value
		} else {
			head.Add(name, value)
		}
	}
	conn, _, err := websocket.Dial(context.Background(), "ws://"+address+target, &websocket.DialOptions{HTTPHeader: head, Host: host})
	if err == nil {
		conn.SetReadLimit(-1)
	}
	return &wsClient{conn}, err
}

func (c *wsClient) close() { _ = c.CloseNow() }

func (c *wsClient) send(message []byte) error {
	return c.Write(context.Background(), websocket.MessageText, message)
}

func (c *wsClient) receive() ([]byte, error) {
	_, message, err := c.Read(context.Background())
	return message, err
}
