package acp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
)

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

// talk is an agent between a client and a sidecar that the test plays.
type talk struct {
	t        *testing.T
	client   *rpc.Conn // the client's side
	sidecar  *rpc.Conn // the sidecar's side
	heard    chan rpc.Message
	answered chan rpc.Message
	asked    chan rpc.Message // commands of the sidecar
	results  map[string]string
	before   map[string]func() // what happens before a command is answered
	session  string
	ended    chan error
}

// begin begins a talk, with what the sidecar's commands result in: JSON, or an error after a "!".
func begin(t *testing.T, results map[string]string, a *Agent) *talk {
	t.Helper()
	k := &talk{t: t, heard: make(chan rpc.Message, 1000), answered: make(chan rpc.Message, 100), asked: make(chan rpc.Message, 100), results: results, ended: make(chan error, 1)}
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	k.client = rpc.New(rpc.WriteLine, toClient, fromClient)
	k.client.Handle = func(method string, id, params json.RawMessage) {
		checkShape(t, sentBy[method], params)
		k.heard <- rpc.Message{Method: method, ID: id, Params: params}
	}
	isUp := make(chan struct{})
	a.Sidecar = func(in io.Reader, out io.Writer) {
		k.sidecar = rpc.New(rpc.WriteFrame, nil, out)
		k.sidecar.Handle = k.command
		close(isUp)
		_, _ = io.Copy(&rpc.Heard{Take: k.sidecar.Take}, in)
	}
	go func() { k.ended <- a.Serve(toAgent, fromAgent); _ = fromAgent.Close() }()
	go func() { _ = k.client.Serve() }()
	<-isUp
	k.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	var made struct{ SessionID string }
	_ = json.Unmarshal(k.answer().Result, &made)
	k.ask("session/new", `{"cwd":"/w/app","mcpServers":[]}`)
	_ = json.Unmarshal(k.answer().Result, &made)
	k.session = made.SessionID
	k.hears("available_commands_update")
	k.hears("config_option_update")
	t.Cleanup(func() {
		_ = fromClient.Close()
		if err := receive(t, k.ended); err != nil {
			t.Error(err)
		}
	})
	return k
}

// command is what the sidecar does when an editor commands something.
func (k *talk) command(method string, id, params json.RawMessage) {
	if method != "workspace/executeCommand" {
		k.sidecar.Reply(id, map[string]any{}, nil)
		return
	}
	var p struct {
		Command   string
		Arguments []json.RawMessage
	}
	_ = json.Unmarshal(params, &p)
	if before := k.before[p.Command]; before != nil {
		before()
	}
	if p.Command != "ralph.agents.list" && p.Command != "ralph.hats" {
		k.asked <- rpc.Message{Method: p.Command, Params: p.Arguments[0]}
	}
	result, failed := strings.CutPrefix(k.results[p.Command], "!")
	if failed {
		var err rpc.Error
		_ = json.Unmarshal([]byte(result), &err)
		k.sidecar.Reply(id, nil, &err)
		return
	}
	if result == "" {
		result = "{}"
	}
	k.sidecar.Reply(id, json.RawMessage(result), nil)
}

func (k *talk) ask(method, params string) {
	params = strings.ReplaceAll(params, "SESSION", k.session)
	k.client.Request(method, json.RawMessage(params), func(result json.RawMessage, err *rpc.Error) {
		if shape := answeredBy[method]; err == nil && shape != "" {
			checkShape(k.t, shape, result)
		}
		k.answered <- rpc.Message{Result: result, Error: err}
	})
}

func (k *talk) prompt(text string) {
	k.ask("session/prompt", fmt.Sprintf(`{"sessionId":"SESSION","prompt":[{"type":"text","text":%q}]}`, text))
}

func (k *talk) answer() rpc.Message { k.t.Helper(); return receive(k.t, k.answered) }

