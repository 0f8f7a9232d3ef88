package documents

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

func TestPositions(t *testing.T) {
	const text = "a\tü€😀b\r\n\xff\xfe!\rlast"
	tests := []struct {
		name                    string
		offset                  int
		line, utf16col, utf8col uint32
	}{
		{"start", 0, 0, 0, 0},
		{"behind a tab", 2, 0, 2, 2},
		{"behind two bytes", 4, 0, 3, 4},
		{"inside three bytes", 6, 0, 3, 4},
		{"behind three bytes", 7, 0, 4, 7},
		{"behind an astral character", 11, 0, 6, 11},
		{"line's end", 12, 0, 7, 12},
		{"between CR and LF", 13, 0, 7, 12},
		{"next line", 14, 1, 0, 0},
		{"behind invalid bytes", 16, 1, 2, 2},
		{"behind a lone CR", 18, 2, 0, 0},
		{"end", 22, 2, 4, 4},
		{"behind the end", 99, 2, 4, 4},
		{"before the start", -1, 0, 0, 0},
	}
	for _, tt := range tests {
		for _, bytes := range []bool{false, true} {
			want := protocol.Position{Line: tt.line, Character: tt.utf16col}
			if bytes {
				want.Character = tt.utf8col
			}
			if got := newTextIndex(text, bytes).position(tt.offset); got != want {
				t.Errorf("%s (UTF-8 %v): %+v, want %+v", tt.name, bytes, got, want)
			}
		}
	}
}

func TestPositionsOutsideAreClamped(t *testing.T) {
	x := newTextIndex("ab\r\n😀c\n", false)
	tests := []struct {
		line, column uint32
		want         int
	}{
		{0, 2, 2}, {0, 3, 2}, {0, 1 << 31, 2}, {0, 1<<32 - 1, 2},
		{1, 1, 4}, // inside a surrogate pair
		{1, 2, 8}, {2, 0, 10}, {3, 0, 10}, {1<<32 - 1, 5, 10},
	}
	for _, tt := range tests {
		if got := x.offset(protocol.Position{Line: tt.line, Character: tt.column}); got != tt.want {
			t.Errorf("%d:%d is offset %d, want %d", tt.line, tt.column, got, tt.want)
		}
	}
}

// TestPositionsRoundTrip takes random texts through both encodings: every
// offset between characters comes back, and the columns are those of a plain
// count.
func TestPositionsRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "\t", "ü", "€", "😀", "e\u0301", "\u2028", "\u0085", "\n", "\r\n", "\r", "\xff", "\xf0\x9f", "\uFEFF", "\uFFFD"}
	for range 2000 {
		var b strings.Builder
		for range random.IntN(20) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		for _, bytes := range []bool{false, true} {
			x := newTextIndex(text, bytes)
			var line, column uint32
			for at := 0; ; {
				want := protocol.Position{Line: line, Character: column}
				if got := x.position(at); got != want {
					t.Fatalf("%q (UTF-8 %v): offset %d is at %+v, want %+v", text, bytes, at, got, want)
				}
				if got := x.offset(want); got != at {
					t.Fatalf("%q (UTF-8 %v): %+v is offset %d, want %d", text, bytes, want, got, at)
				}
				if at == len(text) {
					break
				}
				r, size := utf8.DecodeRuneInString(text[at:])
				switch {
				case r == '\r' && strings.HasPrefix(text[at:], "\r\n"):
					size, line, column = 2, line+1, 0
				case r == '\r' || r == '\n':
					line, column = line+1, 0
				case bytes:
					column += uint32(size)
				case r > 0xFFFF:
					column += 2
				default:
					column++
				}
				at += size
			}
		}
	}
}
