package decode

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// FuzzDecoders feeds a decoder lines of any content. It must not panic, must emit
// nothing for a malformed line, and must read the lines that look like the one
// before in the same way as if they came first.
func FuzzDecoders(f *testing.F) {
	formats := Formats()
	for _, rec := range allRecordings(f) {
		if data := rec.bytes(f); len(data) < 20_000 {
			f.Add(byte(slices.Index(formats, rec.format)), data)
		}
	}
	pi, claude := byte(slices.Index(formats, FormatPi)), byte(slices.Index(formats, FormatClaude))
	f.Add(pi, []byte(piDelta("text_delta", "a")+"\n"+piDelta("text_delta", `\ud83d`)+"\n"+piDelta("text_delta", `\ude00`)))
	f.Add(claude, []byte(claudeDelta("text_delta", "a", "")+"\n"+claudeDelta("thinking_delta", "b", "t1")+"\n"+claudeDelta("text_delta", "c", "t1")))
	cut := strings.TrimSuffix(claudeDelta("text_delta", "a", ""), `,"uuid":"u"}`) // ends in null
	f.Add(claude, []byte(cut+"\n"+cut+"0"))
	f.Add(claude, []byte(cut+"A\n"+cut+"00"))
	for _, bad := range []string{"a\x00b", `\q`, `\u12`, `\u12x4`, `\u+123`, "\x80"} {
		f.Add(claude, []byte(claudeDelta("text_delta", "a", "")+"\n"+claudeDelta("text_delta", bad, "")))
	}
	f.Fuzz(func(t *testing.T, n byte, data []byte) {
		format := formats[int(n)%len(formats)]
		var quick, slow []stream.Event
		a, _ := NewDecoder(format)
		b, _ := NewDecoder(format)
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			before := len(quick)
			errA := a.Decode(line, func(e stream.Event) { quick = append(quick, e) })
			forgetShape(b)
			errB := b.Decode(line, func(e stream.Event) { slow = append(slow, e) })
			if errA != nil && (!errors.Is(errA, ErrMalformed) || len(quick) != before) {
				t.Errorf("line %q: error %v and events %v", line, errA, quick[before:])
			}
			if errA != errB || a.Done() != b.Done() {
				t.Errorf("line %q: error %v and done %t, but %v and %t by itself", line, errA, a.Done(), errB, b.Done())
			}
		}
		a.Close(func(e stream.Event) { quick = append(quick, e) })
		b.Close(func(e stream.Event) { slow = append(slow, e) })
		if got, want := eventLines(t, quick), eventLines(t, slow); got != want {
			t.Errorf("%q: %s", data, firstDifference(got, want))
		}
	})
}

// forgetShape makes a decoder read the next line as if none had come before.
func forgetShape(d Decoder) {
	switch d := d.(type) {
	case *piDecoder:
		d.shape = shape{}
	case *claudeDecoder:
		d.shape = shape{}
	}
}
