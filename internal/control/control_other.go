//go:build !linux

package control

import (
	"context"
	"errors"
)

// Server is for systems that tell who asks.
type Server struct{ Path string }

// Serve fails: nobody could tell who asks.
func Serve(string, string, Answerer) (*Server, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (*Server) Close() {}

func ask(context.Context, string, any, any) error { return ErrNobody }
