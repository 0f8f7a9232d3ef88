package ahp

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/looptest"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestIterationsAreTurns(t *testing.T) {
	w, v := running(t)
	w.happens(`{"sessionUpdate":"agent_thought_chunk","messageId":"m0","content":{"type":"text","text":"hm"}}`,
		`{"sessionUpdate":"agent_thought_chunk","messageId":"m0","content":{"type":"text","text":"m"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Look"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":" here"}}`,
		calling, called, second, over)
	for _, step := range [][2]string{
		{"chat/responsePart", `"kind":"reasoning"`}, {"chat/reasoning", `"content":"m"`},
		{"chat/responsePart", `"content":"Look"`}, {"chat/delta", `"content":" here"`},
		{"chat/toolCallStart", `"toolName":"bash"`},
		{"chat/toolCallReady", `"confirmed":"not-needed","invocationMessage":"Running go test ./...","toolCallId":"1.c1","toolInput":"go test ./..."`},
		{"chat/toolCallComplete", `"result":{"content":[{"text":"FAIL","type":"text"}],"pastTenseMessage":"Ran go test ./...","success":false}`},
		{"chat/turnComplete", `"turnId":"t1"`},
		{"chat/turnStarted", `"message":{"origin":{"kind":"systemNotification"},"text":"iteration 2 of 5"}`},
		{"chat/responsePart", "done: DONE after 2 iterations"},
		{"chat/responsePart", "- Result: done"},
		{"chat/turnComplete", `"turnId":"ralph-1"`},
	} {
		if got := v.hears(step[0]); !strings.Contains(got, step[1]) {
			t.Errorf("%s without %s", got, step[1])
		}
	}
	other := w.window("two") // has all that was
	got := string(other.ask("subscribe", `{"channel":"`+chatA+`"}`).Result)
	for _, want := range []string{`"id":"t1"`, `"content":"Look here"`, `"status":"completed"`, `"pastTenseMessage":"Ran go test ./..."`, `"id":"ralph-1"`, `"status":1`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s isn't in %s", want, got)
		}
	}
}

var asking = ask.Question{ID: "q1", Kind: ask.Permission, CallID: "c1", Title: "Run go test?", Rule: "go test"}

// asks has the agent ask, and returns where its answer comes.
func (w *world) asks(v *window) <-chan ask.Answer {
	w.t.Helper()
	w.happens(calling)
	v.hears("chat/toolCallStart")
	v.hears("chat/toolCallReady")
	it := w.loops.Loop("ralph-a")
	it.Ask(asking)
	got := v.hears("chat/toolCallReady")
	for _, want := range []string{
		`"confirmationTitle":"Run go test?"`,
		`{"id":"0","kind":"deny","label":"Deny"},{"id":"1","kind":"approve","label":"Allow Once"},{"id":"2","kind":"approve","label":"Allow go test in This Loop"}`,
	} {
		if !strings.Contains(got, want) || strings.Contains(got, `"confirmed"`) {
			w.t.Errorf("%s without %s", got, want)
		}
	}
	return it.Answers
}

// Some agents ask about a call before it is told of.
func TestACallThatIsAskedAboutFirst(t *testing.T) {
	w, v := running(t)
	early := asking
	early.Tool, early.Title, early.Detail = "Bash", "Bash go test", "go test"
	it := w.loops.Loop("ralph-a")
	it.Ask(early)
	for _, want := range []string{`"invocationMessage":"Bash go test"`, `"invocationMessage":"Running go test ./..."`} {
		if want == `"invocationMessage":"Bash go test"` {
			if got := v.hears("chat/toolCallStart"); !strings.Contains(got, `"displayName":"Bash"`) {
				t.Error(got)
			}
		} else {
			w.happens(calling)
		}
		if got := v.hears("chat/toolCallReady"); !strings.Contains(got, want) || !strings.Contains(got, "Allow Once") {
			t.Errorf("%s without %s", got, want)
		}
	}
	v.do(chatA, confirmed(`"approved":true,"confirmed":"user-action"`))
	v.hears("chat/toolCallConfirmed")
	receive(t, it.Answers)
	w.happens(called)
	if got := v.hears("chat/toolCallComplete"); !strings.Contains(got, `"_meta":{"toolKind":"terminal"}`) || !strings.Contains(got, "Ran go test ./...") {
		t.Error(got)
	}
}

