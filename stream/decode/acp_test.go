package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// acpUpdates are messages of an agent's with these updates.
func acpUpdates(updates ...string) (lines []string) {
	lines = append(lines, `{"id":1,"result":{"sessionId":"s"}}`)
	for _, u := range updates {
		lines = append(lines, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{`+u+`}}}`)
	}
	return lines
}

const (
	acpSays = `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}`
	acpEnd  = `{"id":2,"result":{"stopReason":"end_turn"}}`
)

// What no recording has: other agents' ways, and things in an order that nobody promises.
func TestWhatAnAgentOfTheProtocolMaySay(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  string // of the events, those of this kind
	}{
		"a result before its call": {
			acpUpdates(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","kind":"search","title":"x","content":[{"type":"content","content":{"type":"text","text":"found"}}]`),
			`{"event":"ToolCall","id":"c","name":"grep","input":{"title":"x"}}` + "\n" + `{"event":"ToolResult","id":"c","output":"found"}`,
		},
		"a call that is told twice, and again after its end": {
			acpUpdates(`"sessionUpdate":"tool_call","toolCallId":"c","rawInput":{"a":1}`, `"sessionUpdate":"tool_call","toolCallId":"c","rawInput":{"a":1},"status":"failed"`, `"sessionUpdate":"tool_call","toolCallId":"c","rawInput":{"a":2},"status":"completed"`),
			`{"event":"ToolCall","id":"c","name":"tool","input":{"a":1}}` + "\n" + `{"event":"ToolResult","id":"c","output":"","isError":true}`,
		},
		"a call without an end": {
			append(acpUpdates(`"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"make","status":"in_progress"`), acpEnd),
			`{"event":"ToolCall","id":"c","name":"bash","input":{"command":"make"}}` + "\n" + `{"event":"ToolResult","id":"c","output":"","isError":true}`,
		},
		"a call of which nothing is known, and one without an id": {
			append(acpUpdates(`"sessionUpdate":"tool_call","toolCallId":"c","status":"pending","rawInput":null`, `"sessionUpdate":"tool_call","status":"completed","rawInput":{"a":1}`), acpEnd),
			``,
		},
		"a command that failed": {
			acpUpdates(`"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","title":"false","status":"completed","rawOutput":{"stdout":"no"},"_meta":{"terminal_exit":{"exit_code":1}}`),
			`{"event":"ToolCall","id":"c","name":"bash","input":{"command":"false"}}` + "\n" + `{"event":"ToolResult","id":"c","output":"no","isError":true}`,
		},
		"a file": {
			acpUpdates(`"sessionUpdate":"tool_call","toolCallId":"c","kind":"read","status":"in_progress","locations":[{"path":"/w/a"}],"content":7`, `"sessionUpdate":"tool_call_update","toolCallId":"c","rawOutput":{"output":"so far"}`),
			`{"event":"ToolCall","id":"c","name":"read","input":{"path":"/w/a"}}` + "\n" + `{"event":"ToolProgress","id":"c","output":"so far"}` + "\n" + `{"event":"ToolResult","id":"c","output":"so far","isError":true}`,
		},
		"words of others, and kinds that aren't known": {
			append(acpUpdates(acpSays, `"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"mine"}`, `"sessionUpdate":"_x"`, `"sessionUpdate":null`), `{"method":"_x/y","params":null}`, `{"id":null,"error":null}`, `{"id":7,"result":null}`, acpEnd),
			`{"event":"MessageEnd","messageId":"m1","text":"x"}`,
		},
		"a picture": {
			append(acpUpdates(`"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA=="}`), acpEnd),
			`{"event":"MessageEnd","messageId":"m1","text":"[image]"}`,
		},
		"a speaker in between": {
			append(acpUpdates(strings.Replace(acpSays, `"content"`, `"messageId":"a","content"`, 1), acpSays, strings.Replace(acpSays, `"content"`, `"messageId":"a","content"`, 1)), acpEnd),
			`{"event":"MessageEnd","messageId":"m1","text":"x"}` + "\n" + `{"event":"MessageEnd","messageId":"m2","text":"x"}` + "\n" + `{"event":"MessageEnd","messageId":"m3","text":"x"}`,
		},
		"a cost in another currency": {
			acpUpdates(`"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":1,"currency":"EUR"}`),
			`{"event":"Usage","tokens":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"costUsd":null,"context":5,"contextSize":9}`,
		},
		"a question with the id of a text": {
			[]string{`{"id":"q","method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","title":"t","rawInput":{"command":"ls"}},"options":[]}}`},
			`{"event":"Question","id":"\"q\"","method":"can_use_tool","tool":"tool","callId":"c","input":{"command":"ls"},"message":"t"}`,
		},
		"a request that isn't about a tool": {[]string{`{"id":3,"method":"terminal/create","params":{}}`}, `{"event":"Question","id":"3","method":"terminal/create"}`},
		"a question that is taken back":     {[]string{`{"method":"$/cancel_request","params":{"requestId": 4 }}`}, `{"event":"Withdrawn","id":"4"}`},
		"words that it has read":            {[]string{`{"id":"g","result":{"outcome":"injected"}}`}, `{"event":"Heard","id":"g"}`},
		"words that it hasn't":              {[]string{`{"id":"g","result":{"outcome":"promptRequired"}}`}, `{"event":"Answered","id":"g"}`},
		"a word that is refused":            {[]string{`{"id":"g","error":{"code":-32601}}`}, `{"event":"Answered","id":"g","failure":"it failed"}`},
		"a login":                           {[]string{`{"id":1,"error":{"code":-32000,"message":"Log in"}}`}, `{"event":"Error","message":"Log in","kind":"authentication","refused":true}`},
		"an error with more to say":         {[]string{`{"id":1,"error":{"code":-32603,"message":"Internal error","data":"no such folder"}}`}, `{"event":"Error","message":"Internal error: no such folder","kind":"server_error","refused":true}`},
		"an error that is cancelled":        {[]string{`{"id":1,"result":{"sessionId":"s"}}`, `{"id":2,"error":{"code":-32800,"message":"x","data":{"details":"y"}}}`}, `{"event":"Error","message":"x: y","kind":"aborted"}`},
		"an error of the provider's":        {[]string{`{"id":1,"result":{"sessionId":"s"}}`, `{"id":2,"error":{"code":529,"message":"x"}}`}, `{"event":"Error","message":"x","kind":"overloaded"}`},
		"copilot's failed model":            {append(acpUpdates(strings.Replace(acpSays, `"x"`, `"Error: 401 who are you?"`, 1)), acpEnd), `{"event":"Error","message":"401 who are you?","kind":"authentication"}`},
		"an agent that speaks of errors": {
			append(acpUpdates(strings.Replace(acpSays, `"x"`, `"Error: is what it printed"`, 1)), `{"id":2,"result":{"stopReason":"end_turn","usage":{"outputTokens":3}}}`), ``,
		},
		"pi-acp's own words, and nothing more": {
			append(acpUpdates(acpSays, `"sessionUpdate":"session_info_update","_meta":{"piAcp":{"running":true}}`), acpEnd), `{"event":"Error","message":"the agent ended its turn without a word: its model may have failed"}`,
		},
		"an end by a limit": {[]string{`{"id":2,"result":{"stopReason":"max_tokens"}}`}, `{"event":"Error","message":"the agent stopped: max_tokens"}`},
	} {
		t.Run(name, func(t *testing.T) {
			events := decodeAll(t, FormatACP, strings.NewReader(strings.Join(tt.lines, "\n")+"\n"))
			wanted := map[string]bool{"Error": true}
			for line := range strings.Lines(tt.want) {
				kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"event":"`), `"`)
				wanted[kind] = true
			}
			if wanted["ToolCall"] || tt.want == "" {
				wanted["ToolCall"], wanted["ToolResult"], wanted["ToolProgress"] = true, true, true
			}
			var got []string
			for line := range strings.Lines(eventLines(t, events)) {
				kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"event":"`), `"`)
				if wanted[kind] {
					got = append(got, strings.TrimSpace(line))
				}
			}
			if text := strings.Join(got, "\n"); text != tt.want {
				t.Errorf("%s: %s", text, firstDifference(text, tt.want))
			}
			for _, e := range events {
				if q, ok := e.(stream.Question); ok && (q.Yes != "" || q.No != "") {
					t.Errorf("it offers %q, %q", q.Yes, q.No)
				}
			}
		})
	}
}

