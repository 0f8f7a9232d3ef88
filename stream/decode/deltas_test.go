package decode

import (
	"strings"
	"testing"
)

func TestArenaStringsStayWhatTheyWere(t *testing.T) {
	var a arena
	var got, want []string
	for i := range 5000 {
		s := strings.Repeat(string(rune('a'+i%26)), i%700)
		got, want = append(got, a.string([]byte(s))), append(want, s)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("string %d became %q", i, got[i])
		}
	}
}
