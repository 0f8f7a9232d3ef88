package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
)

// What happens while the log is read is read, too: else the end could be missed, and a turn never end.
func TestAnEndWhileTheLogIsRead(t *testing.T) {
	k := running(t, &Agent{})
	reads := 0
	k.before = map[string]func(){"ralph.loop.read": func() {
		if reads++; reads == 1 {
			k.told("c7", "c8", over)
			k.results["ralph.loop.read"] = `{"updates":[],"cursor":"c7"}`
			return
		}
		k.results["ralph.loop.read"] = `{"updates":[` + over + `],"cursor":"c8"}`
	}}
	k.told("c6", "c7", `{"sessionUpdate":"_ralph/warning","text":"out of order"}`)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("%s %v", a.Result, a.Error)
	}
}

// The calls of an iteration that comes again are other ones.
func TestAnIterationThatComesAgain(t *testing.T) {
	k := running(t, &Agent{})
	const call = `{"sessionUpdate":"tool_call","toolCallId":"c1","title":"go test","kind":"execute","status":"in_progress"}`
	k.told("c1", "c2", call, begun, call)
	first := k.hears("tool_call")
	k.hears("agent_message_chunk")
	k.hears("plan")
	if second := k.hears("tool_call"); second == first {
		t.Errorf("both are %s", first)
	}
}

// A prompt right behind the one that starts a loop waits for that, and is told to its agent.
func TestTwoPromptsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct{ start, first, second string }{
		"it starts": {`{"loopId":"ralph-a"}`, "", `{"stopReason":"end_turn"}`},
		"refused":   {`!{"code":-32603,"message":"no agent"}`, "no agent", `{"stopReason":"end_turn"}`},
	} {
		t.Run(name, func(t *testing.T) {
			k := begin(t, map[string]string{"ralph.loop.start": tt.start, "ralph.loop.steer": `{"text":"the next run is told"}`}, &Agent{})
			k.before = map[string]func(){"ralph.loop.start": func() {
				k.before = nil
				k.prompt("And the lexer")
				k.ask("session/nope", `{}`) // by its answer the prompt before it was taken
				if a := k.answer(); a.Error == nil || a.Error.Code != rpc.CodeMethod {
					t.Errorf("%s %v", a.Result, a.Error)
				}
			}}
			k.prompt("Mend it")
			k.commanded("ralph.loop.start", "Mend it")
			if tt.first == "" {
				for m := receive(t, k.asked); m.Method != "ralph.loop.steer"; m = receive(t, k.asked) {
				}
			}
			answers := []rpc.Message{k.answer()}
			if tt.first != "" {
				answers = append(answers, k.answer())
			}
			said := ""
			for _, a := range answers {
				if said += string(a.Result); a.Error != nil {
					said += a.Error.Message
				}
			}
			if !strings.Contains(said, tt.first) || !strings.Contains(said, tt.second) {
				t.Errorf("answers: %s", said)
			}
		})
	}
}

const keptLoop = `{"loops":[{"loopId":"ralph-k","title":"Build X","text":"3/50 · $1.42","folder":"file:///w/app","startedAt":"2026-01-02T12:00:00Z","live":true,"detached":true}]}`

// A loop that a keeper drives is listed, can be loaded, and the next prompt speaks to it and follows it.
func TestALoopWithoutAWindow(t *testing.T) {
	k := begin(t, map[string]string{
		"ralph.loop.status": keptLoop, "ralph.loop.read": `{"updates":[` + begun + `],"cursor":"c1"}`, "ralph.loop.steer": `{"text":"the running agent is told"}`,
		"ralph.loop.history": `{"loops":[{"loopId":"ralph-k","startedAt":"2026-01-02T12:00:00Z"},{"loopId":"ralph-b","title":"Old","startedAt":"2026-01-01T12:00:00Z"}]}`,
	}, &Agent{})
	k.ask("session/list", `{"cwd":"/w/app"}`)
	if got, want := string(k.answer().Result), `{"sessions":[{"cwd":"/w/app","sessionId":"ralph-k","title":"Build X · 3/50 · $1.42","updatedAt":"2026-01-02T12:00:00Z"},{"cwd":"/w/app","sessionId":"ralph-b","title":"Old","updatedAt":"2026-01-01T12:00:00Z"}]}`; got != want {
		t.Errorf("it lists %s, not %s", got, want)
	}
	k.ask("session/load", `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`)
	if a := k.answer(); a.Error != nil {
		t.Fatal(a.Error)
	}
	for m := receive(t, k.asked); m.Method != "ralph.loop.answer"; m = receive(t, k.asked) { // what it asks is asked again
	}
	k.session = "ralph-k"
	k.prompt("Leave the parser alone")
	k.commanded("ralph.loop.status", "/w/app")
	k.commanded("ralph.loop.read", `"after":"c1"`)
	k.commanded("ralph.loop.steer", `{"loopId":"ralph-k","text":"Leave the parser alone"}`)
	k.sidecar.Notify("ralph/update", json.RawMessage(`{"loopId":"ralph-k","after":"c1","cursor":"c2","updates":[`+over+`]}`))
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
	k.commanded("ralph.loop.status", "/w/app") // for the receipt
	k.ask("session/close", `{"sessionId":"ralph-k"}`)
	k.answer()
	k.commanded("ralph.loop.status", "/w/app")
	if len(k.asked) > 0 {
		t.Errorf("a loop without a window is ended with one: %v", <-k.asked)
	}
}

