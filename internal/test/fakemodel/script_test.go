package fakemodel

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRefusesWhatItDoesNotKnow(t *testing.T) {
	tests := []struct{ script, want string }{
		{`{"turn":[]}`, `unknown field "turn"`},
		{`{"turns":[{"txt":"x"}]}`, `unknown field "txt"`},
		{`{"turns":[`, "unexpected EOF"},
		{`{} {}`, "more than one"},
		{`{"chunk":[3]}`, "chunk is [3]"},
		{`{"chunk":[3,1]}`, "chunk is [3 1]"},
		{`{"turns":[{},{"for":"all"}]}`, `turn 1: for is "all"`},
		{`{"turns":[{"steps":[{"text":"a","drop":true}]}]}`, "turn 0: step 0: 2 kinds"},
		{`{"turns":[{"steps":[{}]}]}`, "0 kinds"},
		{`{"default":{"steps":[{}]}}`, "default: step 0: 0 kinds"},
	}
	for _, tt := range tests {
		if _, err := Parse([]byte(tt.script)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.script, err, tt.want)
		}
	}
	if _, err := Start(Script{Chunk: []int{3}}); err == nil {
		t.Error("Start takes a script that Parse refuses")
	}
}

func TestSplitKeepsTheText(t *testing.T) {
	text := strings.Repeat("état naïve → done; ", 150) + "🎉 end"
	pieces := split(text, []int{4, 20}, 1)
	if strings.Join(pieces, "") != text {
		t.Error("the pieces are not the text")
	}
	for i, p := range pieces {
		if n := utf8.RuneCountInString(p); n > 20 || n < 4 && i < len(pieces)-1 {
			t.Errorf("piece %d has %d runes: %q", i, n, p)
		}
	}
	if got := split("abc", nil, 1); len(got) != 1 {
		t.Errorf("without a chunk: %q", got)
	}
}
