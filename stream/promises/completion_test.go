package promises

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

func TestCompletion(t *testing.T) {
	for _, tt := range []struct {
		name    string
		promise string
		text    string
		want    string // the promise that was kept, "" for none
	}{
		{"tag", "DONE", "All done. <promise>DONE</promise>", "DONE"},
		{"tag in mid-text", "DONE", "So <promise>DONE</promise> it is.\nBye", ""},
		{"tag on a line in mid-text", "DONE", "So.\n<promise>DONE</promise>\nIt is.\nBye", "DONE"},
		{"white space on both sides", " all \n tests  pass ", "<promise>\n  all tests\tpass\n</promise>", "all tests pass"},
		{"another text", "DONE", "<promise>NOT DONE</promise>", ""},
		{"capital letters", "DONE", "<promise>done</promise>", ""},
		{"capital tag", "DONE", "<PROMISE>DONE</PROMISE>", ""},
		{"no tag", "DONE", "DONE", ""},
		{"two that contradict each other", "DONE", "<promise>NO</promise> <promise>DONE</promise>", ""},
		{"the other way round", "DONE", "<promise>DONE</promise> <promise>NO</promise>", ""},
		{"on two lines", "DONE", "<promise>DONE</promise>\n\n<promise>NO</promise>", ""},
		{"twice the same", "DONE", "<promise>DONE</promise> <promise>DONE</promise>", "DONE"},
		{"twice the same on two lines", "DONE", "<promise>DONE</promise>\nyes\n<promise>DONE</promise>", "DONE"},
		{"the promise and the word", "DONE", "<promise>DONE</promise>\n<promise>LOOP_COMPLETE</promise>", "LOOP_COMPLETE"},
		{"talked about, then made", "DONE", "I may say <promise>NO</promise> or so.\n<promise>DONE</promise>", "DONE"},
		{"talked about, then another", "DONE", "I can't say <promise>DONE</promise>.\n<promise>NO</promise>", ""},
		{"tag that isn't closed", "DONE", "<promise>DONE", ""},
		{"tag inside an event", "DONE", `<event topic="t"><promise>DONE</promise></event>`, ""},
		{"tag behind an event", "DONE", `<event topic="t"><promise>NO</promise></event><promise>DONE</promise>`, "DONE"},
		{"no promise wanted", "", "<promise></promise>", ""},
		{"word", "", "Good.\nLOOP_COMPLETE", "LOOP_COMPLETE"},
		{"word with a promise set", "DONE", "Good.\nLOOP_COMPLETE", "LOOP_COMPLETE"},
		{"word ends the last line", "", "That makes it LOOP_COMPLETE  \n\n  \n", ""},
		{"word is the last line", "", "That makes it\nLOOP_COMPLETE  \n\n  \n", "LOOP_COMPLETE"},
		{"word in mid-text", "", "I'll say LOOP_COMPLETE when\nit is done", ""},
		{"word in mid-line", "", "LOOP_COMPLETE, I guess", ""},
		{"part of a word", "", "NOT_LOOP_COMPLETE", ""},
		{"behind punctuation", "", "done:LOOP_COMPLETE", ""},
		{"word, then an event", "", "LOOP_COMPLETE\n<event topic=\"t\">x</event>\n", "LOOP_COMPLETE"},
		{"word inside an event", "", "bye\n<event topic=\"t\">\nLOOP_COMPLETE\n</event>", ""},
		{"nothing", "DONE", "", ""},
	} {
		v := Completion{Promise: tt.promise}.Judge(stream.Result{Text: tt.text})
		if v.Matched != (tt.want != "") || v.Promise != tt.want {
			t.Errorf("%s: %+v, want %q", tt.name, v, tt.want)
		}
		if v.Matched && v.Near {
			t.Errorf("%s: both matched and near", tt.name)
		}
	}
}

func TestCompletionWithAnotherWord(t *testing.T) {
	c := Completion{Word: "FERTIG"}
	if !c.Judge(stream.Result{Text: "Alles!\nFERTIG"}).Matched || c.Judge(stream.Result{Text: "LOOP_COMPLETE"}).Matched {
		t.Error("the word has to replace the default one")
	}
}

