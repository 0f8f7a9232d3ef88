package stream

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"":                                         "",
		"plain\ttext\nétat 日本語 😀":                  "plain\ttext\nétat 日本語 😀",
		"\x1b[31mred\x1b[0m \x1b]0;title\x07x":     "red x",
		"\x1b[?25h":                                "",
		"NUL\x00 BEL\x07 DEL\x7f C1\u0085":         "NUL BEL DEL C1",
		"10%\r50%\r100%\nnext":                     "100%\nnext",
		"line\r\nline\r\r\n":                       "line\nline\n",
		"a\xffb":                                   "a\uFFFDb",
		"\x1b]0;never ends\nthis line is seen":     "\nthis line is seen",
		"\x1b[2K\rfresh":                           "fresh",
		"ends in half a sequence \x1b[3":           "ends in half a sequence ",
		"separators\u2028 and zero width\u200b ok": "separators\u2028 and zero width\u200b ok",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\r\n\x00\xff\u0090\x1b]8;;x\x1b\\")
	f.Fuzz(func(t *testing.T, s string) {
		p := Plain(s)
		if !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("Plain(%q) = %q isn't safe to show", s, p)
		}
		if strings.Count(p, "\n") != strings.Count(s, "\n") {
			t.Errorf("Plain(%q) = %q has other lines", s, p)
		}
		if again := Plain(p); again != p {
			t.Errorf("Plain(%q) = %q, and plain again %q", s, p, again)
		}
	})
}

func TestTextFormat(t *testing.T) {
	events := decodeAll(t, FormatText, strings.NewReader("\uFEFF\x1b[1mWorking\x1b[0m\r\n50%\r100%\n\nLOOP_COMPLETE"))
	want := []Event{
		Text{Delta: "Working\n", MessageID: "m1"},
		Text{Delta: "100%\n", MessageID: "m1"},
		Text{Delta: "\n", MessageID: "m1"},
		Text{Delta: "LOOP_COMPLETE\n", MessageID: "m1"},
		MessageEnd{MessageID: "m1", Text: "Working\n100%\n\nLOOP_COMPLETE"},
	}
	if got := events[:len(events)-1]; !reflect.DeepEqual(got, want) {
		t.Errorf("events %q\nwant   %q", got, want)
	}
	result := events[len(events)-1].(Complete).Result
	if result.Terminal || result.CutOff || result.Failure != nil || result.Usage.Cost.Known || result.Lines != 4 {
		t.Errorf("result %+v", result)
	}
	if !(Completion{}).Judge(result).Matched {
		t.Error("not complete")
	}
}

func TestTextFormatKeepsTheEnd(t *testing.T) {
	line := strings.Repeat("é", 500) + "\n"
	events := decodeAll(t, FormatText, strings.NewReader(strings.Repeat(line, 5000)+"LOOP_COMPLETE\n"))
	text := only[MessageEnd](events)[0].Text
	if len(text) > maxText || len(text) < maxText-utf8.UTFMax || !utf8.ValidString(text) || !strings.HasSuffix(text, "é\nLOOP_COMPLETE") {
		t.Errorf("kept %d bytes, valid %t, ending in %q", len(text), utf8.ValidString(text), text[len(text)-20:])
	}
	if shown := len(liveText(events)); shown != 5000*len(line)+len("LOOP_COMPLETE\n") {
		t.Errorf("showed %d bytes", shown)
	}
}

func TestTextFormatWithoutOutput(t *testing.T) {
	events, result := decodeLines(t, FormatText)
	if len(only[MessageEnd](events)) > 1 || result.Text != "" {
		t.Errorf("events %+v", events)
	}
}
