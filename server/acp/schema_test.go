package acp

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// schemaNode is a JSON schema with the keywords that the protocol's has.
type schemaNode struct {
	Ref         string `json:"$ref"`
	Type        any
	Const       any
	Enum        []any
	Properties  map[string]*schemaNode
	Required    []string
	Items       *schemaNode
	AllOf       []*schemaNode
	AnyOf       []*schemaNode
	OneOf       []*schemaNode
	Not         *schemaNode
	Minimum     *float64
	Additional  json.RawMessage        `json:"additionalProperties"`
	Definitions map[string]*schemaNode `json:"$defs"`
}

var protocolSchema = sync.OnceValue(func() (s schemaNode) {
	file, err := os.Open("testdata/schema.json.gz")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(unpacked).Decode(&s)
	}
	if err != nil {
		panic(err)
	}
	return s
})

// sentBy are the shapes of what an agent sends: of requests and notifications by their names, of
// answers by the name of what they answer.
var sentBy = map[string]string{
	"session/update": "SessionNotification", "session/request_permission": "RequestPermissionRequest",
	"elicitation/create": "CreateElicitationRequest", "$/cancel_request": "CancelRequestNotification",
}

var answeredBy = map[string]string{
	"initialize": "InitializeResponse", "authenticate": "AuthenticateResponse", "session/new": "NewSessionResponse",
	"session/load": "LoadSessionResponse", "session/resume": "ResumeSessionResponse", "session/list": "ListSessionsResponse",
	"session/close": "CloseSessionResponse", "session/prompt": "PromptResponse", "session/set_mode": "SetSessionModeResponse",
	"session/set_config_option": "SetSessionConfigOptionResponse",
}

// checkShape fails where the protocol's schema doesn't allow a value, or doesn't know one of its keys.
func checkShape(t *testing.T, definition string, data json.RawMessage) {
	t.Helper()
	if err := shapeError(definition, data); err != nil {
		t.Errorf("%s: %v in %s", definition, err, data)
	}
}

func shapeError(definition string, data json.RawMessage) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	return (&schemaNode{Ref: "#/$defs/" + definition}).whole(value, "")
}

// errOther says that a shape is another one's.
var errOther = errors.New("not the same")

// whole checks a value, and that nothing is in it that isn't described.
func (s *schemaNode) whole(value any, at string) error {
	known, err := s.check(value, at)
	if object, ok := value.(map[string]any); ok && err == nil {
		for key := range object {
			if !known[key] && !known["*"] {
				return fmt.Errorf("%s has an unknown key %q", at, key)
			}
		}
	}
	return err
}

// check returns the keys that are described; "*" is any.
func (s *schemaNode) check(value any, at string) (known map[string]bool, err error) {
	known = map[string]bool{"*": s.Type == nil && s.isLeaf() || string(s.Additional) == "true"}
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		referred := protocolSchema().Definitions[name]
		if referred == nil {
			return nil, fmt.Errorf("the schema has no %s", name)
		}
		return referred.check(value, at)
	}
	if types := asList(s.Type); len(types) > 0 && !slices.ContainsFunc(types, func(name any) bool { return isOfType(value, name) }) {
		return nil, fmt.Errorf("%s is %v, not of the type %v", at, value, s.Type)
	}
	if n, ok := value.(float64); ok && s.Minimum != nil && n < *s.Minimum {
		return nil, fmt.Errorf("%s is %v, below %v", at, n, *s.Minimum)
	}
	if s.Const != nil && !reflect.DeepEqual(value, s.Const) {
		return nil, fmt.Errorf("%s is %v, %w as %v", at, value, errOther, s.Const)
	}
	if s.Enum != nil && !slices.Contains(s.Enum, value) {
		return nil, fmt.Errorf("%s is %v, not of %v", at, value, s.Enum)
	}
	if s.Not != nil {
		if _, err := s.Not.check(value, at); err == nil {
			return nil, fmt.Errorf("%s is %v, which is excluded", at, value)
		}
	}
	if object, ok := value.(map[string]any); ok {
		if err := s.checkObject(object, known, at); err != nil {
			return nil, err
		}
	}
	if list, ok := value.([]any); ok && s.Items != nil {
		for i, item := range list {
			if err := s.Items.whole(item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return nil, err
			}
		}
	}
	for _, part := range s.AllOf {
		also, err := part.check(value, at)
		if err != nil {
			return nil, err
		}
		merge(known, also)
	}
	return known, checkChoice(known, value, at, append(slices.Clone(s.AnyOf), s.OneOf...))
}

func (s *schemaNode) checkObject(object map[string]any, known map[string]bool, at string) error {
	for _, key := range s.Required {
		if _, ok := object[key]; !ok {
			return fmt.Errorf("%s lacks %s", at, key)
		}
	}
	var additional schemaNode
	hasShape := json.Unmarshal(s.Additional, &additional) == nil
	for key, v := range object {
		shape := s.Properties[key]
		if shape == nil && hasShape {
			shape = &additional
		}
		if shape != nil {
			known[key] = true
			if err := shape.whole(v, at+"."+key); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkChoice takes the first of several shapes that a value has.
func checkChoice(known map[string]bool, value any, at string, choices []*schemaNode) error {
	var last error
	for _, choice := range choices {
		also, err := choice.check(value, at)
		if err == nil {
			merge(known, also)
			return nil
		}
		if last == nil || rankOf(err) > rankOf(last) {
			last = err
		}
	}
	return last
}

// rankOf says how much an error tells: one deep inside more than one of a shape that isn't meant.
func rankOf(err error) int {
	where, _, _ := strings.Cut(err.Error(), " ")
	rank := strings.Count(where, ".")
	if !errors.Is(err, errOther) {
		rank += 100
	}
	return rank
}

func merge(known, also map[string]bool) {
	any := known["*"] || also["*"]
	maps.Copy(known, also)
	known["*"] = any
}

func (s *schemaNode) isLeaf() bool {
	return s.Ref == "" && s.AllOf == nil && s.AnyOf == nil && s.OneOf == nil && s.Properties == nil && s.Not == nil && s.Const == nil
}

func asList(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

func isOfType(value, name any) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	}
	return name == "object"
}

func TestTheCheckOfShapes(t *testing.T) {
	for update, want := range map[string]string{
		`{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.1,"currency":"USD"}}`:     "",
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","rawInput":{"any":[{"thing":1}]}}`:   "",
		`{"sessionUpdate":"usage_update","used":-1,"size":2}`:                                           "below",
		`{"sessionUpdate":"usage_update","size":2}`:                                                     "lacks used",
		`{"sessionUpdate":"usage_update","used":1,"size":2,"costs":7}`:                                  `unknown key "costs"`,
		`{"sessionUpdate":"made_up"}`:                                                                   "not",
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":7}}`:                    "not of the type string",
		`{"sessionUpdate":"plan","entries":[{"content":"c","priority":"medium","status":"nearly"}]}`:    "status",
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","locations":[{"path":"/a","to":1}]}`: `unknown key "to"`,
	} {
		err := shapeError("SessionNotification", json.RawMessage(`{"sessionId":"s","update":`+update+`}`))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s, not %q", update, got, want)
		}
	}
}
