package fleet

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// rest is what a JSON object has that this version doesn't know. It stays with what it came
// with, so that an older worker drops nothing of what a newer one wrote.
type rest = jsontext.Value

// asKnown has values written and read as encoding/json does, which knows of no rest.
var asKnown = jsonv1.DefaultOptionsV1()

// Encode writes what the bus keeps, as a Record or the Ledger, as JSON with all that it came with.
func Encode(v any) ([]byte, error) { return json.Marshal(v, asKnown) }

// Decode reads what any version has encoded.
func Decode(data []byte, v any) error { return json.Unmarshal(data, v, asKnown) }
