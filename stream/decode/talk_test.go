package decode

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Whether an agent's standard input stays open or not, it prints the same.
func TestAnAgentThatIsTalkedToReadsAsOneThatIsNot(t *testing.T) {
	for _, ways := range [][2]string{{"pi/two-ways", "pi-rpc/two-ways"}, {"claude/two-ways", "claude/sj-two-ways"}} {
		t.Run(ways[0], func(t *testing.T) {
			var said [2]string
			for i, name := range ways {
				golden := must.Read(t, "../../testdata/"+name+".golden")
				var own []string
				for line := range strings.SplitSeq(string(golden), "\n") { // but for who is at work, and when, and that the prompt was read
					if !strings.Contains(line, `"event":"SessionStart"`) && !strings.Contains(line, `"event":"Heard"`) {
						own = append(own, regexp.MustCompile(`"(delayMs|lines)":\d+`).ReplaceAllString(line, ""))
					}
				}
				said[i] = strings.Join(own, "\n")
			}
			if diff := cmp.Diff(said[0], said[1]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// decoded returns the events of lines, and whether the agent is done behind each.
func decoded(t *testing.T, f Format, lines ...string) (events []stream.Event, done []bool) {
	t.Helper()
	d, err := NewDecoder(f)
	must.OK(t, err)
	for _, line := range lines {
		if err := d.Decode([]byte(line), func(e stream.Event) { events = append(events, e) }); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		done = append(done, d.Done())
	}
	return events, done
}

// A prompt that an extension takes for itself is followed by nothing: only pi's state tells.
func TestAPromptThatNoAgentSeesIsTheEnd(t *testing.T) {
	const accepted, start = `{"id":"p1","type":"response","command":"prompt","success":true}`, `{"type":"agent_start"}`
	rests, works := `{"type":"response","command":"get_state","success":true,"data":{"isStreaming":false}}`, `{"type":"response","command":"get_state","success":true,"data":{"isStreaming":true}}`
	for name, c := range map[string]struct {
		lines []string
		done  bool
	}{
		"taken":            {[]string{accepted, rests}, true},
		"at work":          {[]string{accepted, works}, false},
		"begun":            {[]string{accepted, start, rests}, false},
		"before":           {[]string{rests, accepted}, false},
		"no word about it": {[]string{accepted, `{"type":"response","command":"get_state","success":true}`}, false},
	} {
		events, done := decoded(t, FormatPi, c.lines...)
		failure, failed := events[len(events)-1].(stream.Error)
		if done[len(done)-1] != c.done || failed != c.done || failure.Refused != c.done || !slices.Contains(events, stream.Event(stream.Heard{ID: "p1"})) {
			t.Errorf("%s: %v, %+v", name, done, events)
		}
	}
}

// Claude goes on after a result with what it was told and hasn't read.
func TestClaudeIsDoneWhenNothingWaitsToBeRead(t *testing.T) {
	told := func(uuid, state string) string {
		return `{"type":"command_lifecycle","command_uuid":"` + uuid + `","state":"` + state + `"}`
	}
	result := `{"type":"result","subtype":"success","is_error":false,"result":"ok"}`
	for name, c := range map[string]struct {
		lines []string
		done  []bool
		heard []stream.Event
	}{
		"in one turn":      {[]string{told("p", "queued"), told("p", "started"), told("s", "queued"), told("s", "started"), told("s", "completed"), result, told("p", "completed")}, []bool{false, false, false, false, false, true, true}, []stream.Event{stream.Heard{ID: "s"}}},
		"in a turn behind": {[]string{told("p", "queued"), told("p", "started"), told("s", "queued"), result, told("s", "started"), result}, []bool{false, false, false, false, false, true}, []stream.Event{stream.Heard{ID: "s"}}},
		"taken back":       {[]string{told("p", "queued"), told("p", "started"), told("s", "queued"), result, told("s", "cancelled")}, []bool{false, false, false, false, true}, nil},
		"an older claude":  {[]string{result}, []bool{true}, nil},
	} {
		events, done := decoded(t, FormatClaude, c.lines...)
		var heard []stream.Event
		for _, e := range events {
			if h, ok := e.(stream.Heard); ok {
				heard = append(heard, h)
			}
		}
		if diff := cmp.Diff(c.done, done) + cmp.Diff(c.heard, heard); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestQuestionsOfAgents(t *testing.T) {
	events, _ := decoded(t, FormatPi,
		`{"type":"extension_ui_request","id":"i1","method":"select","title":"Which?","options":["A","B"]}`,
		`{"type":"extension_ui_request","id":"i2","method":"confirm","title":"Sure?","message":"It goes"}`)
	claude, _ := decoded(t, FormatClaude,
		`{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm x"},"tool_use_id":"t1"}}`,
		`{"type":"control_cancel_request","request_id":"r1"}`,
		`{"type":"control_request","request_id":"r2","request":{"subtype":"elicitation","mcp_server_name":"s","message":"Which?"}}`)
	want := []stream.Event{
		stream.Question{ID: "i1", Method: "select", Title: "Which?", Options: []string{"A", "B"}},
		stream.Question{ID: "i2", Method: "confirm", Title: "Sure?", Message: "It goes"},
		stream.Question{ID: "r1", Method: "can_use_tool", Tool: "Bash", CallID: "t1", Input: []byte(`{"command":"rm x"}`), Message: "rm x"},
		stream.Withdrawn{ID: "r1"},
		stream.Question{ID: "r2", Method: "elicitation", Message: "Which?"},
	}
	if diff := cmp.Diff(want, append(events, claude...)); diff != "" {
		t.Error(diff)
	}
}

// Words of a megabyte are told from others, and aren't kept.
func TestLongWordsAreHeard(t *testing.T) {
	text := strings.Repeat("stop ", 200_000)
	events, _ := decoded(t, FormatPi,
		`{"type":"queue_update","steering":["`+text+`"],"followUp":[]}`,
		`{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"`+text+`"}]}}`)
	if len(events) != 1 || events[0].(stream.Heard).Text != text {
		t.Errorf("%d events", len(events))
	}
}
