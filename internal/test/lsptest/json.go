package lsptest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON returns v as it stands on the wire: one line, nothing escaped that
// needn't be. It panics for what has no JSON.
func JSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("%#v has no JSON: %v", v, err))
	}
	return bytes.TrimSpace(b.Bytes())
}
