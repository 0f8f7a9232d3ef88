package ahp

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shapes are those of what a host sends: the type of each key, by the names of shapes. A key with a "?"
// may be missing.
var shapes = sync.OnceValue(func() map[string]any {
	data, err := os.ReadFile("testdata/protocol.json")
	if err != nil {
		panic(err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		panic(err)
	}
	return all
})

// tagged are the shapes that one of their keys tells.
var tagged = map[string][2]string{"Action": {"type", "action "}, "ResponsePart": {"kind", "part "}, "ToolCallState": {"status", "call "}}

func checkSent(t *testing.T, method string, params json.RawMessage) {
	t.Helper()
	var envelope struct {
		Origin *struct{}
		Action any
	}
	_ = json.Unmarshal(params, &envelope)
	if envelope.Origin != nil { // what a client did comes back as it was
		return
	}
	check(t, "method "+method, params)
}

func checkAnswer(t *testing.T, method string, result json.RawMessage) {
	t.Helper()
	check(t, "answer "+method, result)
}

func check(t *testing.T, shape string, data json.RawMessage) {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Error(err)
	} else if err := fits(value, shape); err != nil {
		t.Errorf("%v in %s", err, data)
	}
}

func fits(value any, shape string) error {
	wrong := fmt.Errorf("%v isn't %s", value, shape)
	if element, isList := strings.CutPrefix(shape, "[]"); isList {
		list, ok := value.([]any)
		if !ok {
			return wrong
		}
		for _, v := range list {
			if err := fits(v, element); err != nil {
				return err
			}
		}
		return nil
	}
	if strings.HasPrefix(shape, "'") {
		if text, ok := value.(string); ok && slices.Contains(strings.Split(shape, "|"), "'"+text+"'") {
			return nil
		}
		return wrong
	}
	isRight := true
	switch shape {
	case "any":
	case "string":
		_, isRight = value.(string)
	case "number":
		_, isRight = value.(float64)
	case "boolean":
		_, isRight = value.(bool)
	case "null":
		isRight = value == nil
	default:
		object, ok := value.(map[string]any)
		if !ok && shapes()[shape] != "null" {
			return wrong
		}
		return fitsObject(object, value, shape)
	}
	if !isRight {
		return wrong
	}
	return nil
}

func fitsObject(object map[string]any, value any, shape string) error {
	if tag, ok := tagged[shape]; ok {
		shape = tag[1] + fmt.Sprint(object[tag[0]])
	}
	if shape == "State" {
		shape = "RootState"
		if object["chats"] != nil {
			shape = "SessionState"
		} else if object["turns"] != nil {
			shape = "ChatState"
		} else if object["files"] != nil {
			shape = "ChangesetState"
		}
	}
	keys, ok := shapes()[shape].(map[string]any)
	if !ok {
		if shapes()[shape] == "null" && value == nil {
			return nil
		}
		return fmt.Errorf("%v is no %q", value, shape)
	}
	for key, v := range object {
		kind, isKnown := keys[key]
		if !isKnown {
			kind, isKnown = keys[key+"?"]
		}
		if !isKnown {
			return fmt.Errorf("%s has no key %q", shape, key)
		}
		if err := fits(v, kind.(string)); err != nil {
			return fmt.Errorf("%s.%s: %w", shape, key, err)
		}
	}
	for key := range keys {
		if _, isThere := object[key]; !isThere && !strings.HasSuffix(key, "?") {
			return fmt.Errorf("%s lacks %q", shape, key)
		}
	}
	return nil
}