// A window makes a session for each harness that its user looks at. The others hear of one that has a turn.
func TestASessionWithoutATurnIsNotListed(t *testing.T) {
	w := begin(t, looptest.New())
	v, other := w.window("one"), w.window("two")
	v.ask("createSession", `{"channel":"ralph:/a","provider":"ralph","workingDirectories":["file:///w/app"]}`)
	if list := other.ask("listSessions", `{"channel":"ahp-root://"}`); string(list.Result) != `{"items":[]}` {
		t.Errorf("%s", list.Result)
	}
	v.ask("subscribe", `{"channel":"`+chatA+`"}`)
	v.do(chatA, turnStarted("t1", "Mend it"))
	for {
		if m := receive(t, other.heard); m.Method == "root/sessionAdded" {
			if !strings.Contains(string(m.Params), `"status":8`) {
				t.Errorf("it is told of before its turn: %s", m.Params)
			}
			return
		}
	}
}

func confirmed(rest string) string {
	return `{"type":"chat/toolCallConfirmed","turnId":"t1","toolCallId":"1.c1",` + rest + `}`
}

func TestAQuestionHasOurOptions(t *testing.T) {
	for said, want := range map[string]string{
		`"approved":true,"confirmed":"user-action","selectedOptionId":"2"`: ask.ForLoop,
		`"approved":true,"confirmed":"user-action"`:                        ask.Once, // the least that a yes can be
		`"approved":false,"reason":"denied","selectedOptionId":"0"`:        ask.Deny,
		`"approved":false,"reason":"skipped"`:                              ask.Deny,
		`"approved":true,"confirmed":"user-action","selectedOptionId":"0"`: ask.Deny, // a yes with a no
		`"approved":true,"confirmed":"setting","selectedOptionId":"9"`:     ask.Deny,
	} {
		t.Run(said, func(t *testing.T) {
			w, v := running(t)
			answers := w.asks(v)
			v.do(chatA, confirmed(said))
			v.hears("chat/toolCallConfirmed")
			if got := receive(t, answers); got.Kind != want {
				t.Errorf("answered with %v", got)
			}
			v.do(chatA, confirmed(`"approved":true,"confirmed":"user-action"`))
			if got := v.hears("chat/toolCallConfirmed"); !strings.Contains(got, "rejectionReason") {
				t.Error(got)
			}
		})
	}
}

// A window that stops a turn approves what waited right behind that.
func TestWhatIsApprovedBehindACancelDoesNotRun(t *testing.T) {
	w, v := running(t)
	answers := w.asks(v)
	v.do(chatA, `{"type":"chat/turnCancelled","turnId":"t1","duration":5}`)
	v.do(chatA, confirmed(`"approved":true,"confirmed":"user-action","selectedOptionId":"2"`))
	v.hears("chat/turnCancelled")
	if got := v.hears("chat/toolCallConfirmed"); !strings.Contains(got, "rejectionReason") {
		t.Error(got)
	}
	w.commanded("ralph.loop.cancel", `"when":"interrupt"`)
	select {
	case got := <-answers:
		t.Errorf("it was answered with %v", got)
	default:
	}
	w.happens(strings.Replace(over, "promise", "interrupted", 1))
	v.hears("chat/turnStarted")
	v.hears("chat/responsePart")
	v.hears("chat/responsePart")
	v.hears("chat/turnComplete")
}