// Where a command decides anyway, it doesn't matter what a promise says that nobody has set.
func TestAnyPromiseThatIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"All done.\n<promise>ALL TESTS PASS</promise>":       "ALL TESTS PASS",
		"`<promise> A\nB </promise>`\n":                      "A B",
		"<promise>A</promise>\n<event topic=\"t\">x</event>": "A",
		"<promise>A</promise>\n<promise>A</promise>":         "A",
		"<promise>A</promise>\nLOOP_COMPLETE":                "A",
		"<promise>A</promise>\n<promise>B</promise>":         "",
		"<promise>A</promise>\nI also mended B.":             "",
		"I will say:\n<promise>A</promise>":                  "",
		"```\n<promise>A</promise>\n```":                     "",
		"<PROMISE>A</PROMISE>":                               "",
	} {
		v := Completion{Checked: true}.Judge(stream.Result{Text: text})
		if v.Matched != (want != "") || v.Promise != want {
			t.Errorf("%q: %+v, want %q", text, v, want)
		}
		if v := (Completion{Promise: "OTHER", Checked: true}).Judge(stream.Result{Text: strings.ReplaceAll(text, DefaultWord, "")}); v.Matched {
			t.Errorf("%q: %+v, although another promise is set", text, v)
		}
	}
}

func TestNearMisses(t *testing.T) {
	const want = "DONE"
	for _, tt := range []struct {
		name     string
		r        stream.Result
		found    string
		expected string
		why      string // part of the explanation
	}{
		{"another text", stream.Result{Text: "<promise>\nNOT  YET</promise>"}, "NOT YET", want, `promised "NOT YET"`},
		{"capital letters", stream.Result{Text: "<promise>Done</promise>"}, "Done", want, "capital letters count"},
		{"two of them", stream.Result{Text: "<promise>NO</promise> <promise>DONE</promise>"}, "DONE", want, "contradict each other"},
		{"capital tag", stream.Result{Text: "<Promise>DONE</Promise>"}, "DONE", want, "tag in capital letters"},
		{"earlier message", stream.Result{Text: "bye", EarlierPromise: "DONE"}, want, want, "earlier message"},
		{"the word in an earlier message", stream.Result{Text: "bye", EarlierPromise: "LOOP_COMPLETE"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "earlier message"},
		{"no tag", stream.Result{Text: "It is DONE."}, "DONE", want, "without the tag"},
		{"no end tag", stream.Result{Text: "<promise>DONE"}, "DONE", want, "never closed"},
		{"in a sentence", stream.Result{Text: "I can not output <promise>DONE</promise>."}, "DONE", want, "inside a sentence"},
		{"another one stands", stream.Result{Text: "No <promise>DONE</promise> yet.\n<promise>NOT YET</promise>"}, "NOT YET", want, `promised "NOT YET"`},
		{"in a code block", stream.Result{Text: "```\n<promise>DONE</promise>\n```"}, "DONE", want, "as code"},
		{"in a quote", stream.Result{Text: "> <promise>DONE</promise>"}, "DONE", want, "in a quote"},
		{"in a comment", stream.Result{Text: "<!-- <promise>DONE</promise> -->"}, "DONE", want, "in an HTML comment"},
		{"word in mid-text", stream.Result{Text: "LOOP_COMPLETE\nor not"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "counts as the last line"},
		{"word in the last line", stream.Result{Text: "so\nthat's LOOP_COMPLETE"}, "that's LOOP_COMPLETE", "LOOP_COMPLETE", "nothing else on it"},
		{"word in a quote", stream.Result{Text: "> LOOP_COMPLETE"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "in a quote"},
		{"word in a tag in a sentence", stream.Result{Text: "no <promise>LOOP_COMPLETE</promise> yet"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "inside a sentence"},
		{"small word", stream.Result{Text: "*loop_complete*."}, "*loop_complete*.", "LOOP_COMPLETE", "capital letters count"},
	} {
		v := Completion{Promise: "DONE"}.Judge(tt.r)
		if v.Matched || !v.Near || v.Found != tt.found || v.Expected != tt.expected || !strings.Contains(v.Why, tt.why) {
			t.Errorf("%s: %+v", tt.name, v)
		}
		if strings.Contains(v.Why, "\n") || !strings.HasSuffix(v.Why, ".") {
			t.Errorf("%s: %q is no sentence", tt.name, v.Why)
		}
	}
	for _, r := range []stream.Result{{}, {Text: "still working"}, {Text: "UNDONE, ABANDONED"}, {Text: "bye", EarlierPromise: "other"}} {
		if v := (Completion{Promise: "DONE"}).Judge(r); v.Near || v.Matched {
			t.Errorf("%+v: %+v, want nothing", r, v)
		}
	}
}

func TestTopics(t *testing.T) {
	text := `Before.
<event topic="build.done" target='reviewer'>
  tests: pass
  <b>x</b>
</event> <event target="x">no topic</event>
**<event topic="empty"/>**
<event topic="a/b"></event> <event topic="c">Say <promise>DONE</promise></event>

Built. <event topic="end">behind a sentence</event>
<promise>DONE</promise>`
	want := []stream.Topic{
		{Topic: "build.done", Target: "reviewer", Payload: "tests: pass\n  <b>x</b>"},
		{Topic: "empty"},
		{Topic: "a/b"},
		{Topic: "c", Payload: "Say <promise>DONE</promise>"},
		{Topic: "end", Payload: "behind a sentence"},
	}
	if got, misses := Topics(text); !reflect.DeepEqual(got, want) || misses != nil {
		t.Errorf("topics %+v %+v\nwant   %+v", got, misses, want)
	}
	for _, text := range []string{"an <eventual> topic", "<event", "<event>", "<event topic=\"\"/>", "<event target=\"x\">y</event>", "<EVENT>x</EVENT>"} {
		if got, misses := Topics(text); got != nil || misses != nil {
			t.Errorf("%q: %+v %+v, want none", text, got, misses)
		}
	}
}

// Topics count where promises do.
func TestTopicsInTheSamePlaces(t *testing.T) {
	const tag, event = "<promise>DONE</promise>", `<event topic="a">x</event>`
	for _, text := range kept {
		if !strings.Contains(text, tag) {
			continue
		}
		if got, misses := Topics(strings.ReplaceAll(text, tag, event)); len(got) == 0 || misses != nil && !strings.Contains(text, "> ") {
			t.Errorf("%q: %+v %+v", text, got, misses)
		}
	}
	for text, kind := range talked {
		if got, misses := Topics(strings.ReplaceAll(text, tag, event)); got != nil || len(misses) != 1 || misses[0].Kind != kind || !strings.Contains(misses[0].Why, "publishes nothing") {
			t.Errorf("%q: %+v %+v, want %s", text, got, misses, kind)
		}
	}
}

func TestTopicsThatAreNone(t *testing.T) {
	for text, kind := range map[string]stream.NearKind{
		`<EVENT topic="a">x</EVENT>`:    NearTagCase,
		`<EVENT TOPIC="a">x</EVENT>`:    NearTagCase,
		`<Event topic="a"/>`:            NearTagCase,
		`<event TOPIC="a"/>`:            NearTagCase,
		`<event topic="a">never closed`: NearOpen,
		`<event topic = "a">x</event>`:  NearBlank,
		`<event topic ="a">x</event>`:   NearBlank,
		`<event topic= 'a'>x</event>`:   NearBlank,
		`<event topic=a>x</event>`:      NearQuotes,
		`<event topic=“a”>x</event>`:    NearQuotes,
	} {
		if got, misses := Topics(text); got != nil || len(misses) != 1 || misses[0].Kind != kind || !strings.Contains(misses[0].Why, `<event topic="a">`) {
			t.Errorf("%q: %+v %+v, want %s", text, got, misses, kind)
		}
	}
	got, misses := Topics("<event topic=\"a\">Never closed\n\n<event topic=\"b\">x</event>\n<event topic=\"c\">Open\n<event topic=\"d\">Open")
	if len(got) != 1 || got[0] != (stream.Topic{Topic: "b", Payload: "x"}) || len(misses) != 1 || misses[0].Kind != NearOpen {
		t.Errorf("%+v %+v", got, misses)
	}
}

// FuzzTopics checks that what is published was written so.
func FuzzTopics(f *testing.F) {
	for _, text := range []string{`<event topic="a">x</event>`, "<event topic=\"a\">\n<event topic='b'/>", "<EVENT topic=\"a\"/>\n- <event topic=\"b\"></event>", "`<event topic=\"a\"/>`", "<event x><event></event>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		topics, misses := Topics(text)
		for _, topic := range topics {
			if topic.Topic == "" || !strings.Contains(text, topic.Topic) || strings.Count(text, "<event") < len(topics) {
				t.Errorf("%+v", topics)
			}
		}
		for i, m := range misses {
			if m.Kind == NearNone || m.Why == "" || i > 0 && m.Kind == misses[i-1].Kind {
				t.Errorf("%+v", misses)
			}
		}
		Completion{Promise: "a"}.Judge(stream.Result{Text: text})
	})
}

func FuzzCompletion(f *testing.F) {
	f.Add("<promise>DONE</promise>", "DONE", "")
	f.Add("x\nLOOP_COMPLETE", "a b", "a b")
	f.Add(`<event topic="x"><promise>a</promise></event>`, "", "LOOP_COMPLETE")
	f.Add("<!-- <promise>a</promise>\n```\n<PROMISE>a</promise>", "a", "")
	f.Fuzz(func(t *testing.T, text, promise, earlier string) {
		v := Completion{Promise: promise}.Judge(stream.Result{Text: text, EarlierPromise: earlier})
		switch {
		case v.Matched && (v.Near || v.Promise == ""):
			t.Errorf("contradiction: %+v", v)
		case v.Matched && v.Promise != DefaultWord && !strings.Contains(text, "<promise>"):
			t.Errorf("%+v without a tag", v)
		case v.Near && (v.Why == "" || v.Kind == NearNone || v.Expected == "" && v.Kind != NearUnset):
			t.Errorf("near miss without an explanation: %+v", v)
		}
	})
}