// An agent may have other sessions: those of its user, or of agents of its own. Nothing of theirs is the run's.
func TestAnotherSessionIsNotTheRuns(t *testing.T) {
	theirs := func(update string) string {
		return strings.Replace(acpUpdates(update)[1], `"sessionId":"s"`, `"sessionId":"other"`, 1)
	}
	says := func(text string) string { return strings.Replace(acpSays, `"x"`, `"`+text+`"`, 1) }
	spends := func(usd string) string {
		return `"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":` + usd + `,"currency":"USD"}`
	}
	for name, tt := range map[string]struct {
		lines   []string
		text    string
		usd     float64
		ignored bool
	}{
		"its words":                    {append(acpUpdates(says("working")), theirs(says("<promise>DONE</promise>")), acpEnd), "working", 0, true},
		"its cost":                     {append(acpUpdates(spends("1")), theirs(spends("7")), acpEnd), "", 1, true},
		"its tools":                    {append(acpUpdates(), theirs(`"sessionUpdate":"tool_call","toolCallId":"c","title":"x","status":"in_progress"`), acpEnd), "", 0, true},
		"before there is one":          {append([]string{theirs(says("<promise>DONE</promise>")), theirs(spends("7"))}, append(acpUpdates(says("working")), acpEnd)...), "working", 0, false},
		"an answer that names another": {append(acpUpdates(says("a")), `{"id":"mode","result":{"sessionId":"other"}}`, theirs(says("b")), acpUpdates(says("c"))[1], acpEnd), "ac", 0, true},
		"no session at all":            {append(acpUpdates(), strings.Replace(acpUpdates(says("x"))[1], `"sessionId":"s",`, "", 1), acpEnd), "x", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var calls int
			count := func(e stream.Event) {
				if _, ok := e.(stream.ToolCall); ok {
					calls++
				}
			}
			result, err := Reader{Format: FormatACP, Handler: stream.HandlerFunc(count)}.Run(strings.NewReader(strings.Join(tt.lines, "\n") + "\n"))
			if result.Text != tt.text || result.Usage.Cost.USD != tt.usd || calls != 0 || err != nil {
				t.Errorf("got %+v with %d calls, %v", result, calls, err)
			}
			if told := result.Ignored == "the agent spoke of another session than this run's (other): nothing of that counts"; told != tt.ignored || !told && result.Ignored != "" {
				t.Errorf("told %q", result.Ignored)
			}
		})
	}
}