// told tells the agent of updates of the loop.
func (k *talk) told(after, cursor string, updates ...string) {
	k.sidecar.Notify("ralph/update", json.RawMessage(fmt.Sprintf(`{"loopId":"ralph-a","after":%q,"cursor":%q,"updates":[%s]}`, after, cursor, strings.Join(updates, ","))))
}

// hears returns the next update of a kind, and fails at another one but for titles.
func (k *talk) hears(kind string) string {
	k.t.Helper()
	for {
		m := receive(k.t, k.heard)
		var p struct{ Update json.RawMessage }
		_ = json.Unmarshal(m.Params, &p)
		switch update := string(p.Update); {
		case strings.Contains(update, `"sessionUpdate":"`+kind+`"`):
			return update
		case !strings.Contains(update, `"session_info_update"`):
			k.t.Fatalf("%s %s comes, not %s", m.Method, m.Params, kind)
		}
	}
}

func (k *talk) commanded(command, argument string) {
	k.t.Helper()
	m := receive(k.t, k.asked)
	if m.Method != command || !strings.Contains(string(m.Params), argument) {
		k.t.Fatalf("it commands %s %s, not %s %s", m.Method, m.Params, command, argument)
	}
}

func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("nothing comes")
	}
	return v
}

const (
	begun = `{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":3,"maxIterations":5,"text":"iteration 3 of 5"}`
	over  = `{"sessionUpdate":"_ralph/end","stopReason":"promise","text":"done: DONE after 3 iterations"}`
	whole = `{"loops":[{"loopId":"ralph-a","last":{"rows":[{"label":"Result","text":"done"}],"commands":[{"line":"ralph-lsp undo","text":"takes it back"}]}}]}`
)

// running is a talk with a loop under way.
func running(t *testing.T, a *Agent) *talk {
	k := begin(t, map[string]string{
		"ralph.loop.start": `{"loopId":"ralph-a","state":"starting"}`, "ralph.loop.read": `{"updates":[` + begun + `],"cursor":"c1"}`,
		"ralph.loop.status": whole, "ralph.loop.steer": `{"text":"the next run is told"}`,
	}, a)
	k.prompt("Mend it --max-iterations 5")
	k.commanded("ralph.loop.start", `"text":"Mend it --max-iterations 5"`)
	k.commanded("ralph.loop.read", `"loopId":"ralph-a"`)
	k.hears("agent_message_chunk") // how to speak to it
	if got := k.hears("agent_message_chunk"); !strings.Contains(got, "── iteration 3 of 5 ──") {
		t.Fatal(got)
	}
	k.hears("plan")
	return k
}

// A turn ends when its loop does, behind all that is told of it.
func TestATurnIsALoop(t *testing.T) {
	k := running(t, &Agent{})
	k.told("c1", "c2",
		`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Look"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m2","parentToolCallId":"c9","content":{"type":"text","text":"a subagent"}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c1","name":"Edit","title":"a.go","kind":"edit","status":"in_progress","locations":[{"path":"/w/app/a.go"}],"rawInput":{"file_path":"a.go","old_string":"1","new_string":"2"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c2","name":"Bash","title":"go test","kind":"execute","status":"in_progress","locations":[{"path":"/w/app"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed","content":[{"type":"content","content":{"type":"text","text":"FAIL"}}]}`,
		`{"sessionUpdate":"usage_update","used":5,"cost":{"amount":1,"currency":"USD"}}`,
		`{"sessionUpdate":"usage_update","used":5,"size":10,"cost":{"amount":1,"currency":"USD"}}`,
		`{"sessionUpdate":"_ralph/goal","promise":"DONE","verify":"go test","text":"done when"}`,
		`{"sessionUpdate":"_ralph/verify","state":"running","command":"go test"}`, over)
	for _, step := range [][2]string{
		{"agent_message_chunk", `"messageId":"1.m1"`},
		{"tool_call", `"content":[{"newText":"2","oldText":"1","path":"/w/app/a.go","type":"diff"}]`},
		{"tool_call_update", `{"status":"completed","toolCallId":"1.c1"}`}, // its diff stays
		{"tool_call", `"title":"go test","toolCallId":"1.c2"`},
		{"tool_call_update", `"status":"failed","toolCallId":"1.c2"`},
		{"usage_update", `"size":10`},
		{"agent_message_chunk", "done when"},
		{"plan", `{"content":"check: go test","priority":"medium","status":"pending"}`},
		{"plan", `{"content":"check: go test","priority":"medium","status":"in_progress"}`},
		{"agent_message_chunk", "done: DONE after 3 iterations"},
		{"plan", `{"content":"iteration 3 of 5","priority":"medium","status":"completed"}`},
		{"agent_message_chunk", "Result: done"},
	} {
		got := k.hears(step[0])
		if !strings.Contains(strings.ReplaceAll(got, `"sessionUpdate":"tool_call_update",`, ""), step[1]) {
			t.Fatalf("%s has no %s", got, step[1])
		}
		if step[1] == `"title":"go test","toolCallId":"1.c2"` && strings.Contains(got, "locations") {
			t.Error("clients show a place instead of a command")
		}
	}
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
}

