package answers

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// lenient has an argument read as encoding/json reads it, but for keys that aren't known in the
// very letters that they have.
var lenient = json.JoinOptions(json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// kindText has the kinds of values, in words.
var kindText = map[jsontext.Kind]string{
	'{': "an object", '[': "a list", '"': "a text", '0': "a number", 't': "true", 'f': "false", 'n': "null",
}

// Decode decodes a command's argument: an object whose keys must all be known. The error is a *wire.Failure, which names the
// key that is wrong.
func Decode(data []byte, into any) error {
	err := json.Unmarshal(data, into, lenient)
	if err == nil {
		return nil
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok || wrong.JSONPointer == "" {
		return wire.Invalid("arguments", "the argument can't be read: it has to be an object")
	}
	names := slices.Collect(wrong.JSONPointer.Tokens())
	key, name := strings.Join(names, "."), names[len(names)-1]
	if errors.Is(err, json.ErrUnknownName) {
		if meant := format.DidYouMean(name, "", keysOf(wrong.GoType)); meant != "" {
			return wire.Invalid(key, "unknown key %s: %s", key, meant)
		}
		return wire.Invalid(key, "unknown key %s", key)
	}
	if bad, ok := errors.AsType[*limits.ValueError](err); ok {
		return wire.Invalid(key, "%s %v", key, bad)
	}
	return wire.Invalid(key, "%s is %s; write %s", key, cmp.Or(kindText[wrong.JSONKind], "something else"), wanted(name, wrong.GoType))
}

// keysOf are the keys that an object of the argument may have.
func keysOf(t reflect.Type) (keys []string) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}

// wanted completes "write ..." for the value of a key: what its table says, else what its type does.
func wanted(name string, t reflect.Type) string {
	if s, ok := settings.ByWire(name); ok {
		return s.Wanted()
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
