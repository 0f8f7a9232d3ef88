//go:build !race

package decode

import (
	"io"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/memtest"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// keeps is what may be kept of a run's second half, in bytes: far less than one
// byte per line.
const keeps = 64 << 10

// What is kept of a run doesn't grow with it.
func TestARunOfManyLinesTakesNoMemory(t *testing.T) {
	formats := map[string]Format{"claude": FormatClaude, "pi": FormatPi, "codex": FormatCodex, "gemini": FormatGemini, "text": FormatText}
	for _, name := range memtest.Names() {
		t.Run(name, func(t *testing.T) {
			agent, _, _ := strings.Cut(name, " ")
			events := 0
			count := stream.HandlerFunc(func(stream.Event) { events++ })
			grown := memtest.Growth(24_000, memtest.Streams[name], func(r io.Reader) {
				if _, err := (Reader{Format: formats[agent], Handler: count}).Run(r); err != nil {
					t.Error(err)
				}
			})
			if events < 10_000 {
				t.Fatalf("only %d events: the lines aren't understood", events)
			}
			if grown > keeps {
				t.Errorf("it grew by %d bytes", grown)
			}
		})
	}
}