// titled waits for the session's title.
func (k *talk) titled(want string) {
	k.t.Helper()
	for {
		if got := k.hears("session_info_update"); strings.Contains(got, `"title":`) {
			if !strings.Contains(got, fmt.Sprintf(`"title":%q`, want)) {
				k.t.Errorf("its title is %s, not %s", got, want)
			}
			return
		}
	}
}

// A session has its loop's title from the beginning to the end, however the sidecar's statuses come.
func TestASessionHasItsLoopsTitle(t *testing.T) {
	k := begin(t, map[string]string{
		"ralph.loop.start": `{"loopId":"ralph-a","state":"starting"}`, "ralph.loop.read": `{"updates":[` + begun + `],"cursor":"c1"}`,
		"ralph.loop.status": `{"loops":[{"loopId":"ralph-a","text":"done after 3 iterations"}]}`,
	}, &Agent{Native: true})
	k.before = map[string]func(){"ralph.loop.start": func() {
		k.sidecar.Notify("ralph/status", json.RawMessage(`{"loops":[{"loopId":"ralph-b","text":"2/9"},{"loopId":"ralph-a","text":"1/5"}]}`))
	}}
	k.prompt("Mend it --max-iterations 5")
	k.titled("Ralph 1/5")
	k.hears("agent_message_chunk")
	k.hears("plan")
	k.told("c1", "c2", over)
	k.hears("agent_message_chunk")
	k.hears("plan")
	k.titled("Ralph done after 3 iterations")
	k.answer()
}

// Whoever misses something of a loop's log reads it from its own place.
func TestWhatIsMissedIsRead(t *testing.T) {
	k := running(t, &Agent{})
	k.told("c7", "c8", `{"sessionUpdate":"_ralph/warning","text":"it is late"}`)
	k.commanded("ralph.loop.read", `"after":"c1"`)
	k.hears("agent_message_chunk")
}

func TestWordsWhileALoopRuns(t *testing.T) {
	k := running(t, &Agent{})
	k.prompt("Leave the parser alone")
	k.commanded("ralph.loop.steer", `"text":"Leave the parser alone"`)
	if got := k.hears("agent_message_chunk"); !strings.Contains(got, "the next run is told") {
		t.Error(got)
	}
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("%s", a.Result)
	}
	k.ask("_session/steering", `{"sessionId":"SESSION","prompt":[{"type":"text","text":"and the lexer"}]}`)
	k.commanded("ralph.loop.steer", `and the lexer`)
	if a := k.answer(); string(a.Result) != `{"outcome":"injected"}` {
		t.Errorf("%s", a.Result)
	}
}

