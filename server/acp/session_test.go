package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/looptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// The calls of an iteration that comes again are other ones.
func TestAnIterationThatComesAgain(t *testing.T) {
	k := running(t, &Agent{})
	const call = `{"sessionUpdate":"tool_call","toolCallId":"c1","title":"go test","kind":"execute","status":"in_progress"}`
	k.told(call, begun, call)
	first := k.hears("tool_call")
	k.hears("agent_message_chunk")
	k.hears("plan")
	if second := k.hears("tool_call"); second == first {
		t.Errorf("both are %s", first)
	}
}

// A prompt right behind the one that starts a loop waits for that, and is told to its agent.
func TestTwoPromptsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		start error
		want  []string
	}{
		"it starts": {nil, []string{`{"stopReason":"end_turn"}`}},
		"refused":   {errors.New("no agent"), []string{"no agent", `{"stopReason":"end_turn"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			loops := refusing("ralph.loop.start", tt.start)
			k := begin(t, loops, &Agent{})
			loops.Set(func() {
				loops.Before["ralph.loop.start"] = func() {
					k.prompt("And the lexer")
					k.ask("session/nope", `{}`) // by its answer the prompt before it was taken
					if a := k.answer(); a.Error == nil || a.Error.Code != rpc.CodeMethod {
						t.Errorf("%s %v", a.Result, a.Error)
					}
				}
			})
			k.prompt("Mend it")
			k.commanded("ralph.loop.start", "Mend it")
			if tt.start == nil {
				k.commanded("ralph.loop.steer", "And the lexer")
			}
			said := ""
			for range tt.want {
				a := k.answer()
				if said += string(a.Result); a.Error != nil {
					said += a.Error.Message
				}
			}
			for _, want := range tt.want {
				if !strings.Contains(said, want) {
					t.Errorf("answers: %s", said)
				}
			}
		})
	}
}

// withLoop are loops of which one runs without a window, and one is over.
func withLoop() *looptest.Loops {
	loops := looptest.New()
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	loops.Listed = []wire.LoopStatus{
		{LoopID: "ralph-k", Title: "Build X", Summary: wire.Summary{Text: "3/50 · $1.42"}, Times: loop.Times{StartedAt: at}, Live: true, Condition: loop.Condition{Driven: loop.Driven{Detached: true}}},
		{LoopID: "ralph-b", Title: "Old", Times: loop.Times{StartedAt: at.AddDate(0, 0, -1)}},
	}
	loops.Stories["ralph-k"], loops.Texts["ralph.loop.steer"] = []string{begun}, "the running agent is told"
	return loops
}

// A loop that goes on without a window is listed, can be loaded, and the next prompt speaks to it and lasts until its end.
func TestALoopWithoutAWindow(t *testing.T) {
	k := begin(t, withLoop(), &Agent{})
	k.ask("session/list", `{"cwd":"/w/app"}`)
	const want = `{"sessions":[{"cwd":"/w/app","sessionId":"ralph-k","title":"Build X · 3/50 · $1.42","updatedAt":"2026-01-02T12:00:00Z"},` +
		`{"cwd":"/w/app","sessionId":"ralph-b","title":"Old","updatedAt":"2026-01-01T12:00:00Z"}]}`
	if got := string(k.answer().Result); got != want {
		t.Errorf("it lists %s, not %s", got, want)
	}
	k.ask("session/load", `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`)
	if a := k.answer(); a.Error != nil {
		t.Fatal(a.Error)
	}
	k.commanded("join", "past") // behind what was read
	k.session = "ralph-k"
	k.prompt("Leave the parser alone")
	k.commanded("ralph.loop.steer", `"loopId":"ralph-k"`)
	k.loops.Loop("ralph-k").Tell(over)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
	k.ask("session/close", `{"sessionId":"ralph-k"}`)
	k.answer()
	if len(k.loops.Asked) > 0 {
		t.Errorf("a loop without a window is ended with one: %v", <-k.loops.Asked)
	}
}

// A client that closes its view of a loop without a window ends its turn, and not the loop.
func TestAClosedViewOfALoopWithoutAWindow(t *testing.T) {
	k := begin(t, withLoop(), &Agent{})
	k.ask("session/resume", `{"sessionId":"ralph-k","cwd":"/w/app"}`)
	k.answer()
	k.commanded("join", "past")
	k.session = "ralph-k"
	k.prompt("Leave the parser alone")
	k.commanded("ralph.loop.steer", "parser")
	k.ask("session/close", `{"sessionId":"ralph-k"}`)
	if a := k.answer(); string(a.Result) != `{"stopReason":"cancelled"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
	k.answer()
	if len(k.loops.Asked) > 0 {
		t.Errorf("it commands %v", <-k.loops.Asked)
	}
}

// What a loaded loop's agent asks meanwhile is asked, too.
func TestALoadedLoopAsks(t *testing.T) {
	k := begin(t, withLoop(), &Agent{})
	k.ask("session/load", `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`)
	k.answer()
	k.commanded("join", "past")
	for k.loops.Loop("ralph-k") == nil {
		k.ask("session/nope", `{}`)
		k.answer()
	}
	k.loops.Loop("ralph-k").Ask(aQuestion)
	if asked := k.next("session/request_permission"); !strings.Contains(string(asked.Params), `"sessionId":"ralph-k"`) {
		t.Errorf("%s", asked.Params)
	}
}

// A session that is closed says and asks nothing more of a loop that goes on, and its client's answers count for nothing.
func TestAClosedSessionIsQuiet(t *testing.T) {
	k := begin(t, withLoop(), &Agent{})
	load := func() *looptest.Loop {
		t.Helper()
		before := k.loops.Loop("ralph-k")
		k.ask("session/load", `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`)
		k.answer()
		k.commanded("join", "past")
		for k.loops.Loop("ralph-k") == before {
			k.ask("session/nope", `{}`)
			k.answer()
		}
		return k.loops.Loop("ralph-k")
	}
	first := load()
	first.Ask(aQuestion)
	asked := k.next("session/request_permission")
	k.ask("session/close", `{"sessionId":"ralph-k"}`)
	k.next("$/cancel_request")
	k.client.Reply(asked.ID, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil)
	if k.answer(); !first.HasLeft() {
		t.Error("its loop is still followed")
	}
	first.Tell(`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Look"}}`)
	if second := load(); second == first || len(first.Answers) > 0 {
		t.Errorf("%d answers", len(first.Answers))
	}
	for len(k.heard) > 0 {
		if m := <-k.heard; strings.Contains(string(m.Params), "Look") {
			t.Errorf("it hears %s", m.Params)
		}
	}
}

// A turn that is to wait for a loop ends although the loop has ended before it could.
func TestALoopThatEndsAsItIsToGoOn(t *testing.T) {
	loops := withLoop()
	k := begin(t, loops, &Agent{})
	k.ask("session/load", `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`)
	k.answer()
	k.commanded("join", "past")
	k.titled("Ralph 1/5")
	loops.Set(func() {
		loops.Before["ralph.loop.resume"] = func() {
			loops.Loop("ralph-k").Tell(over)
			k.titled("Ralph done")
		}
	})
	k.session = "ralph-k"
	k.prompt("/ralph-resume")
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("%s %v", a.Result, a.Error)
	}
	k.commanded("ralph.loop.resume", "ralph-k")
	k.prompt("/ralph-status") // is about the folder again
	k.commanded("ralph.loop.status", `{"folder":"file:///w/app"}`)
	k.answer()
}

// A session that is loaded once more shows the plan, and asks what is still open, as at first.
func TestALoopThatIsLoadedTwice(t *testing.T) {
	k := begin(t, withLoop(), &Agent{})
	const load = `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`
	k.ask("session/load", load)
	k.answer()
	k.titled("Ralph 1/5")
	k.loops.Loop("ralph-k").Stand(func(s *loop.Status) {
		s.Plan, s.Tasks.Total, s.Tasks.Now, s.Questions = "PLAN.md", 2, "the lexer", []ask.Question{aQuestion}
	})
	asked := k.next("session/request_permission")
	k.ask("session/load", load)
	if got := k.next("$/cancel_request"); !strings.Contains(string(got.Params), string(asked.ID)) {
		t.Errorf("%s", got.Params)
	}
	for m := k.next("session/update"); !strings.Contains(string(m.Params), "the lexer"); m = k.next("session/update") {
	}
	k.next("session/request_permission")
	k.answer()
}

// What a loop still says that gave way to another one isn't how far that is shown.
func TestAWordOfALoopThatGaveWay(t *testing.T) {
	loops := withLoop()
	k := begin(t, loops, &Agent{})
	k.ask("session/load", `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`)
	k.answer()
	k.commanded("join", "past")
	k.session = "ralph-k"
	k.prompt("/ralph-loop Mend it")
	k.commanded("ralph.loop.start", "Mend it")
	for m := k.next("session/update"); !strings.Contains(string(m.Params), "This turn lasts"); m = k.next("session/update") {
	}
	k.told(over)
	k.answer()
	const word = `{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Look"}}`
	loops.Loop("ralph-k").Tell(word, word, word)
	for m := k.next("session/update"); !strings.Contains(string(m.Params), "Look"); m = k.next("session/update") {
	}
	loops.Set(func() { loops.Listed[0].LoopID = "ralph-a" })
	k.prompt("Leave the parser alone")
	k.commanded("join", "c1")
	k.commanded("ralph.loop.steer", "parser")
	k.loops.Loop("ralph-a").Tell(over)
	k.answer()
}

// A client that goes away while a loop begins is waited for: what was made for the loop is to be dropped.
func TestAClientThatGoesAwayDuringAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loops, isOver := refusing("ralph.loop.start", context.Canceled), false
		loops.Before["ralph.loop.start"] = func() { time.Sleep(time.Second); isOver = true }
		a, ended := Agent{Loops: loops}, make(chan error)
		in, client := io.Pipe()
		go func() { ended <- a.Serve(in, io.Discard) }()
		for _, said := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"acp-mr2k-A","cwd":"/w/app"}}`,
			`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"acp-mr2k-A","prompt":[{"type":"text","text":"Mend it"}]}}`,
		} {
			_, _ = io.WriteString(client, said+"\n")
			synctest.Wait()
		}
		_ = client.Close()
		if err := <-ended; err != nil || !isOver {
			t.Errorf("%v, over: %t", err, isOver)
		}
	})
}

// A loop that gives way to another one ends no turn but its own.
func TestALoopThatGivesWay(t *testing.T) {
	loops := withLoop()
	loops.Errors["ralph.loop.start"] = &wire.Failure{Reason: wire.ReasonAlreadyRunning, Err: errors.New("a loop is running")}
	k := begin(t, loops, &Agent{})
	k.ask("session/load", `{"sessionId":"ralph-k","cwd":"/w/app","mcpServers":[]}`)
	k.answer()
	k.commanded("join", "past")
	k.session = "ralph-k"
	k.prompt("/ralph-loop Mend it")
	k.commanded("ralph.loop.start", "Mend it")
	asked := k.next("session/request_permission")
	loops.Set(func() {
		delete(loops.Errors, "ralph.loop.start")
		loops.Before["ralph.loop.start"] = func() {
			loops.Loop("ralph-k").Tell(strings.Replace(over, "promise", "cancelled", 1))
			k.titled("Ralph cancelled")
		}
	})
	k.client.Reply(asked.ID, map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "1"}}, nil)
	k.commanded("ralph.loop.start", `"replace":true`)
	k.prompt("Leave the parser alone")
	k.commanded("ralph.loop.steer", `"loopId":"ralph-a"`)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` { // of the word
		t.Errorf("%s", a.Result)
	}
	k.told(over)
	if a := k.answer(); string(a.Result) != `{"stopReason":"end_turn"}` {
		t.Errorf("the turn ends with %s %v", a.Result, a.Error)
	}
}

