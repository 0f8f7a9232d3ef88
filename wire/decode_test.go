package wire_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

func TestEveryUpdateIsReadBackAsItWas(t *testing.T) {
	text := func(text string) wire.TextContent { return wire.TextContent{Type: "text", Text: text} }
	all := maps.Clone(exampleUpdates(stream.Tokens{Input: 1}, text))
	all[wire.OnceStatus] = wire.StatusUpdateOf(loop.Status{LoopID: "a", Folder: "/w", State: loop.StateRunning})
	for kind, u := range all {
		data := lsptest.JSON(u)
		got := wire.Decode(data)
		if reflect.TypeOf(got) != reflect.TypeOf(u) {
			t.Errorf("%s is read as a %T, not as a %T", kind, got, u)
		} else if diff := cmp.Diff(valueOf(t, data), valueOf(t, lsptest.JSON(got))); diff != "" {
			t.Errorf("%s is read back otherwise:\n%s", kind, diff)
		}
		if wire.NoticeIn(got).Text != wire.NoticeIn(u).Text {
			t.Errorf("%s tells its user %q, not %q", kind, wire.NoticeIn(got).Text, wire.NoticeIn(u).Text)
		}
	}
}

// valueOf is JSON without the order of its keys, which the arguments of commands lose.
func valueOf(t *testing.T, data []byte) (v any) {
	t.Helper()
	must.OK(t, json.Unmarshal(data, &v))
	return v
}

func TestWhatIsNoUpdateIsNotRead(t *testing.T) {
	for _, bad := range []string{
		"", "{}", "[]", `{"sessionUpdate":1}`, `{"sessionUpdate":"tool_call","toolCallId":1}`, `{"sessionUpdate":"_ralph/end","iterations":"x"}`,
		`{"sessionUpdate":"_ralph/question","id":{}}`, `{"sessionUpdate":"agent_message_chunk","content":[1]}`, `{"sessionUpdate":"_ralph/warning"`, `{"sessionUpdate":"_ralph/new","text":1}`,
	} {
		if u := wire.Decode([]byte(bad)); u != nil {
			t.Errorf("%s is read as %#v", bad, u)
		}
	}
}

func TestAnUpdateOfALaterVersionIsToldInItsWords(t *testing.T) {
	u := wire.Decode([]byte(`{"sessionUpdate":"_ralph/new","more":[1],"text":"a word","class":"warning"}`))
	want := wire.Other{SessionUpdate: "_ralph/new", Notice: wire.Notice{Text: "a word", Class: wire.ClassWarning}}
	if diff := cmp.Diff(wire.Update(want), u); diff != "" {
		t.Error(diff)
	}
}

func TestAnUpdateIsReadInAnyOrderOfItsKeys(t *testing.T) {
	line := []byte(`{"iteration":3,"phase":"end","sessionUpdate":"_ralph/iteration"}`)
	if u, ok := wire.Decode(line).(wire.IterationEnd); !ok || u.Iteration != 3 || u.Phase != wire.PhaseEnd {
		t.Errorf("it is read as %#v", wire.Decode(line))
	}
}

func TestAStampStandsBehindItsUpdate(t *testing.T) {
	s := wire.StampOf([]byte(`{"sessionUpdate":"_ralph/warning","message":"m","loopId":"a","iteration":3,"time":"2026-01-02T03:04:05Z"}`))
	if s.LoopID != "a" || s.Iteration != 3 || s.Time.IsZero() {
		t.Errorf("it is %+v", s)
	}
	if s := wire.StampOf([]byte("no line")); s != (wire.Stamp{}) {
		t.Errorf("that of no line is %+v", s)
	}
}

func TestTheStatusInAnUpdateIsLeftAsItIs(t *testing.T) {
	for line, want := range map[string]string{
		`{"sessionUpdate":"_ralph/status","status":{"state":"running", "new":1},"loopId":"a"}`:             `{"state":"running", "new":1}`,
		`{"sessionUpdate":"_ralph/warning","status":{}}`:                                                   "",
		`{"sessionUpdate":"_ralph/status","status":"` + strings.Repeat("x", 2*wire.MaxStatusUpdate) + `"}`: "",
		`{"sessionUpdate":"_ralph/status","status":`:                                                       "",
	} {
		if got := wire.StatusIn([]byte(line)); string(got) != want {
			t.Errorf("%.80s has the status %.80s, want %s", line, got, want)
		}
	}
}

func TestEachAnswerCanBeReadAsAReply(t *testing.T) {
	for name, answer := range examples() {
		if !strings.HasPrefix(name, "result-") || reflect.TypeOf(answer).Kind() == reflect.Slice {
			continue
		}
		var r answers.Reply
		data := lsptest.JSON(answer)
		if err := json.Unmarshal(data, &r); err != nil {
			t.Errorf("%s can't: %v\n%s", name, err, data)
		}
	}
	var r answers.Reply
	must.OK(t, json.Unmarshal(lsptest.JSON(wire.StatusResult{Text: "one loop\n", Loops: []wire.LoopStatus{{Name: "Ralph", Summary: wire.Summary{Line: "3/50"}}}}), &r))
	if got := r.Words(); got != "one loop\nRalph 3/50\n" {
		t.Errorf("its words are %q", got)
	}
}