// A message that is typed while a question is open cancels the turn, in VS Code: the loop goes on, is
// told, and asks again.
func TestAMessageInsteadOfAnAnswer(t *testing.T) {
	w, v := running(t)
	answers := w.asks(v)
	v.do(chatA, `{"type":"chat/turnCancelled","turnId":"t1","duration":5}`)
	v.do(chatA, confirmed(`"approved":true,"confirmed":"user-action"`))
	v.do(chatA, `{"type":"chat/pendingMessageSet","kind":"queued","id":"p1","message":{"text":"Use tabs","origin":{"kind":"user"}}}`)
	v.hears("chat/turnCancelled")
	v.hears("chat/toolCallConfirmed")
	v.hears("chat/pendingMessageSet")
	if got := v.hears("chat/turnStarted"); !strings.Contains(got, `"queuedMessageId":"p1"`) || !strings.Contains(got, "Use tabs") {
		t.Error(got)
	}
	w.commanded("ralph.loop.steer", "Use tabs")
	v.hears("chat/toolCallStart")
	if got := v.hears("chat/toolCallReady"); !strings.Contains(got, "Allow Once") || !strings.Contains(got, `"turnId":"ralph-1"`) {
		t.Error(got)
	}
	v.do(chatA, strings.Replace(confirmed(`"approved":true,"confirmed":"user-action","selectedOptionId":"1"`), "t1", "ralph-1", 1))
	if got := receive(t, answers); got.Kind != ask.Once {
		t.Errorf("answered with %v", got)
	}
}

func TestSteering(t *testing.T) {
	w, v := running(t)
	v.do(chatA, `{"type":"chat/pendingMessageSet","kind":"steering","id":"p1","message":{"text":"Use tabs","origin":{"kind":"user"}}}`)
	v.hears("chat/pendingMessageSet")
	w.commanded("ralph.loop.steer", "Use tabs")
	w.happens(`{"sessionUpdate":"_ralph/guidance","guidanceId":"g","state":"sent","text":"told"}`, `{"sessionUpdate":"_ralph/guidance","guidanceId":"g","state":"delivered","text":"heard"}`)
	v.hears("chat/responsePart")
	if got := v.hears("chat/pendingMessageRemoved"); !strings.Contains(got, `"id":"p1","kind":"steering"`) {
		t.Error(got)
	}
	v.hears("chat/responsePart")
	v.do(chatA, `{"type":"chat/pendingMessageSet","kind":"steering","id":"p2","message":{"text":"/ralph-pause","origin":{"kind":"user"}}}`)
	v.hears("chat/pendingMessageSet")
	w.commanded("ralph.loop.pause", "file:///w/app")
}

// A question that was answered in a terminal is none any more.
func TestAQuestionThatIsWithdrawn(t *testing.T) {
	w, v := running(t)
	w.asks(v)
	w.loops.Loop("ralph-a").Ask()
	v.hears("chat/toolCallConfirmed")
	w.happens(called)
	v.hears("chat/toolCallComplete")
}

func TestALoopThatDoesNotStart(t *testing.T) {
	loops := looptest.New()
	loops.Errors["ralph.loop.start"] = errors.New("--max-iterations has to be a number")
	w := begin(t, loops)
	v := w.window("one")
	v.ask("createSession", `{"channel":"ralph:/a","provider":"ralph","workingDirectories":["file:///w/app"]}`)
	v.ask("subscribe", `{"channel":"`+chatA+`"}`)
	v.do(chatA, turnStarted("t1", "x --max-iterations y"))
	v.hears("chat/turnStarted")
	if got := v.hears("chat/error"); !strings.Contains(got, "has to be a number") {
		t.Error(got)
	}
}

func TestWhatIsAttached(t *testing.T) {
	w := begin(t, looptest.New())
	v := w.window("one")
	v.ask("createSession", `{"channel":"ralph:/a","provider":"ralph","workingDirectories":["file:///w/app"]}`)
	v.do(chatA, strings.Replace(turnStarted("t1", "See"), `"origin"`, `"attachments":[
		{"label":"a","uri":"file:///w/app/a%20b.txt"},{"label":"b","uri":"vscode-agent-host://local/w/app/b%20c.txt?_ah%3DeyJ9"},{"label":"no file"}],"origin"`, 1))
	w.commanded("ralph.loop.start", ` @/w/app/a b.txt @/w/app/b c.txt"`)
}

