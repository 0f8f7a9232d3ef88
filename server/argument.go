package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// with decodes a command's argument into A.
func with[A any](run func(context.Context, A) (any, error)) command {
	return command{read: func(argument []byte) (task, error) {
		var a A
		if err := decodeArgument(argument, &a); err != nil {
			return task{}, err
		}
		var target wire.LoopParams
		if about, ok := any(a).(interface{ Target() wire.LoopParams }); ok {
			target = about.Target()
		}
		return task{func(ctx context.Context) (any, error) { return run(ctx, a) }, a, target}, nil
	}}
}

// lenient has an argument read as encoding/json reads it, but for keys that aren't known in the
// very letters that they have.
var lenient = json.JoinOptions(json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// kinds are the values that a wrong type is told of.
var kinds = map[jsontext.Kind]string{'{': "object", '[': "array", 't': "bool", 'f': "bool"}

// decodeArgument decodes an object whose keys must all be known.
func decodeArgument(data []byte, into any) error {
	err := json.Unmarshal(data, into, lenient)
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok || wrong.JSONPointer == "" {
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "the argument can't be read: it has to be an object", Data: map[string]any{}}
	}
	key := strings.Join(slices.Collect(wrong.JSONPointer.Tokens()), ".")
	if errors.Is(err, json.ErrUnknownName) {
		return refusal.Invalid(key, "unknown key %s", key)
	}
	if bad, ok := errors.AsType[*limits.ValueError](err); ok {
		return refusal.Invalid(key, "%s %v", key, bad)
	}
	return refusal.Invalid(key, "wrong type: %s is a %s", key, cmp.Or(kinds[wrong.JSONKind], wrong.JSONKind.String()))
}
