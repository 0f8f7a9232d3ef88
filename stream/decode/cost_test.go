package decode

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What can't be a cost is unknown, whoever says it.
func TestCostsThatAreNone(t *testing.T) {
	for usd, want := range map[string]stream.Cost{
		"0": stream.USD(0), "0.25": stream.USD(0.25), "1e9": stream.USD(1e9), "1.1e9": {}, "1e308": {}, "1e400": {}, "-1": {}, `"1"`: {}, "NaN": {}, "null": {}, "[]": {}, "true": {},
	} {
		_, claude := decodeLines(t, FormatClaude, `{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":`+usd+`}`)
		if claude.Usage.Cost != want {
			t.Errorf("claude's %s: %+v", usd, claude.Usage.Cost)
		}
		for _, cost := range []string{`{"total":` + usd + `}`, usd} {
			_, pi := decodeLines(t, FormatPi, `{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":1,"cost":`+cost+`},"stopReason":"stop"}}`,
				`{"type":"turn_end","message":{"role":"assistant","content":[],"usage":{"input":1,"cost":`+cost+`},"stopReason":"stop"},"toolResults":[]}`)
			if pi.Usage.Cost != want {
				t.Errorf("pi's %s: %+v", cost, pi.Usage.Cost)
			}
		}
	}
}