// A client that closes its view of a loop without a window ends its turn, and not the loop.
func TestAClosedViewOfALoopWithoutAWindow(t *testing.T) {
	k := begin(t, map[string]string{"ralph.loop.status": keptLoop, "ralph.loop.outline": `{"cursor":"c1"}`}, &Agent{})
	k.ask("session/resume", `{"sessionId":"ralph-k","cwd":"/w/app"}`)
	k.answer()
	k.hears("available_commands_update")
	k.titled("Ralph 3/50 · $1.42")
	k.session = "ralph-k"
	k.prompt("Leave the parser alone")
	for m := receive(t, k.asked); m.Method != "ralph.loop.steer"; m = receive(t, k.asked) {
	}
	k.ask("session/close", `{"sessionId":"ralph-k"}`)
	if a := k.answer(); string(a.Result) != `{"stopReason":"cancelled"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
	k.answer()
	k.commanded("ralph.loop.status", "/w/app")
	if len(k.asked) > 0 {
		t.Errorf("it commands %v", <-k.asked)
	}
}

// A client's stop while it is asked how to start is no error.
func TestAStopWhileAStartIsAsked(t *testing.T) {
	k := begin(t, map[string]string{"ralph.loop.start": `!{"code":-32803,"message":"there is a loop","data":{"reason":"interrupted","question":"Go on?","offers":[{"title":"Resume","command":"ralph.loop.resume","arguments":[{}]}]}}`}, &Agent{})
	k.prompt("Mend it")
	asked := receive(t, k.heard)
	k.client.Notify("session/cancel", map[string]any{"sessionId": k.session})
	k.client.Reply(asked.ID, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil)
	if a := k.answer(); string(a.Result) != `{"stopReason":"cancelled"}` {
		t.Errorf("%s %v", a.Result, a.Error)
	}
}

const knownHats = `{"hats":[{"name":"planner","text":"plans"},{"name":"builder"}]}`

// The folder's hats are modes, and a setting of the same meaning. One follows the other.
func TestModes(t *testing.T) {
	k := begin(t, map[string]string{"ralph.hats": knownHats, "ralph.loop.start": `!{"code":-32602,"message":"no"}`}, &Agent{})
	k.ask("session/new", `{"cwd":"/w/app","mcpServers":[]}`)
	var made struct {
		SessionID string
		Modes     json.RawMessage
	}
	_ = json.Unmarshal(k.answer().Result, &made)
	if want := `{"availableModes":[{"description":"","id":"configured","name":"As configured"},{"description":"plans","id":"planner","name":"planner"},{"description":"","id":"builder","name":"builder"}],"currentModeId":"configured"}`; string(made.Modes) != want {
		t.Errorf("modes are %s, not %s", made.Modes, want)
	}
	k.session = made.SessionID
	k.hears("available_commands_update")
	k.hears("config_option_update")
	k.ask("session/set_mode", `{"sessionId":"SESSION","modeId":"planner"}`)
	k.answer()
	if got := k.hears("config_option_update"); !strings.Contains(got, `"currentValue":"planner","id":"hat"`) {
		t.Error(got)
	}
	k.ask("session/set_config_option", `{"sessionId":"SESSION","configId":"hat","value":"builder"}`)
	k.answer()
	if got := k.hears("current_mode_update"); !strings.Contains(got, `"currentModeId":"builder"`) {
		t.Error(got)
	}
	k.ask("session/set_mode", `{"sessionId":"SESSION","modeId":"nobody"}`)
	if a := k.answer(); a.Error == nil || a.Error.Code != rpc.CodeParams {
		t.Errorf("%s %v", a.Result, a.Error)
	}
	k.prompt("Mend it")
	k.commanded("ralph.loop.start", `"hat":"builder"`)
	k.answer()
}

// What wants words, or one of several, is a form where the client has forms; a form that is put away is a no.
func TestForms(t *testing.T) {
	for name, tt := range map[string]struct{ question, schema, answer, want string }{
		"words": {`{"loopId":"ralph-a","id":"q1","kind":"input","title":"Which name?","placeholder":"NAME","offers":[]}`,
			`{"answer":{"description":"NAME","title":"Which name?","type":"string"}}`, `{"action":"accept","content":{"answer":"Ada"}}`, `{"answer":"value","text":"Ada"}`},
		"one of several": {`{"loopId":"ralph-a","id":"q1","kind":"select","toolCallId":"c1","title":"Which?","detail":"more","options":["a","b"],"offers":[]}`,
			`{"answer":{"enum":["a","b"],"title":"Which?","type":"string"}}`, `{"action":"accept","content":{"answer":"b"}}`, `{"answer":"value","text":"b"}`},
		"put away": {`{"loopId":"ralph-a","id":"q1","kind":"input","title":"Which?"}`, `{"answer":{"title":"Which?","type":"string"}}`, `{"action":"cancel"}`, `{"answer":"deny"}`},
		"broken":   {`{"loopId":"ralph-a","id":"q1","kind":"input","title":"Which?"}`, `{"answer":{"title":"Which?","type":"string"}}`, `[]`, `{"answer":"deny"}`},
	} {
		t.Run(name, func(t *testing.T) {
			k := running(t, &Agent{})
			k.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}`)
			k.answer()
			answers := make(chan string, 1)
			k.sidecar.Request("ralph/permission", json.RawMessage(tt.question), func(result json.RawMessage, _ *rpc.Error) { answers <- string(result) })
			asked := receive(t, k.heard)
			if !strings.Contains(string(asked.Params), `"properties":`+tt.schema) {
				t.Errorf("%s %s", asked.Method, asked.Params)
			}
			k.client.Reply(asked.ID, json.RawMessage(tt.answer), nil)
			if got := receive(t, answers); got != tt.want {
				t.Errorf("it is answered with %s, not %s", got, tt.want)
			}
		})
	}
}

