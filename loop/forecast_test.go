package loop

import (
	"encoding/json"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func TestForecast(t *testing.T) {
	ended := func(iterations int, usd float64, unknown int) Past {
		end, _ := json.Marshal(End{Iterations: iterations, Cost: stream.USD(usd), Unknown: unknown})
		return Past{Entry: registry.Entry{End: end}}
	}
	unpriced := Past{Entry: registry.Entry{End: []byte(`{"iterations":9}`)}}
	for name, tt := range map[string]struct {
		past       []Past
		iterations int
		want       string
	}{
		"nothing":                 {nil, 50, ""},
		"too few":                 {[]Past{ended(2, 4, 0), {}, unpriced, ended(9, 1, 2)}, 50, ""},
		"enough":                  {[]Past{ended(2, 2, 0), unpriced, ended(1, 1.3, 0), ended(9, 1, 2)}, 50, "about $1.10 an iteration so far, 50 iterations: $55.00"},
		"without a limit":         {[]Past{ended(3, 3, 0)}, 0, "about $1.00 an iteration so far"},
		"iterations cost nothing": {[]Past{ended(3, 0, 0)}, 50, ""},
	} {
		if got := forecast(tt.past, tt.iterations); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