// A client's stop while it is asked how to start is no error.
func TestAStopWhileAStartIsAsked(t *testing.T) {
	k := begin(t, refusing("ralph.loop.start", &wire.Failure{Reason: wire.ReasonInterrupted, Err: errors.New("there is a loop")}), &Agent{})
	k.prompt("Mend it")
	asked := receive(t, k.heard)
	k.client.Notify("session/cancel", map[string]any{"sessionId": k.session})
	k.client.Reply(asked.ID, map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil)
	if a := k.answer(); string(a.Result) != `{"stopReason":"cancelled"}` {
		t.Errorf("%s %v", a.Result, a.Error)
	}
}

// The folder's hats are modes, and a setting of the same meaning. One follows the other.
func TestModes(t *testing.T) {
	loops := refusing("ralph.loop.start", errors.New("no"))
	loops.Roles.Hats = []answers.HatInfo{{Name: "planner", Text: "plans"}, {Name: "builder"}}
	k := begin(t, loops, &Agent{})
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
	words := ask.Question{ID: "q1", Kind: ask.Input, Title: "Which name?", Placeholder: "NAME"}
	several := ask.Question{ID: "q1", Kind: ask.Select, CallID: "c1", Title: "Which?", Detail: "more", Options: []string{"a", "b"}}
	const named = `{"answer":{"description":"NAME","title":"Which name?","type":"string"}}`
	for name, tt := range map[string]struct {
		question       ask.Question
		schema, answer string
		want           ask.Answer
	}{
		"words":          {words, named, `{"action":"accept","content":{"answer":"Ada"}}`, ask.Answer{Kind: ask.Value, Text: "Ada"}},
		"one of several": {several, `{"answer":{"enum":["a","b"],"title":"Which?","type":"string"}}`, `{"action":"accept","content":{"answer":"b"}}`, ask.Answer{Kind: ask.Value, Text: "b"}},
		"put away":       {words, named, `{"action":"cancel"}`, ask.Answer{Kind: ask.Deny}},
		"broken":         {words, named, `[]`, ask.Answer{Kind: ask.Deny}},
	} {
		t.Run(name, func(t *testing.T) {
			k := running(t, &Agent{})
			k.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}`)
			k.answer()
			asked := k.asks(tt.question)
			if !strings.Contains(string(asked.Params), `"properties":`+tt.schema) {
				t.Errorf("%s %s", asked.Method, asked.Params)
			}
			k.client.Reply(asked.ID, json.RawMessage(tt.answer), nil)
			if got := receive(t, k.loops.Loop("ralph-a").Answers); got.Kind != tt.want.Kind || got.Text != tt.want.Text {
				t.Errorf("it is answered with %v, not %v", got, tt.want)
			}
		})
	}
}

// A question that the client can't ask stays open, and its user is told where to answer it.
func TestAQuestionForWordsWithoutForms(t *testing.T) {
	k := running(t, &Agent{})
	it := k.loops.Loop("ralph-a")
	it.Ask(ask.Question{ID: "q1", Kind: ask.Input, Title: "Which name?"})
	if got := k.hears("agent_message_chunk"); !strings.Contains(got, "Which name?") || len(it.Answers) > 0 {
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
		"/ralph-help":                 `ralph.help {"folder":"file:///w/app"}`,
		"/cancel-ralph":               `ralph.loop.cancel {"folder":"file:///w/app"}`,
		"/ralph-land fix --squash":    `ralph.loop.land {"folder":"file:///w/app","text":"fix --squash"}`,
	} {
		k := begin(t, looptest.New(), &Agent{})
		k.prompt(typed)
		if got := receive(t, k.loops.Asked); got != want {
			t.Errorf("%s: %s, not %s", typed, got, want)
		}
		k.answer()
	}
}

// A terminal is offered for looking at agents only to a client that has one.
func TestWhatIsOfferedForALogin(t *testing.T) {
	k := begin(t, looptest.New(), &Agent{})
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
	k.told(over)
	k.answer()
	k.client.Notify("session/cancel", map[string]any{"sessionId": k.session})
	k.ask("session/nope", `{}`)
	k.answer()
	if len(k.loops.Asked) > 0 {
		t.Errorf("it commands %v", <-k.loops.Asked)
	}
}
