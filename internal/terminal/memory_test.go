//go:build !race

package terminal

import (
	"io"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/memtest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// No style remembers a run: what it has shown is gone, and what it waits for is
// bounded. Each stream is read as run and decode read it.
func TestStylesRememberLittle(t *testing.T) {
	for _, name := range Styles {
		for _, of := range memtest.Names() {
			if strings.HasSuffix(of, "one message") { // the decoder keeps the end of it, up to 2 MiB
				continue
			}
			t.Run(name+"/"+of, func(t *testing.T) {
				agent, _, _ := strings.Cut(of, " ")
				format := decode.FormatText
				if b, err := backends.Lookup(agent); err == nil {
					format = b.Output
				}
				s := &teller{Style: New(name, Config{
					Out: io.Discard, Notes: io.Discard, Width: func() int { return 80 }, Verbatim: format == decode.FormatText,
				})}
				defer s.Close()
				s.HandleLoop(loop.IterationStart{Iteration: 1})
				lines := 8192
				if format == decode.FormatText { // half of them are more than the end of a text that is kept
					lines = 24_000
				}
				grown := memtest.Growth(lines, memtest.Streams[of], func(r io.Reader) {
					if _, err := (decode.Reader{Format: format, Handler: s}).Run(r); err != nil {
						t.Error(err)
					}
				})
				if grown > 150_000 {
					t.Errorf("it grew by %d bytes", grown)
				}
			})
		}
	}
}
