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
	"github.com/ralph-lsp/ralph-lsp/loop/engine/till"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What a loop of the agent's spends counts while it spends, whatever else stands in the till.
func TestWhatAgentsLoopsSpendCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, func(c *setup.Config) { c.Limits.MaxCostUSD = 3 }, withTime(costs(1, "no"), time.Hour))
		time.Sleep(2 * time.Second)
		dir := filepath.Join(r.scope.TempDir, till.Name)
		left := func() float64 {
			if usd := budget.ReadPurse(filepath.Join(dir, till.Left)).USD; usd != nil {
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
			if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * beatInterval)
			synctest.Wait()
			if got := r.Status().Cost; got != stream.USD(tt.want) || stateFileOf(r).Cost.USD != tt.want {
				t.Errorf("%s %s: it cost %v, the file says %v", tt.file, tt.text, got, stateFileOf(r).Cost.USD)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"usd":1.5}`), 0o600); err != nil {
			t.Fatal(err)
		}
		r.over(loop.StopMaxCost, 1)
	})
}
