package fleet

import (
	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// rest is what this version doesn't know.
type rest = ledger.Rest

// asKnown has values written and read as encoding/json does, which knows of no rest.
var asKnown = jsonv1.DefaultOptionsV1()

// Encode writes what the bus keeps, as a Record or the Ledger, as JSON with all that it came with.
func Encode(v any) ([]byte, error) { return json.Marshal(v, asKnown) }

// Decode reads what any version has encoded.
func Decode(data []byte, v any) error { return json.Unmarshal(data, v, asKnown) }