// Windows come and go; a loop is the host's.
func TestWindowsThatGo(t *testing.T) {
	w, v := running(t)
	two := w.window("two")
	two.ask("subscribe", `{"channel":"ralph:/a"}`)
	two.ask("subscribe", `{"channel":"`+chatA+`"}`)
	two.ask("disposeSession", `{"channel":"ralph:/a"}`)
	w.quiet(two)
	if m := two.ask("initialize", `{"channel":"ahp-root://","protocolVersions":["0.9.0"],"clientId":"two"}`); m.Error == nil {
		t.Error("a second initialize is answered")
	}
	two.do(chatA, turnStarted("t2", "another")) // while one is under way
	if got := v.hears("chat/turnStarted"); !strings.Contains(got, "rejectionReason") {
		t.Error(got)
	}
	two.hears("chat/turnStarted")
	w.happens(calling)
	v.hears("chat/toolCallStart")
	two.hears("chat/toolCallStart")
	two.rpc.Notify("dispatchAction", json.RawMessage(`"`+strings.Repeat("x", rpc.MaxMessage)+`"`)) // ends its connection alone
	for range two.heard {
	}
	w.quiet(v)
	v.hears("chat/toolCallReady")
	if list := v.ask("listSessions", `{"channel":"ahp-root://"}`); !strings.Contains(string(list.Result), `"resource":"ralph:/a","status":8`) {
		t.Errorf("%s", list.Result)
	}
}

// A loop of the past is a session with all its turns.
func TestALoopOfThePast(t *testing.T) {
	loops := looptest.New()
	loops.Listed = []wire.LoopStatus{{LoopID: "ralph-a", Title: "app", Summary: wire.Summary{Text: "2/5 · $0.93"}}}
	prompt := `{"sessionUpdate":"user_message_chunk","messageId":"prompt","content":{"type":"text","text":"Mend it"}}`
	loops.Stories["ralph-a"] = []string{prompt, begun, calling, called, second, over}
	w := begin(t, loops)
	v := w.window("one")
	if list := v.ask("listSessions", `{"channel":"ahp-root://"}`); !strings.Contains(string(list.Result), `"resource":"ralph:/ralph-a"`) || !strings.Contains(string(list.Result), "$0.93") {
		t.Fatalf("%s", list.Result)
	}
	v.ask("subscribe", `{"channel":"ralph:/ralph-a"}`)
	got := string(v.ask("subscribe", `{"channel":"`+chatPrefix+`cmFscGg6L3JhbHBoLWE"}`).Result)
	for _, want := range []string{`"text":"Mend it"`, `"text":"FAIL"`, `"text":"iteration 2 of 5"`, "done: DONE", `"status":33`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s isn't in %s", want, got)
		}
	}
	if strings.Contains(got, "activeTurn") {
		t.Error("a turn is left open")
	}
	if m := v.ask("subscribe", `{"channel":"ralph:/nope"}`); m.Error == nil {
		t.Error("a loop that never was is shown")
	}
}

func TestWhoMayConnect(t *testing.T) {
	w := begin(t, looptest.New())
	for name, c := range map[string]struct {
		target string
		lines  []string
		ok     bool
	}{
		"VS Code's server":     {"/?tkn=" + token, []string{"Host: " + w.address}, true},
		"VS Code's window":     {"/?tkn=" + token, []string{"Host: localhost:1", "Origin: vscode-file://vscode-app"}, true},
		"IPv6":                 {"/?tkn=" + token, []string{"Host: [::1]:80"}, true},
		"without a token":      {"/", []string{"Host: " + w.address}, false},
		"with another":         {"/?tkn=" + token[:15] + "x", []string{"Host: " + w.address}, false},
		"with a part of it":    {"/?tkn=" + token[:8], []string{"Host: " + w.address}, false},
		"a page":               {"/?tkn=" + token, []string{"Host: " + w.address, "Origin: http://127.0.0.1:8080"}, false},
		"two origins":          {"/?tkn=" + token, []string{"Host: " + w.address, "Origin: vscode-file://vscode-app", "Origin: http://evil"}, false},
		"a page without one":   {"/?tkn=" + token, []string{"Host: " + w.address, "Origin: null"}, false},
		"a name that is bound": {"/?tkn=" + token, []string{"Host: evil.example:80"}, false},
		"another machine":      {"/?tkn=" + token, []string{"Host: 192.0.2.1:80"}, false},
	} {
		ws, err := dial(w.address, c.target, c.lines...)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			ws.close()
		}
	}
	w.host.Token = ""
	if _, err := dial(w.address, "/?tkn=", "Host: "+w.address); err == nil {
		t.Error("no token is one that fits")
	}
}

