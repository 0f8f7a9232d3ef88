package till

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
)

// What an agent puts in the place of a till's files is neither waited for nor written into.
func TestATillIsNoWayOutOfWalls(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte(`{"usd":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	till := t.TempDir()
	left := filepath.Join(till, Left)
	for _, name := range []string{left, left + ".new"} {
		if err := os.Symlink(outside, name); err != nil {
			t.Skip(err)
		}
	}
	if p := budget.ReadPurse(left); p.USD != nil {
		t.Errorf("a link says $%v", *p.USD)
	}
	if !budget.WritePurse(left, budget.Purse{USD: new(2.0)}) || *budget.ReadPurse(left).USD != 2 {
		t.Error("what is left isn't said")
	}
	if data, err := os.ReadFile(outside); string(data) != `{"usd":7}` {
		t.Errorf("outside there is %q, %v", data, err)
	}
}
