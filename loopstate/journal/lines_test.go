package journal

import (
	"encoding/json"
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
		text = strings.ToValidUTF8(text, "?") // as stream.Sanitize has it
		n := wire.FirstText(text, max(at, 0)%(len(text)+1))
		got := appendText(appendText([]byte(`{"sessionUpdate":"x","content":{"type":"text","text":"`), text[:n]), text[n:])
		var chunk wire.Chunk
		if err := json.Unmarshal(append(got, runEnd...), &chunk); err != nil || chunk.Content.Text != text {
			t.Errorf("%q is %s (%v)", text, got, err)
		}
	})
}
