package rpc

import (
	"bytes"
	"encoding/json"
	"reflect"

	"go.lsp.dev/protocol"
)

// Codec encodes and decodes params and results: the types of the protocol
// package with that package, which knows their unions, all others as usual.
type Codec struct{}

func (Codec) Marshal(v any) ([]byte, error) {
	if ofProtocol(v) {
		return protocol.Marshal(v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (Codec) Unmarshal(data []byte, v any) error {
	if ofProtocol(v) {
		return protocol.Unmarshal(data, v)
	}
	return json.Unmarshal(data, v)
}

// ofProtocol says whether v is a type of the protocol package, or a pointer to
// one or a slice of them.
func ofProtocol(v any) bool {
	t := reflect.TypeOf(v)
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) && t.PkgPath() == "" {
		t = t.Elem()
	}
	return t != nil && t.PkgPath() == "go.lsp.dev/protocol"
}
