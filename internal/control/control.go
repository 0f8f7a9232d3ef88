// Package control is the way from one process of a user's to another: a socket in the user's
// state folder on which who serves it learns from the kernel which process asks.
package control

import (
	"context"
	"encoding/json"
	"errors"
)

// ErrNobody says that nobody serves a socket, or that nothing was answered: whoever did is gone.
var ErrNobody = errors.New("nobody answers there")

// maxMessage bounds a request and an answer, in bytes.
const maxMessage = 8 << 20

// An Answerer carries out a request of a process. What it returns is encoded.
type Answerer func(pid int, request json.RawMessage) any

// Ask sends a request, and reads the answer to it.
func Ask(ctx context.Context, path string, request, answer any) error {
	return ask(ctx, path, request, answer)
}
