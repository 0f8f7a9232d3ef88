//go:build !race

package history

import (
	"io"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/memtest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// The writer remembers little of a run: a loop's session may have any length.
func TestAWriterRemembersLittle(t *testing.T) {
	formats := map[string]decode.Format{"claude": decode.FormatClaude, "pi": decode.FormatPi, "codex": decode.FormatCodex, "gemini": decode.FormatGemini}
	for _, name := range memtest.Names() {
		agent, _, _ := strings.Cut(name, " ")
		if formats[agent] == "" || strings.HasSuffix(name, "one message") { // of text up to 4 MiB wait to be written
			continue
		}
		t.Run(name, func(t *testing.T) {
			w, err := NewWriter(Options{Folder: t.TempDir()}, t.TempDir())
			must.OK(t, err)
			w.HandleRecord(begins(1))
			grown := memtest.Growth(16*maxRunning, memtest.Streams[name], func(r io.Reader) {
				if _, err := (decode.Reader{Format: formats[agent], Handler: w}).Run(r); err != nil {
					t.Error(err)
				}
			})
			must.OK(t, w.Close())
			isKept := !strings.HasSuffix(name, "denials") && !strings.HasSuffix(name, "subagents") // of these it keeps nothing
			if lines := strings.Count(read(t, w.Path()), "\n"); lines < maxRunning && isKept {
				t.Fatalf("only %d entries were kept", lines)
			}
			if grown > 100_000 { // both halves end with as many calls that wait to be written
				t.Errorf("it grew by %d bytes", grown)
			}
		})
	}
}
