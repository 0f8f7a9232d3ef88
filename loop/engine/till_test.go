package engine

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What a loop of the agent's spends counts while it spends, whatever else stands in the till.
func TestWhatAgentsLoopsSpendCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxCostUSD = 3 }, withTime(costs(1, "no"), time.Hour))
		time.Sleep(2 * time.Second)
		till := filepath.Join(r.scope.TempDir, tillName)
		left := func() float64 {
			if usd := budget.ReadPurse(filepath.Join(till, leftName)).USD; usd != nil {
				return *usd
			}
			return -1
		}
		if left() != 2 {
			t.Errorf("$%v are left", left())
		}
		for _, tt := range []struct {
			file, text string
			want       float64 // that the loop has cost then
		}{
			{"a.json", `{"usd":0.25}`, 1.25},
			{"b.json", `{"usd":0.5}`, 1.75},
			{"a.json", `{"usd":0.5}`, 2},
			{"a.json", `{"usd":0}`, 2},
			{"a.json", `{"usd":-100}`, 2},
			{"b.json", `{"usd":1e999}`, 2},
			{"c.json", `nonsense`, 2},
			{"left", `{"usd":100}`, 2},
		} {
			if err := os.WriteFile(filepath.Join(till, tt.file), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * beatInterval)
			synctest.Wait()
			if got := r.Status().Cost; got != stream.USD(tt.want) || *stateFileOf(r).CostUSD != tt.want {
				t.Errorf("%s %s: it cost %v, the file says %v", tt.file, tt.text, got, *stateFileOf(r).CostUSD)
			}
		}
		if err := os.WriteFile(filepath.Join(till, "a.json"), []byte(`{"usd":1.5}`), 0o600); err != nil {
			t.Fatal(err)
		}
		r.over(loop.StopMaxCost, 1)
	})
}

// What an agent puts in the place of a till's files is neither waited for nor written into.
func TestATillIsNoWayOutOfWalls(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte(`{"usd":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	till := t.TempDir()
	left := filepath.Join(till, leftName)
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