func TestAClientOfAnotherVersion(t *testing.T) {
	w := begin(t, looptest.New())
	ws, err := w.connect("Host: " + w.address)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.close()
	for _, c := range [][2]string{
		{`{"id":1,"method":"listSessions","params":{}}`, "initialize comes first"},
		{`{"id":2,"method":"ping"}`, `"result":{}`},
		{`{"id":3,"method":"initialize","params":{"protocolVersions":["2.0.0"],"clientId":"x"}}`, `"code":-32005,"message":"this host speaks version 0.9.0 of the protocol","data":{"supportedVersions":["0.9.0"]}`},
		{`{`, "-32700"},
		{`{"id":4,"method":"initialize","params":7}`, "-32602"},
		{`{"id":5,"method":"reconnect","params":{"clientId":"x","lastSeenServerSeq":3,"subscriptions":["ahp-root://","ralph:/gone"]}}`, `"type":"snapshot"`},
		{`{"id":6,"method":"nope","params":{}}`, "-32601"},
		{`{"id":7,"method":"createSession","params":{"channel":"ralph:/x","provider":"copilot"}}`, "-32002"},
		{`{"id":8,"method":"createSession","params":{"channel":"other:/x"}}`, "-32602"},
		{`{"id":9,"method":"createSession","params":{"channel":"ralph:/x","workingDirectories":["vscode-remote://x/y"]}}`, "-32602"},
		{`{"id":10,"method":"disposeSession","params":{"channel":"ralph:/x"}}`, "-32001"},
	} {
		if err := ws.send([]byte(c[0])); err != nil {
			t.Fatal(err)
		}
		m, err := ws.receive()
		for err == nil && strings.Contains(string(m), `"method":`) { // it may learn meanwhile which agents there are
			m, err = ws.receive()
		}
		if err != nil || !strings.Contains(string(m), c[1]) {
			t.Errorf("%s is answered with %s, %v", c[0], m, err)
		}
	}
}

// The recordings are of VS Code 1.139, with a host that was written for them (testdata/README.md).
func TestWhatVSCodeSays(t *testing.T) {
	for _, name := range []string{"start-approve-cancel", "message-while-a-question-waits", "steer-reload-reopen"} {
		t.Run(name, func(t *testing.T) {
			loops := looptest.New()
			loops.Begins = []string{begun}
			w := begin(t, loops)
			data, err := os.ReadFile("testdata/" + name + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			var ws *wsClient
			for line := range strings.Lines(string(data)) {
				var m rpc.Message
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					t.Fatal(err)
				}
				if m.Method == "initialize" { // a window that was loaded, or loaded again
					if ws, err = w.connect("Host: " + w.address); err != nil {
						t.Fatal(err)
					}
					defer ws.close()
				}
				if err := ws.send([]byte(line)); err != nil {
					t.Fatal(err)
				}
				for m.ID != nil {
					said, err := ws.receive()
					if err != nil {
						t.Fatal(err)
					}
					var answer rpc.Message
					_ = json.Unmarshal(said, &answer)
					if answer.Method != "" {
						checkSent(t, answer.Method, answer.Params)
						continue
					}
					if answer.Error != nil || string(answer.ID) != string(m.ID) {
						t.Errorf("%s is answered with %s", line, said)
					} else {
						checkAnswer(t, m.Method, answer.Result)
					}
					break
				}
			}
		})
	}
}