// The client's stop leaves a loop that can go on.
func TestACancelledTurn(t *testing.T) {
	k := running(t, &Agent{})
	k.client.Notify("session/cancel", map[string]any{"sessionId": k.session})
	k.commanded("ralph.loop.cancel", `"when":"interrupt"`)
	k.told("c1", "c2", `{"sessionUpdate":"_ralph/end","stopReason":"interrupted","text":"interrupted"}`)
	if a := k.answer(); string(a.Result) != `{"stopReason":"cancelled"}` {
		t.Errorf("%s", a.Result)
	}
}

func TestAClientThatHearsNothingForLong(t *testing.T) {
	k := running(t, &Agent{Heartbeat: 10 * time.Millisecond})
	for range 3 {
		if m := receive(t, k.heard); !strings.Contains(string(m.Params), "session_info_update") {
			t.Errorf("%s", m.Params)
		}
	}
}

const aQuestion = `{"loopId":"ralph-a","id":"q1","kind":"permission","toolCallId":"c1","title":"Bash git push","detail":"git push origin","offers":[
	{"title":"Deny","arguments":[{"answer":"deny"}]},{"title":"Allow Once","arguments":[{"answer":"once"}]},{"title":"Allow in This Loop","arguments":[{"answer":"loop"}]}]}`

// No comes first, and whoever gives no answer has said no.
func TestQuestions(t *testing.T) {
	for name, tt := range map[string]struct{ outcome, want string }{
		"no":      {`{"outcome":"selected","optionId":"0"}`, `{"answer":"deny"}`},
		"once":    {`{"outcome":"selected","optionId":"1"}`, `{"answer":"once"}`},
		"always":  {`{"outcome":"selected","optionId":"2"}`, `{"answer":"loop"}`},
		"nothing": {`{"outcome":"cancelled"}`, `{"answer":"deny"}`},
		"unknown": {`{"outcome":"selected","optionId":"7"}`, `{"answer":"deny"}`},
		"broken":  {`7`, `{"answer":"deny"}`},
	} {
		t.Run(name, func(t *testing.T) {
			k := running(t, &Agent{})
			answers := make(chan string, 1)
			k.sidecar.Request("ralph/permission", json.RawMessage(aQuestion), func(result json.RawMessage, _ *rpc.Error) { answers <- string(result) })
			asked := receive(t, k.heard)
			if want := `"options":[{"kind":"reject_once","name":"Deny","optionId":"0"},{"kind":"allow_once","name":"Allow Once","optionId":"1"},{"kind":"allow_always","name":"Allow in This Loop","optionId":"2"}]`; asked.Method != "session/request_permission" || !strings.Contains(string(asked.Params), want) || !strings.Contains(string(asked.Params), `"toolCallId":"1.c1"`) {
				t.Fatalf("%s %s", asked.Method, asked.Params)
			}
			k.client.Reply(asked.ID, map[string]any{"outcome": json.RawMessage(tt.outcome)}, nil)
			if got := receive(t, answers); got != tt.want {
				t.Errorf("it is answered with %s, not %s", got, tt.want)
			}
		})
	}
}

// A question about an edit shows what it changes, where that is known.
func TestAQuestionAboutAnEdit(t *testing.T) {
	k := running(t, &Agent{})
	k.told("c1", "c2", `{"sessionUpdate":"tool_call","toolCallId":"c1","name":"Edit","title":"a.go","kind":"edit","status":"in_progress","rawInput":{"file_path":"a.go","old_string":"1","new_string":"2"}}`)
	k.hears("tool_call")
	k.sidecar.Request("ralph/permission", json.RawMessage(aQuestion), func(json.RawMessage, *rpc.Error) {})
	if asked := receive(t, k.heard); !strings.Contains(string(asked.Params), `"toolCall":{"content":[{"newText":"2","oldText":"1","path":"/w/app/a.go","type":"diff"}],"status":"pending","title":"Bash git push","toolCallId":"1.c1"}`) {
		t.Errorf("%s", asked.Params)
	}
}

