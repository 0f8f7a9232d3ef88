package terminal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// hostile moves the cursor, sets the title, hides and reorders.
const hostile = "a\x1b[2J\x1b]0;owned\x07b\u202ec\u009b31m\u2066d\u200b\U000e0041\x7f\u2028\r\x1b[8mz"

func TestAFenceLetsOnlyOurCodesThrough(t *testing.T) {
	ours := "\x1b[1;36mé\x1b[0m" + hideCursor + clearLive + cutLines + "日本" + wrapLines + "\r" + showCursor + "\tok\n"
	for _, tt := range []struct {
		codes    bool
		in, want string
	}{
		{true, ours, ours},
		{false, "\x1b[1mbold\x1b[0m\ttab\n", "bold\ttab\n"},
		{true, "\x1b[8mhidden\x1b[0m", "hidden\x1b[0m"},
		{true, "\x1b[2J\x1b]0;t\x07x", "x"},
		{true, "a\u202eb\x9bc", "ab\uFFFDc"},
		{true, "\x1b[1;1;1;1;1;1;1mx\x1b[mx\x1b[", "xx"},
		{true, "\x1b[1", ""},
	} {
		var out bytes.Buffer
		f := fenced(&out, tt.codes, false)
		if n, err := f.Write([]byte(tt.in)); n != len(tt.in) || err != nil || out.String() != tt.want {
			t.Errorf("%q: got %q, want %q (%d, %v)", tt.in, out.String(), tt.want, n, err)
		}
	}
	var out bytes.Buffer
	f := fenced(&out, false, false)
	for _, c := range []byte("é日👩\u200d💻") { // a character may come in pieces
		f.Write([]byte{c})
	}
	if got := out.String(); got != "é日👩💻" {
		t.Errorf("in pieces: %q", got)
	}
}

// The fence is the last step: none of the styles needs it.
func FuzzNoStylePrintsWhatIsNotPlain(f *testing.F) {
	f.Add(hostile)
	f.Add("```\n" + hostile + "\n```\n| a | b |\n|---|---|\n| \x1b[1m | &#x202e; &#27;[31m |\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range Styles {
			for _, colour := range []bool{true, false} {
				out := playWith(s, name, Config{Palette: Palette{On: colour}, thinking: true, Verbatim: len(s)%2 == 1})
				f := Output{codes: colour}
				if f.plain(out) != out {
					t.Errorf("%s prints %q", name, out)
				}
				if name == JSON {
					checkJSONLines(t, out)
				}
			}
		}
	})
}

func checkJSONLines(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "{") { // a note
			continue
		}
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), stream.IsHidden) || !json.Valid([]byte(line)) {
			t.Errorf("a line is %q", line)
		}
	}
}

// playWith shows the recorded loop with all its texts replaced.
func playWith(s, name string, cfg Config) string {
	var out bytes.Buffer
	cfg.Out, cfg.Notes, cfg.Here, cfg.Width = &out, &out, "/w", func() int { return 60 }
	st := teller{Style: New(name, cfg)}
	for _, step := range recordedLoop {
		if step.agent != nil {
			st.Handle(replaced(step.agent, s).(stream.Event))
		} else {
			st.HandleLoop(replaced(step.own, s).(loop.Event))
		}
	}
	st.HandleLoop(loop.End{Reason: loop.StopPromise, Promise: s})
	st.Note(Line(s))
	st.Close()
	out.WriteString(LiveLine(loop.Status{Iteration: 1, Work: loop.Work{LastLine: s}, Session: stream.SessionStart{Model: s}}, 0, begun, 60, cfg.Palette))
	return out.String() + FailureText(loop.End{Reason: loop.StopFailures, Error: s})
}

// replaced is a copy of a struct with s in all its texts but the ids.
func replaced(event any, s string) any {
	v := reflect.New(reflect.TypeOf(event)).Elem()
	v.Set(reflect.ValueOf(event))
	for i := range v.NumField() {
		field := v.Field(i)
		isID := strings.HasSuffix(v.Type().Field(i).Name, "ID")
		if field.Type() == reflect.TypeFor[string]() && !isID {
			field.SetString(s)
		}
		if field.Type() == reflect.TypeFor[json.RawMessage]() {
			input, _ := json.Marshal(map[string]string{"command": s, "path": s})
			field.Set(reflect.ValueOf(json.RawMessage(input)))
		}
	}
	return v.Interface()
}

// A program gets the bytes of a patch; a terminal doesn't.
func TestAnOpenFenceLetsBytesThrough(t *testing.T) {
	const bytesOf = "a\r\n\xff\x1b[2J\r"
	var out bytes.Buffer
	f := NewOutput(&out)
	if _, err := Raw(Checked(f)).Write([]byte(bytesOf)); err != nil || out.String() != bytesOf {
		t.Errorf("%q, %v", out.String(), err)
	}
}
