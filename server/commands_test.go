package server

import (
	"encoding/json"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// A command of the wire that is in no table would be refused as unknown.
func TestEveryCommandIsCarriedOut(t *testing.T) {
	var names struct{ Commands []string }
	must.OK(t, json.Unmarshal([]byte(readFile(t, "../testdata/wire/names.json")), &names))
	m, _ := askedManager(t, t.TempDir())
	for _, name := range names.Commands {
		if m.commands[name].read == nil {
			t.Errorf("the table has no %s", name)
		}
		if !caller.Knows(name) {
			t.Errorf("internal/caller/rights.go doesn't say who may ask for %s", name)
		}
	}
}