// What a user writes while a start is under way that fails has a turn of its own, behind the error of the first one.
func TestAMessageBeforeAStartThatFails(t *testing.T) {
	loops := looptest.New()
	loops.Errors["ralph.loop.start"] = errors.New("no agent")
	w := begin(t, loops)
	v := w.window("one")
	v.ask("createSession", `{"channel":"ralph:/a","provider":"ralph","workingDirectories":["file:///w/app"]}`)
	v.ask("subscribe", `{"channel":"`+chatA+`"}`)
	under, isSaid := make(chan struct{}), make(chan struct{})
	loops.Set(func() {
		loops.Before["ralph.loop.start"] = sync.OnceFunc(func() { close(under); <-isSaid })
	})
	v.do(chatA, turnStarted("t1", "Mend it"))
	v.hears("chat/turnStarted")
	receive(t, under)
	v.do(chatA, `{"type":"chat/pendingMessageSet","kind":"queued","id":"p1","message":{"text":"Use tabs","origin":{"kind":"user"}}}`)
	v.hears("chat/pendingMessageSet")
	v.ask("ping", `{}`)
	close(isSaid)
	v.hears("chat/error")
	v.hears("chat/pendingMessageRemoved")
	if got := v.hears("chat/turnStarted"); !strings.Contains(got, "Use tabs") {
		t.Error(got)
	}
	v.hears("chat/pendingMessageRemoved")
	if got := v.hears("chat/error"); !strings.Contains(got, "no agent") {
		t.Error(got)
	}
}

// turnOf begins a turn once the one before, which was stopped, is over.
func (v *window) turnOf(id, text string) {
	v.t.Helper()
	for isRejected := true; isRejected; {
		v.do(chatA, turnStarted(id, text))
		isRejected = strings.Contains(v.hears("chat/turnStarted"), "rejectionReason")
	}
}

// A stop while it is asked how to start leaves it.
func TestAStopWhileAStartIsAsked(t *testing.T) {
	loops := looptest.New()
	loops.Errors["ralph.loop.start"] = &wire.Failure{Reason: wire.ReasonInterrupted, Err: errors.New("there is a loop")}
	w := begin(t, loops)
	v := w.window("one")
	v.ask("createSession", `{"channel":"ralph:/a","provider":"ralph","workingDirectories":["file:///w/app"]}`)
	v.ask("subscribe", `{"channel":"`+chatA+`"}`)
	v.do(chatA, turnStarted("t1", "Mend it"))
	v.hears("chat/turnStarted")
	v.hears("chat/toolCallStart")
	v.hears("chat/toolCallReady")
	w.commanded("ralph.loop.start", "Mend it")
	v.do(chatA, `{"type":"chat/turnCancelled","turnId":"t1","duration":5}`)
	v.hears("chat/turnCancelled")
	v.turnOf("t2", "Mend the lexer")
	w.commanded("ralph.loop.start", "Mend the lexer")
	v.hears("chat/toolCallStart")
}

// A stop interrupts a loop that was found running and has no prompt here.
func TestAStopOfALoopThatWasOpened(t *testing.T) {
	loops := looptest.New()
	loops.Listed = []wire.LoopStatus{{LoopID: "a", Title: "Mend it", Live: true}}
	loops.Stories["a"] = []string{`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Mend it"}}`, begun}
	w := begin(t, loops)
	v := w.window("one")
	v.ask("listSessions", `{"channel":"ahp-root://"}`)
	var opened struct {
		Snapshot struct {
			State struct{ ActiveTurn struct{ ID string } }
		}
	}
	_ = json.Unmarshal(v.ask("subscribe", `{"channel":"`+chatA+`"}`).Result, &opened)
	w.commanded("join", "past")
	for m := receive(t, v.heard); !strings.Contains(string(m.Params), "Ralph 1/5"); m = receive(t, v.heard) { // it is followed
	}
	v.do(chatA, `{"type":"chat/turnCancelled","turnId":"`+opened.Snapshot.State.ActiveTurn.ID+`","duration":5}`)
	v.hears("chat/turnCancelled")
	w.commanded("ralph.loop.cancel", `"loopId":"a"`)
}
