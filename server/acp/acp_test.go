package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/looptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

// talk is an agent between a client and loops that the test plays.
type talk struct {
	t        *testing.T
	client   *rpc.Conn // the client's side
	loops    *looptest.Loops
	heard    chan rpc.Message
	answered chan rpc.Message
	session  string
	ended    chan error
}

// begin begins a talk.
func begin(t *testing.T, loops *looptest.Loops, a *Agent) *talk {
	t.Helper()
	k := &talk{t: t, loops: loops, heard: make(chan rpc.Message, 1000), answered: make(chan rpc.Message, 100), ended: make(chan error, 1)}
	toAgent, fromClient := io.Pipe()
	toClient, fromAgent := io.Pipe()
	k.client = rpc.New(rpc.WriteLine, toClient, fromClient)
	k.client.Handle = func(method string, id, params json.RawMessage) {
		checkShape(t, sentBy[method], params)
		k.heard <- rpc.Message{Method: method, ID: id, Params: params}
	}
	a.Loops = loops
	go func() { k.ended <- a.Serve(toAgent, fromAgent); _ = fromAgent.Close() }()
	go func() { _ = k.client.Serve() }()
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

// refusing are loops of which a command fails.
func refusing(command string, err error) *looptest.Loops {
	loops := looptest.New()
	loops.Errors[command] = err
	return loops
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
func (k *talk) told(updates ...string) { k.loops.Loop("ralph-a").Tell(updates...) }

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
	if asked := receive(k.t, k.loops.Asked); !strings.HasPrefix(asked, command+" ") || !strings.Contains(asked, argument) {
		k.t.Fatalf("it commands %s, not %s %s", asked, command, argument)
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
)

// running is a talk with a loop under way.
func running(t *testing.T, a *Agent) *talk {
	loops := looptest.New()
	loops.Begins, loops.Texts["ralph.loop.steer"] = []string{begun}, "the next run is told"
	k := begin(t, loops, a)
	k.prompt("Mend it --max-iterations 5")
	k.commanded("ralph.loop.start", `"text":"Mend it --max-iterations 5"`)
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
	k.told(`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Look"}}`,
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

// titled waits until the session has a title.
func (k *talk) titled(want string) {
	k.t.Helper()
	for m := k.next("session/update"); !strings.Contains(string(m.Params), fmt.Sprintf(`"title":%q`, want)); m = k.next("session/update") {
	}
}

// A session has its loop's title from the beginning to the end.
func TestASessionHasItsLoopsTitle(t *testing.T) {
	k := begin(t, looptest.New(), &Agent{})
	k.prompt("Mend it --max-iterations 5")
	k.titled("Ralph 1/5")
	k.loops.Loop("ralph-a").Stand(func(s *loop.Status) { s.Iteration = 2 })
	k.titled("Ralph 2/5")
	k.told(over)
	k.titled("Ralph done")
	k.answer()
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
	k.told(`{"sessionUpdate":"_ralph/end","stopReason":"interrupted","text":"interrupted"}`)
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

var aQuestion = ask.Question{ID: "q1", Kind: ask.Permission, CallID: "c1", Title: "Bash git push", Detail: "git push origin", Rule: "Bash(git push)"}

// No comes first, and whoever gives no answer has said no.
func TestQuestions(t *testing.T) {
	for name, tt := range map[string]struct{ outcome, want string }{
		"no":      {`{"outcome":"selected","optionId":"0"}`, ask.Deny},
		"once":    {`{"outcome":"selected","optionId":"1"}`, ask.Once},
		"always":  {`{"outcome":"selected","optionId":"2"}`, ask.ForLoop},
		"nothing": {`{"outcome":"cancelled"}`, ask.Deny},
		"unknown": {`{"outcome":"selected","optionId":"7"}`, ask.Deny},
		"broken":  {`7`, ask.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			k := running(t, &Agent{})
			asked := k.asks(aQuestion)
			const want = `"options":[{"kind":"reject_once","name":"Deny","optionId":"0"},{"kind":"allow_once","name":"Allow Once","optionId":"1"},` +
				`{"kind":"allow_always","name":"Allow Bash(git push) in This Loop","optionId":"2"}]`
			if !strings.Contains(string(asked.Params), want) || !strings.Contains(string(asked.Params), `"toolCallId":"1.c1"`) {
				t.Fatalf("%s %s", asked.Method, asked.Params)
			}
			k.client.Reply(asked.ID, map[string]any{"outcome": json.RawMessage(tt.outcome)}, nil)
			if got := receive(t, k.loops.Loop("ralph-a").Answers); got.Kind != tt.want || got.By != "ralph-lsp acp" {
				t.Errorf("it is answered with %v, not %s", got, tt.want)
			}
		})
	}
}

// asks has an agent ask something, and returns what the client is asked.
func (k *talk) asks(q ask.Question) rpc.Message {
	k.t.Helper()
	k.loops.Loop("ralph-a").Ask(q)
	for {
		if m := receive(k.t, k.heard); m.Method != "session/update" {
			return m
		} else if !strings.Contains(string(m.Params), "session_info_update") {
			k.t.Fatalf("%s comes in place of a question", m.Params)
		}
	}
}

// A question about an edit shows what it changes, where that is known.
func TestAQuestionAboutAnEdit(t *testing.T) {
	k := running(t, &Agent{})
	k.told(`{"sessionUpdate":"tool_call","toolCallId":"c1","name":"Edit","title":"a.go","kind":"edit","status":"in_progress","rawInput":{"file_path":"a.go","old_string":"1","new_string":"2"}}`)
	k.hears("tool_call")
	const want = `"toolCall":{"content":[{"newText":"2","oldText":"1","path":"/w/app/a.go","type":"diff"}],"status":"pending","title":"Bash git push","toolCallId":"1.c1"}`
	if asked := k.asks(aQuestion); !strings.Contains(string(asked.Params), want) {
		t.Errorf("%s", asked.Params)
	}
}

// A question that somebody else has answered is taken back, and one that can't be asked stays open.
func TestAQuestionThatNeedsNoAnswer(t *testing.T) {
	k := running(t, &Agent{})
	it := k.loops.Loop("ralph-a")
	asked := k.asks(aQuestion)
	it.Ask()
	m := receive(t, k.heard)
	for m.Method == "session/update" { // how the loop stands
		m = receive(t, k.heard)
	}
	if m.Method != "$/cancel_request" || string(m.Params) != `{"requestId":`+string(asked.ID)+`}` {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	k.client.Reply(k.asks(aQuestion).ID, nil, rpc.Errorf(rpc.CodeMethod, "I can't"))
	k.prompt("/ralph-answer") // which asks again what is open
	if again := k.next("session/request_permission"); !strings.Contains(string(again.Params), "Bash git push") || len(it.Answers) > 0 {
		t.Errorf("%s, and %d answers", again.Params, len(it.Answers))
	}
}

// next returns the next message of a method, whatever comes before.
func (k *talk) next(method string) rpc.Message {
	k.t.Helper()
	for {
		if m := receive(k.t, k.heard); m.Method == method {
			return m
		}
	}
}

// What a start is refused for is a question where something else can be done, else an error.
func TestARefusedStart(t *testing.T) {
	left := &wire.Failure{Reason: wire.ReasonInterrupted, Err: errors.New("there is an interrupted loop"), Data: map[string]any{"question": "Go on?"}}
	k := begin(t, refusing("ralph.loop.start", left), &Agent{})
	k.prompt("Mend it")
	k.commanded("ralph.loop.start", "Mend it")
	asked := receive(t, k.heard)
	const want = `"options":[{"kind":"reject_once","name":"Leave it","optionId":"0"},{"kind":"allow_once","name":"Resume","optionId":"1"}]`
	if !strings.Contains(string(asked.Params), want) {
		t.Fatalf("%s", asked.Params)
	}
	k.client.Reply(asked.ID, map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "0"}}, nil)
	if a := k.answer(); a.Error == nil || a.Error.Message != "there is an interrupted loop" || a.Error.Code != rpc.CodeInternal {
		t.Errorf("%s %v", a.Result, a.Error)
	}
	if closed := k.hears("tool_call_update"); !strings.Contains(closed, `"status":"completed","title":"Go on?","toolCallId":"start-1"`) {
		t.Error(closed)
	}
	k.prompt("Mend it")
	k.commanded("ralph.loop.start", "Mend it")
	k.client.Reply(receive(t, k.heard).ID, map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "1"}}, nil)
	k.commanded("ralph.loop.resume", `{"folder":"file:///w/app"}`)
	k.hears("tool_call_update")
	k.hears("agent_message_chunk") // how to speak to it
}

// A start that needs its user's word is done again with it.
func TestAStartThatIsTrusted(t *testing.T) {
	k := begin(t, refusing("ralph.loop.start", &wire.Failure{Reason: wire.ReasonUntrusted, Err: errors.New("ralph.toml isn't trusted")}), &Agent{})
	k.prompt("Mend it")
	k.commanded("ralph.loop.start", "Mend it")
	asked := receive(t, k.heard)
	if !strings.Contains(string(asked.Params), `"name":"Trust It and Go On"`) {
		t.Fatalf("%s", asked.Params)
	}
	k.client.Reply(asked.ID, map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "1"}}, nil)
	k.commanded("ralph.loop.start", `"trust":true`)
}

func TestErrors(t *testing.T) {
	k := begin(t, refusing("ralph.loop.start", &wire.Failure{Reason: wire.ReasonBackendNotFound, Err: errors.New("pi isn't installed")}), &Agent{})
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
	k := begin(t, refusing("ralph.loop.start", errors.New("no")), &Agent{})
	for _, choice := range []string{`"configId":"maxIterations","value":"20"`, `"configId":"permissions","value":"ask"`, `"configId":"onClose","value":"configured"`} {
		k.ask("session/set_config_option", `{"sessionId":"SESSION",`+choice+`}`)
		if a := k.answer(); a.Error != nil {
			t.Fatal(a.Error)
		}
	}
	k.prompt("Mend it")
	k.commanded("ralph.loop.start", `{"folder":"file:///w/app","text":"Mend it","maxIterations":20,"permissions":"ask"}`)
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
	k.commanded("ralph.loop.steer", "Leave the parser alone")
	k.answer()
	k.told(over)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
}
