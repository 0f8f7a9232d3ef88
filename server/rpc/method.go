package rpc

import (
	"context"
	"encoding/json"
)

// Method is how one request or notification of the client's is handled. Its
// params are read on the read loop, one message after another, where nothing may block.
type Method struct {
	read         func(params json.RawMessage) (Work, error)
	aside        bool // the work is done aside of the read loop, until $/cancelRequest ends its context
	notification bool
}

// Work does what a message asks for. A request is answered with its result.
type Work func(ctx context.Context) (any, error)

// Request is the method of a request that is answered on the read loop.
func Request[P, R any](answer func(P) (R, error)) Method {
	return Method{read: reading(func(p P) (Work, error) {
		return func(context.Context) (any, error) { return answer(p) }, nil
	})}
}

// Aside is the method of a request whose work is done aside of the read loop;
// begin still runs on it.
func Aside[P any](begin func(P) (Work, error)) Method {
	return Method{read: reading(begin), aside: true}
}

// Notification is the method of a notification.
func Notification[P any](take func(P)) Method {
	return Method{notification: true, read: reading(func(p P) (Work, error) {
		return func(context.Context) (any, error) {
			take(p)
			return nil, nil
		}, nil
	})}
}

// reading decodes params; left out, they are as empty. A json.RawMessage gets
// them as they are.
func reading[P any](begin func(P) (Work, error)) func(json.RawMessage) (Work, error) {
	return func(params json.RawMessage) (Work, error) {
		var p P
		if raw, ok := any(&p).(*json.RawMessage); ok {
			*raw = params
			return begin(p)
		}
		if len(params) == 0 {
			params = json.RawMessage("{}")
		}
		if err := (Codec{}).Unmarshal(params, &p); err != nil {
			return nil, Errorf(CodeInvalidParams, "bad params: %v", err)
		}
		return begin(p)
	}
}
