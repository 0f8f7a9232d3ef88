package budget

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// maxPurse bounds the file of a purse, in bytes.
const maxPurse = 1 << 10

// Purse is what a file says by which a loop tells the loops of its agents what is left, or these it what they spent: how many dollars; nil: no limit.
type Purse struct {
	USD *float64 `json:"usd"`
}

// ReadPurse reads a file of a till, as far as it is one: an agent might put a pipe or a link there.
func ReadPurse(name string) (p Purse) {
	data, err := paths.ReadOwn(name, maxPurse)
	if err != nil || json.Unmarshal(data, &p) != nil {
		return Purse{}
	}
	return p
}

// WritePurse writes a file of a till, all of it at once, and into nothing that is there already.
func WritePurse(name string, p Purse) bool {
	data, err := json.Marshal(p)
	if err == nil {
		_, err = os.Stat(filepath.Dir(name)) // it goes with the loop whose till it is
	}
	return err == nil && paths.WriteOwn(name, data, false) == nil
}
