package decode

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

func TestTextFormat(t *testing.T) {
	events := decodeAll(t, FormatText, strings.NewReader("\uFEFF\x1b[1mWorking\x1b[0m\r\n50%\r100%\n\nLOOP_COMPLETE"))
	want := []stream.Event{
		stream.Text{Delta: "Working\n", MessageID: "m1"},
		stream.Text{Delta: "100%\n", MessageID: "m1"},
		stream.Text{Delta: "\n", MessageID: "m1"},
		stream.Text{Delta: "LOOP_COMPLETE\n", MessageID: "m1"},
		stream.MessageEnd{MessageID: "m1", Text: "Working\n100%\n\nLOOP_COMPLETE"},
	}
	if got := events[:len(events)-1]; !reflect.DeepEqual(got, want) {
		t.Errorf("events %q\nwant   %q", got, want)
	}
	result := events[len(events)-1].(stream.Complete).Result
	if result.Terminal || result.CutOff || result.Failure != nil || result.Usage.Cost.Known || result.Lines != 4 {
		t.Errorf("result %+v", result)
	}
	if !(promises.Completion{}).Judge(result).Matched {
		t.Error("not complete")
	}
}

func TestTextFormatKeepsTheEnd(t *testing.T) {
	line := strings.Repeat("é", 500) + "\n"
	events := decodeAll(t, FormatText, strings.NewReader(strings.Repeat(line, 5000)+"LOOP_COMPLETE\n"))
	text := only[stream.MessageEnd](events)[0].Text
	if len(text) > maxText || len(text) < maxText-utf8.UTFMax || !utf8.ValidString(text) || !strings.HasSuffix(text, "é\nLOOP_COMPLETE") {
		t.Errorf("kept %d bytes, valid %t, ending in %q", len(text), utf8.ValidString(text), text[len(text)-20:])
	}
	if shown := len(liveText(events)); shown != 5000*len(line)+len("LOOP_COMPLETE\n") {
		t.Errorf("showed %d bytes", shown)
	}
}
