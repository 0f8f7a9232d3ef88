package backends

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

func TestBadOutput(t *testing.T) {
	for _, tt := range []struct {
		role   string
		format decode.Format
		want   string
	}{
		{"prints nothing", decode.FormatText, "the agent printed nothing"},
		{"prints nothing", decode.FormatPi, "the agent printed nothing"},
		{"prints binary", decode.FormatText, "the agent printed binary data instead of text"},
		{"prints binary", decode.FormatPi, "the agent's output isn't pi-stream-json"},
		{"closes its output", decode.FormatText, "the agent closed its output and didn't exit within 50ms"},
		{"closes its output", decode.FormatPi, "the agent closed its output and didn't exit within 50ms"},
	} {
		t.Run(tt.role+" as "+string(tt.format), func(t *testing.T) {
			if tt.role == "closes its output" {
				defer func(limit time.Duration) { lingerLimit = limit }(lingerLimit)
				lingerLimit = 50 * time.Millisecond
			}
			onBoth(t, func(t *testing.T, connect func(*Spec)) {
				p, _ := startRole(t, tt.role, func(s *Spec) { s.Backend = fake(tt.format) }, connect)
				exit := p.Wait()
				if f := exit.Result.Failure; f == nil || f.Message != tt.want {
					t.Errorf("failure %+v, want %s", f, tt.want)
				}
				if exit.Lingered || exit.Signal != "" || exit.Code != 0 {
					t.Errorf("got %+v", exit)
				}
				checkNothingLeft(t, p)
			})
		})
	}
}
