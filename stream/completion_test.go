package stream

import (
	"reflect"
	"strings"
	"testing"
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
		v := Completion{Promise: tt.promise}.Judge(Result{Text: tt.text})
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
	if !c.Judge(Result{Text: "Alles!\nFERTIG"}).Matched || c.Judge(Result{Text: "LOOP_COMPLETE"}).Matched {
		t.Error("the word has to replace the default one")
	}
}

func TestNearMisses(t *testing.T) {
	const want = "DONE"
	for _, tt := range []struct {
		name     string
		r        Result
		found    string
		expected string
		why      string // part of the explanation
	}{
		{"another text", Result{Text: "<promise>\nNOT  YET</promise>"}, "NOT YET", want, `promised "NOT YET"`},
		{"capital letters", Result{Text: "<promise>Done</promise>"}, "Done", want, "capital letters count"},
		{"two of them", Result{Text: "<promise>NO</promise> <promise>DONE</promise>"}, "DONE", want, "contradict each other"},
		{"capital tag", Result{Text: "<Promise>DONE</Promise>"}, "DONE", want, "tag in capital letters"},
		{"earlier message", Result{Text: "bye", EarlierPromise: "DONE"}, want, want, "earlier message"},
		{"the word in an earlier message", Result{Text: "bye", EarlierPromise: "LOOP_COMPLETE"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "earlier message"},
		{"no tag", Result{Text: "It is DONE."}, "DONE", want, "without the tag"},
		{"no end tag", Result{Text: "<promise>DONE"}, "DONE", want, "never closed"},
		{"in a sentence", Result{Text: "I can not output <promise>DONE</promise>."}, "DONE", want, "inside a sentence"},
		{"another one stands", Result{Text: "No <promise>DONE</promise> yet.\n<promise>NOT YET</promise>"}, "NOT YET", want, `promised "NOT YET"`},
		{"in a code block", Result{Text: "```\n<promise>DONE</promise>\n```"}, "DONE", want, "as code"},
		{"in a quote", Result{Text: "> <promise>DONE</promise>"}, "DONE", want, "in a quote"},
		{"in a comment", Result{Text: "<!-- <promise>DONE</promise> -->"}, "DONE", want, "in an HTML comment"},
		{"word in mid-text", Result{Text: "LOOP_COMPLETE\nor not"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "counts as the last line"},
		{"word in the last line", Result{Text: "so\nthat's LOOP_COMPLETE"}, "that's LOOP_COMPLETE", "LOOP_COMPLETE", "nothing else on it"},
		{"word in a quote", Result{Text: "> LOOP_COMPLETE"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "in a quote"},
		{"word in a tag in a sentence", Result{Text: "no <promise>LOOP_COMPLETE</promise> yet"}, "LOOP_COMPLETE", "LOOP_COMPLETE", "inside a sentence"},
		{"small word", Result{Text: "*loop_complete*."}, "*loop_complete*.", "LOOP_COMPLETE", "capital letters count"},
	} {
		v := Completion{Promise: "DONE"}.Judge(tt.r)
		if v.Matched || !v.Near || v.Found != tt.found || v.Expected != tt.expected || !strings.Contains(v.Why, tt.why) {
			t.Errorf("%s: %+v", tt.name, v)
		}
		if strings.Contains(v.Why, "\n") || !strings.HasSuffix(v.Why, ".") {
			t.Errorf("%s: %q is no sentence", tt.name, v.Why)
		}
	}
	for _, r := range []Result{{}, {Text: "still working"}, {Text: "UNDONE, ABANDONED"}, {Text: "bye", EarlierPromise: "other"}} {
		if v := (Completion{Promise: "DONE"}).Judge(r); v.Near || v.Matched {
			t.Errorf("%+v: %+v, want nothing", r, v)
		}
	}
}

func TestEarlierPromise(t *testing.T) {
	_, result := decodeLines(t, FormatPi,
		piLine("message_end", "stop", "", "<promise> all\ndone </promise>"), piLine("turn_end", "toolUse", "", ""),
		piLine("message_end", "toolUse", ""), // only a tool call: not the last message
		piLine("message_end", "stop", "", `<event topic="t"><promise>no</promise></event> still at it`), piSettled)
	if result.EarlierPromise != "all done" || !strings.HasSuffix(result.Text, "still at it") {
		t.Errorf("result %+v", result)
	}
}

func TestTopics(t *testing.T) {
	text := `Before <event topic="build.done" target='reviewer'>
  tests: pass
  <b>x</b>
</event> between <event target="x">no topic</event>
<event topic="empty"/><event topic="a/b"></event> <event topic="open">never closed`
	want := []Topic{
		{Topic: "build.done", Target: "reviewer", Payload: "tests: pass\n  <b>x</b>"},
		{Topic: "empty"},
		{Topic: "a/b"},
	}
	if got := Topics(text); !reflect.DeepEqual(got, want) {
		t.Errorf("topics %+v\nwant   %+v", got, want)
	}
	if got := Topics("an <eventual> topic"); got != nil {
		t.Errorf("topics %+v, want none", got)
	}
}

func TestTopicsComeRightBehindTheirMessage(t *testing.T) {
	event := `<event topic="a">b</event>`
	sub := claudeSays("s", claudeTextBlock(`<event topic="sub">x</event>`), "t1", "")
	events, _ := decodeLines(t, FormatClaude, sub, claudeText("a", event+" "+event), claudeGood)
	for i, e := range events {
		if m, ok := e.(MessageEnd); ok && m.MessageID == "a" {
			if events[i+1] != (Topic{Topic: "a", Payload: "b"}) || events[i+2] != events[i+1] {
				t.Errorf("behind the message: %+v", events[i+1:])
			}
		}
	}
	if n := len(only[Topic](events)); n != 2 {
		t.Errorf("%d topics, want only the 2 of the main agent", n)
	}
}

func FuzzCompletion(f *testing.F) {
	f.Add("<promise>DONE</promise>", "DONE", "")
	f.Add("x\nLOOP_COMPLETE", "a b", "a b")
	f.Add(`<event topic="x"><promise>a</promise></event>`, "", "LOOP_COMPLETE")
	f.Add("<!-- <promise>a</promise>\n```\n<PROMISE>a</promise>", "a", "")
	f.Fuzz(func(t *testing.T, text, promise, earlier string) {
		v := Completion{Promise: promise}.Judge(Result{Text: text, EarlierPromise: earlier})
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