// A question that the client can't ask stays open, and its user is told where to answer it.
func TestAQuestionForWordsWithoutForms(t *testing.T) {
	k := running(t, &Agent{})
	answers := make(chan string, 1)
	k.sidecar.Request("ralph/permission", json.RawMessage(`{"loopId":"ralph-a","id":"q1","kind":"input","title":"Which name?","offers":[{"title":"Give No Answer","arguments":[{"answer":"deny"}]}]}`), func(result json.RawMessage, _ *rpc.Error) { answers <- string(result) })
	if got := k.hears("agent_message_chunk"); !strings.Contains(got, "Which name?") || receive(t, answers) != "null" {
		t.Error(got)
	}
}

// What is typed behind a command goes where the command has it.
func TestSlashCommands(t *testing.T) {
	for typed, want := range map[string]string{
		"/ralph-undo 3":               `ralph.loop.undo {"folder":"file:///w/app","since":3}`,
		"/ralph-update 80, $5":        `ralph.loop.update {"folder":"file:///w/app","text":"80, $5"}`,
		"/ralph-update 80":            `ralph.loop.update {"folder":"file:///w/app","text":"80"}`,
		"/ralph-steer --once  Hurry ": `ralph.loop.steer {"folder":"file:///w/app","text":"--once  Hurry"}`,
		"/ralph-status now":           `ralph.loop.status {"folder":"file:///w/app"}`,
		"/ralph-help":                 `ralph.help {}`,
		"/cancel-ralph":               `ralph.loop.cancel {"folder":"file:///w/app"}`,
	} {
		k := begin(t, nil, &Agent{})
		k.prompt(typed)
		m := receive(t, k.asked)
		if got := m.Method + " " + string(m.Params); got != want {
			t.Errorf("%s: %s, not %s", typed, got, want)
		}
		k.answer()
	}
}

// A terminal is offered for looking at agents only to a client that has one.
func TestWhatIsOfferedForALogin(t *testing.T) {
	k := begin(t, nil, &Agent{})
	for capabilities, want := range map[string]bool{`{}`: false, `{"auth":{"terminal":true}}`: true} {
		k.ask("initialize", `{"protocolVersion":2,"clientCapabilities":`+capabilities+`}`)
		if got := string(k.answer().Result); strings.Contains(got, `"type":"terminal"`) != want || !strings.Contains(got, `"protocolVersion":1`) {
			t.Errorf("%s: %s", capabilities, got)
		}
	}
}

// A stop without a turn, such as one that comes late, interrupts nothing.
func TestAStopThatComesLate(t *testing.T) {
	k := running(t, &Agent{})
	k.told("c1", "c2", over)
	k.answer()
	k.commanded("ralph.loop.status", "/w/app") // for the receipt
	k.client.Notify("session/cancel", map[string]any{"sessionId": k.session})
	k.ask("session/nope", `{}`)
	k.answer()
	if len(k.asked) > 0 {
		t.Errorf("it commands %v", <-k.asked)
	}
}
