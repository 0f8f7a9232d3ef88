package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// with decodes a command's argument into A.
func with[A any](run func(context.Context, A) (any, error)) command {
	return func(argument json.RawMessage) (task, error) {
		var a A
		if err := decodeArgument(argument, &a); err != nil {
			return task{}, err
		}
		var target wire.LoopParams
		if about, ok := any(a).(interface{ Target() wire.LoopParams }); ok {
			target = about.Target()
		}
		return task{func(ctx context.Context) (any, error) { return run(ctx, a) }, a, target}, nil
	}
}

// invalidKey is the error for a key of a command's argument.
func invalidKey(key, format string, args ...any) error {
	return &rpc.Error{Code: rpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...), Data: map[string]any{"key": key}}
}

// decodeArgument decodes an object whose keys must all be known, in the very
// letters that they have.
func decodeArgument(data json.RawMessage, into any) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		if key := unknownKey(data, reflect.TypeOf(into).Elem()); key != "" {
			return invalidKey(key, "unknown key %s", key)
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
	}
	wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || wrongType.Field == "" {
		return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "the argument can't be read: it has to be an object", Data: map[string]any{}}
	}
	key := keyOf(wrongType.Field)
	return invalidKey(key, "wrong type: %s is a %s", key, wrongType.Value)
}

// unknownKey returns the path of a key that an object has and t, a struct,
// doesn't; "" when there is none.
func unknownKey(data json.RawMessage, t reflect.Type) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return "" // the decoding says more
	}
	known := jsonKeys(t)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field, ok := known[key]
		if !ok {
			return key
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if field.Kind() != reflect.Struct {
			continue
		}
		if inner := unknownKey(object[key], field); inner != "" {
			return key + "." + inner
		}
	}
	return ""
}

// jsonKeys returns the keys of a struct, those of embedded ones among them.
func jsonKeys(t reflect.Type) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			keys[name] = field.Type
		}
	}
	return keys
}

// keyOf is a field's path without the embedded structs, which only Go knows:
// they have capital letters, and keys don't.
func keyOf(field string) string {
	isEmbedded := func(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }
	return strings.Join(slices.DeleteFunc(strings.Split(field, "."), isEmbedded), ".")
}
