package stream

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// FuzzPi and its siblings feed a decoder lines of any content. It must not panic,
// must emit nothing for a malformed line, and must read the lines that look
// like the one before in the same way as if they came first.
func FuzzPi(f *testing.F) {
	fuzzDecoder(f, FormatPi, func(d Decoder) { d.(*piDecoder).shape = shape{} })
}

func FuzzClaude(f *testing.F) {
	fuzzDecoder(f, FormatClaude, func(d Decoder) { d.(*claudeDecoder).shape = shape{} })
}

func FuzzGemini(f *testing.F) { fuzzDecoder(f, FormatGemini, func(Decoder) {}) }

func FuzzCodex(f *testing.F) { fuzzDecoder(f, FormatCodex, func(Decoder) {}) }

func FuzzAmp(f *testing.F) {
	fuzzDecoder(f, FormatAmp, func(d Decoder) { d.(*claudeDecoder).shape = shape{} })
}

func FuzzCopilot(f *testing.F) { fuzzDecoder(f, FormatCopilot, func(Decoder) {}) }

func FuzzOpencode(f *testing.F) { fuzzDecoder(f, FormatOpencode, func(Decoder) {}) }

func FuzzText(f *testing.F) {
	fuzzDecoder(f, FormatText, func(Decoder) {})
}

// fuzzDecoder compares a decoder with one that forgets the shape of each line.
func fuzzDecoder(f *testing.F, format Format, forget func(Decoder)) {
	for _, rec := range allRecordings(f) {
		if data := rec.bytes(f); rec.format == format && len(data) < 20_000 {
			f.Add(data)
		}
	}
	f.Add([]byte(piDelta("text_delta", "a") + "\n" + piDelta("text_delta", `\ud83d`) + "\n" + piDelta("text_delta", `\ude00`)))
	f.Add([]byte(claudeDelta("text_delta", "a", "") + "\n" + claudeDelta("thinking_delta", "b", "t1") + "\n" + claudeDelta("text_delta", "c", "t1")))
	cut := strings.TrimSuffix(claudeDelta("text_delta", "a", ""), `,"uuid":"u"}`) // ends in null
	f.Add([]byte(cut + "\n" + cut + "0"))
	f.Add([]byte(cut + "A\n" + cut + "00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var quick, slow []Event
		a, _ := NewDecoder(format)
		b, _ := NewDecoder(format)
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			before := len(quick)
			errA := a.Decode(line, func(e Event) { quick = append(quick, e) })
			forget(b)
			errB := b.Decode(line, func(e Event) { slow = append(slow, e) })
			if errA != nil && (!errors.Is(errA, ErrMalformed) || len(quick) != before) {
				t.Errorf("line %q: error %v and events %v", line, errA, quick[before:])
			}
			if errA != errB || a.Done() != b.Done() {
				t.Errorf("line %q: error %v and done %t, but %v and %t by itself", line, errA, a.Done(), errB, b.Done())
			}
		}
		a.Close(func(e Event) { quick = append(quick, e) })
		b.Close(func(e Event) { slow = append(slow, e) })
		if got, want := eventLines(t, quick), eventLines(t, slow); got != want {
			t.Errorf("%q: %s", data, firstDifference(got, want))
		}
	})
}