// It is answered all the same, as an agent waits for that: whoever drives the run refuses what it doesn't know.
func TestAQuestionOfAnotherSessionIsNotTheUsers(t *testing.T) {
	lines := append(acpUpdates(), `{"id":9,"method":"session/request_permission","params":{"sessionId":"other","toolCall":{"toolCallId":"c","rawInput":{"command":"ls"}},"options":[{"optionId":"y","kind":"allow_once"}]}}`)
	for _, e := range decodeAll(t, FormatACP, strings.NewReader(strings.Join(lines, "\n")+"\n")) {
		switch e := e.(type) {
		case stream.ToolCall:
			t.Errorf("a tool was called: %+v", e)
		case stream.Question:
			if want := (stream.Question{ID: "9", Method: "session/request_permission"}); fmt.Sprint(e) != fmt.Sprint(want) {
				t.Errorf("asked %+v", e)
			}
			return
		}
	}
	t.Error("nobody is asked, so the agent waits for ever")
}

// Of many calls without an end the oldest are given up, so that nothing grows with a run.
func TestCallsWithoutAnEndAreFew(t *testing.T) {
	d := &acpDecoder{common: common{session: who{SessionID: "s"}}}
	for i := range 3 * stream.MaxRecent {
		line := strings.Join(acpUpdates(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":"%d"`, i))[1:], "")
		must.OK(t, d.Decode([]byte(line), func(stream.Event) {}))
	}
	if len(d.open) != stream.MaxRecent || d.over.Len() != stream.MaxRecent {
		t.Errorf("%d are open, %d are remembered", len(d.open), d.over.Len())
	}
}
