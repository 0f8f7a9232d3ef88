// Package refusal says why a command isn't done, as JSON-RPC has it: a code, and data with a reason
// or the key of the argument that is wrong.
package refusal

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Reason is the data.reason that an error has for a client, "" for none.
func Reason(err error) string {
	known, _ := errors.AsType[*rpc.Error](Of(err))
	return reasonIn(known)
}

func reasonIn(e *rpc.Error) (reason string) {
	if e != nil {
		data, _ := e.Data.(map[string]any)
		reason, _ = data["reason"].(string)
	}
	return reason
}

// WithOffers adds what can be done instead to the data of a command's error.
func WithOffers(err error, id string, argument json.RawMessage) error {
	known, _ := errors.AsType[*rpc.Error](err)
	if offers := wire.OffersInstead(reasonIn(known), id, argument); offers != nil {
		known.Data.(map[string]any)["offers"] = offers
	}
	return err
}

// Of gives the errors of the service their codes. A request that was cancelled is left to the
// connection, which answers as the specification says.
func Of(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*rpc.Error](err); ok {
		return known
	}
	switch f := service.FailureOf(err); {
	case f == nil && errors.Is(err, context.Canceled):
		return err
	case f == nil:
		return &rpc.Error{Code: rpc.CodeRequestFailed, Message: err.Error()}
	case f.Key == "":
		return &rpc.Error{Code: rpc.CodeRequestFailed, Message: f.Error(), Data: with(f.Data, "reason", f.Reason)}
	default:
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: f.Error(), Data: with(f.Data, "key", f.Key)}
	}
}

// with is data with one more value.
func with(data map[string]any, key, value string) map[string]any {
	all := map[string]any{key: value}
	maps.Copy(all, data)
	return all
}