// A question that somebody else has answered is taken back, and one that can't be asked stays open.
func TestAQuestionThatNeedsNoAnswer(t *testing.T) {
	k := running(t, &Agent{})
	id := k.sidecar.Request("ralph/permission", json.RawMessage(aQuestion), func(json.RawMessage, *rpc.Error) {})
	asked := receive(t, k.heard)
	k.sidecar.Notify("$/cancelRequest", map[string]any{"id": id})
	if m := receive(t, k.heard); m.Method != "$/cancel_request" || string(m.Params) != `{"requestId":`+string(asked.ID)+`}` {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	answers := make(chan string, 1)
	k.sidecar.Request("ralph/permission", json.RawMessage(aQuestion), func(result json.RawMessage, _ *rpc.Error) { answers <- string(result) })
	k.client.Reply(receive(t, k.heard).ID, nil, rpc.Errorf(rpc.CodeMethod, "I can't"))
	if got := receive(t, answers); got != "null" {
		t.Errorf("an unanswered question is answered with %s", got)
	}
}

// What a start is refused for is a question where something else can be done, else an error.
func TestARefusedStart(t *testing.T) {
	const interrupted = `!{"code":-32803,"message":"there is an interrupted loop","data":{"reason":"interrupted","question":"Go on?","offers":[{"title":"Resume","command":"ralph.loop.resume","arguments":[{"loopId":"ralph-a"}]},{"title":"Discard It and Start","command":"ralph.loop.start","arguments":[{"replace":true}]}]}}`
	results := map[string]string{"ralph.loop.start": interrupted, "ralph.loop.resume": `{"loopId":"ralph-a"}`, "ralph.loop.outline": `{"cursor":"c5"}`}
	k := begin(t, results, &Agent{})
	k.prompt("Mend it")
	k.commanded("ralph.loop.start", "Mend it")
	asked := receive(t, k.heard)
	if want := `"options":[{"kind":"reject_once","name":"Leave it","optionId":"0"},{"kind":"allow_once","name":"Resume","optionId":"1"}]`; !strings.Contains(string(asked.Params), want) {
		t.Fatalf("%s", asked.Params)
	}
	k.client.Reply(asked.ID, map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "0"}}, nil)
	if a := k.answer(); a.Error == nil || a.Error.Message != "there is an interrupted loop" || a.Error.Code != rpc.CodeInternal {
		t.Errorf("%s %v", a.Result, a.Error)
	}
	if closed := k.hears("tool_call_update"); !strings.Contains(closed, `"status":"completed","title":"Go on?","toolCallId":"start-3"`) {
		t.Error(closed)
	}
	k.prompt("Mend it")
	k.commanded("ralph.loop.start", "Mend it")
	k.client.Reply(receive(t, k.heard).ID, map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "1"}}, nil)
	k.commanded("ralph.loop.outline", "ralph-a")
	k.commanded("ralph.loop.resume", "ralph-a")
	k.commanded("ralph.loop.read", `"after":"c5"`)
}

func TestErrors(t *testing.T) {
	k := begin(t, map[string]string{"ralph.loop.start": `!{"code":-32803,"message":"pi isn't installed","data":{"reason":"backend_not_found","offers":[{"title":"Run Doctor","command":"ralph.doctor","arguments":[{}]}]}}`}, &Agent{})
	for _, tt := range []struct {
		method, params string
		code           int
	}{
		{"session/nope", `{}`, rpc.CodeMethod},
		{"session/new", `{"cwd":"app"}`, rpc.CodeParams},
		{"session/new", `7`, rpc.CodeParams},
		{"session/prompt", `{"sessionId":"nobody's"}`, rpc.CodeNotFound},
		{"session/load", `{"sessionId":"ralph-gone","cwd":"/w/app"}`, rpc.CodeNotFound},
		{"session/set_config_option", `{"sessionId":"SESSION","configId":"permissions","value":"all"}`, rpc.CodeParams},
		{"session/prompt", `{"sessionId":"SESSION","prompt":[{"type":"text","text":"Mend it"}]}`, rpc.CodeAuth},
	} {
		k.ask(tt.method, tt.params)
		if a := k.answer(); a.Error == nil || a.Error.Code != tt.code {
			t.Errorf("%s %s: %s %v, not %d", tt.method, tt.params, a.Result, a.Error, tt.code)
		}
	}
}

