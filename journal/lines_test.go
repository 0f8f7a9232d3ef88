package journal

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Text that is encoded in pieces is the same as the whole.
func FuzzTextInPieces(f *testing.F) {
	for _, text := range []string{"", "words", "a \"quote\"\n\tand a \\", "é ü 漢字 \u2028", "\x00\x1b[0m<&>", "\xff cut \xe6"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		text = strings.ToValidUTF8(text, "?") // as stream.Plain has it
		n := wire.FirstText(text, max(at, 0)%(len(text)+1))
		got := appendText(appendText([]byte(`{"sessionUpdate":"x","content":{"type":"text","text":"`), text[:n]), text[n:])
		want, err := wire.NewEncoder().Encode(wire.Chunk{SessionUpdate: "x", Content: wire.TextContent{Type: "text", Text: text}}, false)
		if err != nil || string(got)+`"}}` != string(want) {
			t.Errorf("%q is %s, want %s (%v)", text, got, want, err)
		}
	})
}
