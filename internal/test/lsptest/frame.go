package lsptest

import (
	"bufio"
	"fmt"
	"io"
)

// Frame puts the header before a message.
func Frame(message string) []byte {
	return fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(message), message)
}

// ReadFrame reads a message. It takes no header but the one that Frame writes,
// so that nothing else on a server's stdout goes unseen.
func ReadFrame(r *bufio.Reader) (message []byte, err error) {
	var length uint
	if _, err := fmt.Fscanf(r, "Content-Length: %d\r\n\r\n", &length); err != nil {
		return nil, err
	}
	message = make([]byte, length)
	_, err = io.ReadFull(r, message)
	return message, err
}
