package server

import (
	"context"
	"encoding/json"
	"errors"
)

// The methods that only the tests have.
func init() {
	add := func(name string, handle func(s *Server, ctx context.Context) (any, error)) {
		take := func(s *Server, ctx context.Context, _ json.RawMessage) (any, error) { return handle(s, ctx) }
		methods["test/"+name] = method{handle: take}
		methods["test/"+name+"Aside"] = method{handle: take, async: true}
		methods["test/"+name+"Note"] = method{handle: take, notification: true}
	}
	add("panic", func(*Server, context.Context) (any, error) { panic("boom") })
	add("fail", func(*Server, context.Context) (any, error) { return nil, errors.New("something broke") })
	add("failWithData", func(*Server, context.Context) (any, error) {
		return nil, &wireError{Code: codeRequestFailed, Message: "no", Data: map[string]string{"reason": "untrusted"}}
	})
	add("derive", func(_ *Server, ctx context.Context) (any, error) {
		own, cancel := context.WithCancel(ctx)
		defer cancel()
		return "fine", own.Err()
	})
	add("wait", func(_ *Server, ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("ask", func(s *Server, ctx context.Context) (any, error) {
		var chosen struct {
			Title string `json:"title"`
		}
		err := s.Request(ctx, "window/showMessageRequest", map[string]any{"type": 3, "message": "Well?"}, &chosen)
		return chosen.Title, err
	})
}