// What is chosen counts for the next loop.
func TestChosenSettings(t *testing.T) {
	k := begin(t, map[string]string{"ralph.loop.start": `!{"code":-32602,"message":"no"}`}, &Agent{})
	for _, choice := range []string{`"configId":"maxIterations","value":"20"`, `"configId":"permissions","value":"ask"`, `"configId":"onClose","value":"configured"`} {
		k.ask("session/set_config_option", `{"sessionId":"SESSION",`+choice+`}`)
		if a := k.answer(); a.Error != nil {
			t.Fatal(a.Error)
		}
	}
	k.prompt("Mend it")
	m := receive(t, k.asked)
	if want := `{"folder":"file:///w/app","maxIterations":20,"permissions":"ask","text":"Mend it"}`; string(m.Params) != want {
		t.Errorf("it starts with %s, not %s", m.Params, want)
	}
	k.answer()
}

func TestTextOf(t *testing.T) {
	blocks := []block{{Type: "text", Text: "Mend "}, {Type: "resource_link", URI: "file:///w/a%20b.go"}, {Type: "image"}, {Type: "text", Text: " now"}}
	if got := textOf(blocks); got != "Mend @/w/a b.go now" {
		t.Errorf("got %q", got)
	}
	if got := textOf([]block{{Type: "text", Text: "Stopped --max-iterations 5"}, {Type: "text", Text: "Next"}}); got != "Stopped --max-iterations 5\n\nNext" {
		t.Errorf("got %q", got)
	}
	var b block
	b.Type, b.Resource.URI, b.Resource.Text = "resource", "file:///w/c.go", "package c\n"
	if got := textOf([]block{{Type: "text", Text: "See "}, b}); got != "See @/w/c.go\n\n/w/c.go:\n```\npackage c\n```" {
		t.Errorf("got %q", got)
	}
}

func TestDiffsOf(t *testing.T) {
	for input, want := range map[string]string{
		`{"path":"a.go","edits":[{"oldText":"1","newText":"2"},{"oldText":"3","newText":""}]}`: `[{"newText":"2","oldText":"1","path":"/w/a.go","type":"diff"},{"newText":"","oldText":"3","path":"/w/a.go","type":"diff"}]`,
		`{"file_path":"/x/a.go","content":"new\n"}`:                                            `[{"newText":"new\n","path":"/x/a.go","type":"diff"}]`,
		`{"command":"ls"}`: `null`,
		`{"path":"a.go"}`:  `null`,
		`[]`:               `null`,
	} {
		if got := string(rpc.Raw(diffsOf("/w", json.RawMessage(input)))); got != want {
			t.Errorf("%s: got %s, not %s", input, got, want)
		}
	}
}

// A session that is loaded again while its loop runs keeps its turn, and words reach that loop.
func TestASessionThatIsLoadedInMidTurn(t *testing.T) {
	k := running(t, &Agent{})
	k.ask("session/load", `{"sessionId":"SESSION","cwd":"/w/app","mcpServers":[]}`)
	if a := k.answer(); a.Error != nil {
		t.Fatal(a.Error)
	}
	k.prompt("Leave the parser alone")
	for m := receive(t, k.asked); m.Method != "ralph.loop.steer"; m = receive(t, k.asked) {
		if m.Method == "ralph.loop.start" {
			t.Fatalf("it starts another loop: %s", m.Params)
		}
	}
	k.answer()
	k.told("c1", "c2", over)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
}
