package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The codes of errors that clients get.
const (
	CodeMethodNotFound   = int(jsonrpc2.MethodNotFound)
	CodeInvalidRequest   = int(jsonrpc2.InvalidRequest)
	CodeInvalidParams    = int(jsonrpc2.InvalidParams)
	codeInternal         = int(jsonrpc2.InternalError)
	CodeNotInitialized   = int(jsonrpc2.ServerNotInitialized)
	codeRequestCancelled = -32800
	CodeRequestFailed    = -32803
)

// Error is an error as a client gets it. Data is what a program needs to
// know of it, encoded as JSON; nil is none.
type Error struct {
	Code    int
	Message string
	Data    any
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an error for the client, without data.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// IsUnknownMethod says whether a request failed because the client doesn't know it.
func IsUnknownMethod(err error) bool {
	answer := (*jsonrpc2.Error)(nil)
	return errors.As(err, &answer) && answer.Code == jsonrpc2.MethodNotFound
}

// toWire makes any error fit for jsonrpc2, which would send a plain one with
// the code 0.
func toWire(err error) *jsonrpc2.Error {
	var known *Error
	switch {
	case errors.As(err, &known):
	case errors.Is(err, context.Canceled):
		known = Errorf(codeRequestCancelled, "the request was cancelled")
	default:
		known = Errorf(codeInternal, "%v", err)
	}
	out := jsonrpc2.NewError(jsonrpc2.Code(known.Code), stream.Sanitize(known.Message))
	if known.Data != nil {
		data, err := json.Marshal(known.Data)
		if err != nil {
			return jsonrpc2.Errorf(jsonrpc2.InternalError, "%s (its data can't be encoded: %v)", known.Message, err)
		}
		out.Data = data
	}
	return out
}
