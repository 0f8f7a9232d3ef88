//go:build !race

package history

import (
	"fmt"
	"strings"
	"testing"
)

// A line that is too long can't be read back, so none is written.
func TestAVeryLongOutputIsKeptInPart(t *testing.T) {
	for name, unit := range map[string]string{"letters": "a line\n", "bytes": "\x01\x02\xff\n", "one line": "x", "quotes": `"\`} {
		w, _, _ := newTestWriter(t)
		w.HandleRecord(begins(1))
		toolGives(w, "t1", unit+strings.Repeat(unit, (20<<20)/len(unit))+"the end\n")
		got, ok, err := Output(closed(t, w), 1, "t1")
		if !ok || err != nil || len(got) < 2<<20 || !strings.HasPrefix(got, strings.ToValidUTF8(unit, "\ufffd")) || !strings.HasSuffix(got, "the end\n") || !strings.Contains(got, " left out …\n") {
			t.Errorf("%s: %d bytes, %v, %v, it begins %.20q", name, len(got), ok, err, fmt.Sprint(got))
		}
	}
}
