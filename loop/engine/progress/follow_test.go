package progress

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheLastLineOfText(t *testing.T) {
	for _, tt := range []struct {
		name   string
		deltas []string
		want   string
	}{
		{"nothing", nil, ""},
		{"in pieces", []string{"Fix", "ing ", "it"}, "Fixing it"},
		{"the last of three", []string{"one\ntwo\nthr", "ee"}, "three"},
		{"an empty line behind it", []string{"one\n", "two\n\n  \n"}, "two"},
		{"many", []string{strings.Repeat("line\n", 1000), "end"}, "end"},
	} {
		var b lineBuffer
		for _, d := range tt.deltas {
			b.add(d)
		}
		if got := b.last(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestALineWithoutEndIsBounded(t *testing.T) {
	var b lineBuffer
	for range 10000 {
		b.add("日本語")
	}
	if got := b.last(); len(b.buf) > 2*maxLine || !utf8.ValidString(got) || !strings.HasSuffix(got, "語") {
		t.Errorf("%d bytes, %q", len(b.buf), got)
	}
}
