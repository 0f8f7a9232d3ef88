package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// wire is the JSON line that an editor would get.
func TestAgentEventsOnTheWire(t *testing.T) {
	tests := []struct {
		name string
		in   stream.Event
		want string
	}{
		{"text", stream.Text{Delta: "hi", MessageID: "m1"},
			`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"hi"}}`},
		{"text with a colour code", stream.Text{Delta: "\x1b[31mred\x1b[0m"},
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"red"}}`},
		{"thinking of a subagent", stream.Thinking{Delta: "hm", MessageID: "m2", ParentToolCallID: "t9"},
			`{"sessionUpdate":"agent_thought_chunk","messageId":"m2","parentToolCallId":"t9","content":{"type":"text","text":"hm"}}`},
		{"a message that was shown already", stream.MessageEnd{MessageID: "m1", Text: "hi"}, ""},
		{"a message taken back", stream.MessageEnd{MessageID: "m1", Discarded: true},
			`{"sessionUpdate":"_ralph/discard","messageId":"m1","text":"the attempt failed; its text above doesn't count","class":"warning"}`},
		{"tool call", stream.ToolCall{ID: "t1", Name: "bash", Input: json.RawMessage(`{"command":"go test ./..."}`)},
			`{"sessionUpdate":"tool_call","toolCallId":"t1","name":"bash","title":"go test ./...","kind":"execute","status":"in_progress","rawInput":{"command":"go test ./..."}}`},
		{"tool progress", stream.ToolProgress{ID: "t1", Output: "ok a"},
			`{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"ok a"}}]}`},
		{"tool result", stream.ToolResult{ID: "t1", Output: "ok"},
			`{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}}]}`},
		{"failed tool without output", stream.ToolResult{ID: "t1", IsError: true},
			`{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"failed"}`},
		{"usage, cost unknown", stream.Usage{Context: 6550, ContextSize: 200000},
			`{"sessionUpdate":"usage_update","used":6550,"size":200000}`},
		{"usage that is known to be free", stream.Usage{Cost: stream.USD(0)},
			`{"sessionUpdate":"usage_update","cost":{"amount":0,"currency":"USD"}}`},
		{"usage that says nothing", stream.Usage{}, ""},
		{"retry", stream.Retry{Attempt: 1, MaxAttempts: 3, Delay: stream.Duration(2 * time.Second), Kind: stream.KindOverloaded, Message: "529"},
			`{"sessionUpdate":"_ralph/retry","attempt":1,"maxAttempts":3,"delayMs":2000,"reason":"overloaded","message":"529","text":"the agent tries again in 2s (attempt 1/3) · 529","class":"warning"}`},
		{"compaction", stream.Compaction{Reason: "threshold", Done: true},
			`{"sessionUpdate":"_ralph/compaction","done":true,"reason":"threshold","text":"the agent has summarised its context","class":"info"}`},
		{"error", stream.Error{Message: "403 no", Kind: stream.KindAuth},
			`{"sessionUpdate":"_ralph/error","message":"403 no","retryable":false,"kind":"authentication","text":"403 no","class":"error"}`},
		{"session", stream.SessionStart{Backend: "pi", Model: "m"},
			`{"sessionUpdate":"_ralph/session","backend":"pi","model":"m","text":"pi · m","class":"info"}`},
		{"quota is part of the status", stream.Quota{Window: "five_hour"}, ""},
		{"turn end is in the usage", stream.TurnEnd{StopReason: "stop"}, ""},
		{"complete comes as the iteration's end", stream.Complete{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Projector
			update := p.Event(tt.in)
			if tt.want == "" {
				if update != nil {
					t.Fatalf("got %s, want nothing", string(lsptest.JSON(update)))
				}
				return
			}
			if got := string(lsptest.JSON(update)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLoopEventsOnTheWire(t *testing.T) {
	tests := []struct {
		name string
		in   loop.Event
		want string
	}{
		{"iteration begins", loop.IterationStart{Iteration: 3, MaxIterations: 50},
			`{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":3,"maxIterations":50,"facts":"of 50","text":"iteration 3 of 50","class":"info"}`},
		{"iteration of an unlimited loop", loop.IterationStart{Iteration: 3},
			`{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":3,"text":"iteration 3","class":"info"}`},
		{"iteration ends", loop.IterationEnd{Iteration: 3, Outcome: loop.OutcomeOK, Duration: stream.Duration(time.Minute), Cost: stream.USD(0.31), Turns: 4},
			`{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":3,"outcome":"ok","costUsd":0.31,"turns":4,"toolCalls":0,"durationMs":60000,"facts":"ok · $0.31 · 4 turns · 1m00s","text":"ok · $0.31 · 4 turns · 1m00s","class":"ok"}`},
		{"topic", loop.Published{Topic: "build.done", Payload: "tests: pass"},
			`{"sessionUpdate":"_ralph/topic","topic":"build.done","payload":"tests: pass","text":"build.done: tests: pass","class":"info"}`},
		{"iteration under a hat begins", loop.IterationStart{Iteration: 3, Hat: "builder", Topic: "plan.ready from planner"},
			`{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":3,"hat":"builder","topic":"plan.ready from planner","facts":"builder, called by plan.ready from planner","text":"iteration 3 · builder, called by plan.ready from planner","class":"info"}`},
		{"iteration has a task", loop.IterationStart{Iteration: 3, MaxIterations: 9, Task: "Read\nstrings"},
			`{"sessionUpdate":"_ralph/iteration","phase":"begin","iteration":3,"maxIterations":9,"task":"Read strings","facts":"of 9 · Read strings","text":"iteration 3 of 9 · Read strings","class":"info"}`},
		{"iteration under a hat ends", loop.IterationEnd{Iteration: 3, Hat: "builder", Outcome: loop.OutcomeOK, Cost: stream.USD(0.31), Turns: 4},
			`{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":3,"hat":"builder","outcome":"ok","costUsd":0.31,"turns":4,"toolCalls":0,"durationMs":0,"facts":"ok · $0.31 · 4 turns","text":"builder · ok · $0.31 · 4 turns","class":"ok"}`},
		{"iteration fails, cost unknown", loop.IterationEnd{Iteration: 1, Outcome: loop.OutcomeError, Error: "403", Skipped: 2},
			`{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":1,"outcome":"error","error":"403","turns":0,"toolCalls":0,"durationMs":0,"skippedLines":2,"facts":"error: 403 · cost unknown · 2 broken lines skipped","text":"error: 403 · cost unknown · 2 broken lines skipped","class":"warning"}`},
		{"waiting", loop.StateChanged{State: loop.StateWaiting, ResumeAt: noon, Reason: "rate_limit"},
			`{"sessionUpdate":"_ralph/state","state":"waiting","resumeAt":"2026-01-02T12:00:00Z","reason":"rate_limit","text":"waiting (rate limit) for 1s","class":"warning"}`},
		{"first snapshot takes long", loop.StateChanged{State: loop.StateRunning, Reason: loop.ReasonSurvey},
			`{"sessionUpdate":"_ralph/state","state":"running","reason":"survey","text":"all files are looked at before the first run, so that what it changes can be undone; a cancel ends that at once","class":"info"}`},
		{"running", loop.StateChanged{State: loop.StateRunning},
			`{"sessionUpdate":"_ralph/state","state":"running"}`},
		{"near miss", loop.NearMiss{Found: "ALMOST", Expected: "DONE", Why: "another text"},
			`{"sessionUpdate":"_ralph/promise","matched":false,"found":"ALMOST","expected":"DONE","message":"another text","text":"not done yet: another text","class":"warning","notify":true}`},
		{"warning that names our docs", loop.Warning{Message: "it can't be told (see docs/BACKENDS.md); a sandbox helps (said once, see docs/SANDBOX.md)"},
			`{"sessionUpdate":"_ralph/warning","message":"it can't be told (see docs/BACKENDS.md); a sandbox helps (said once, see docs/SANDBOX.md)","text":"it can't be told; a sandbox helps (said once)","class":"warning","notify":true}`},
		{"guidance", loop.SteeringMessage{ID: "g1", State: loop.SteeringQueued},
			`{"sessionUpdate":"_ralph/guidance","guidanceId":"g1","state":"queued","text":"guidance for the next run","class":"info"}`},
		{"warning", loop.Warning{Message: "80 % of the cost limit is spent"},
			`{"sessionUpdate":"_ralph/warning","message":"80 % of the cost limit is spent","text":"80 % of the cost limit is spent","class":"warning","notify":true}`},
		{"limits", loop.LimitsChanged{Limits: loop.Limits{MaxIterations: 9, MaxDuration: time.Hour}, Promise: "DONE"},
			`{"sessionUpdate":"_ralph/limits","maxIterations":9,"maxDurationMs":3600000,"completionPromise":"DONE","text":"limits changed: 9 iterations · 1h of running · promise DONE","class":"info"}`},
		{"end", loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 7, Cost: stream.USD(3.1), Duration: stream.Duration(12 * time.Minute)},
			`{"sessionUpdate":"_ralph/end","stopReason":"promise","promise":"DONE","iterations":7,"costUsd":3.1,"durationMs":720000,"text":"done: DONE after 7 iterations · $3.10 · 12m00s · nothing verified this","class":"ok","notify":true}`},
		{"end by denials", loop.End{Reason: loop.StopPermissionDenied, Iterations: 2, Denials: []stream.Denial{{Tool: "Bash", Detail: "rm -rf x"}}},
			`{"sessionUpdate":"_ralph/end","stopReason":"permission_denied","iterations":2,"durationMs":0,"denials":[{"tool":"Bash","detail":"rm -rf x"}],"text":"failed after 2 iterations: the agent was refused permission · cost unknown · 0s · refused: Bash rm -rf x","class":"error","notify":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Projector
			if got := string(lsptest.JSON(p.Loop(tt.in))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCostAddsUpOverIterations(t *testing.T) {
	var p Projector
	p.Event(stream.Usage{Cost: stream.USD(0.25)})
	p.Loop(loop.IterationEnd{Cost: stream.USD(0.5)})
	if got, want := string(lsptest.JSON(p.Event(stream.Usage{Cost: stream.USD(0.25)}))), `{"sessionUpdate":"usage_update","cost":{"amount":0.75,"currency":"USD"}}`; got != want {
		t.Errorf("in the second iteration: got %s, want %s", got, want)
	}
	if again := p.Event(stream.Usage{Cost: stream.USD(0.25)}); again != nil {
		t.Errorf("the same usage again: got %s, want nothing", string(lsptest.JSON(again)))
	}
}

func TestToolCalls(t *testing.T) {
	long := strings.Repeat("é", 200)
	tests := []struct {
		tool, input string
		kind        ToolKind
		title       string
		locations   []Location
	}{
		{"bash", `{"command":"make\n  test"}`, ToolExecute, "make test", nil},
		{"Bash", `{"command":"ls","description":"List"}`, ToolExecute, "ls", nil},
		{"read", `{"path":"a.txt","offset":12}`, ToolRead, "a.txt", []Location{{"a.txt", 12}}},
		{"Read", `{"file_path":"/w/a.go"}`, ToolRead, "/w/a.go", []Location{{"/w/a.go", 0}}},
		{"write", `{"path":"b","content":"x"}`, ToolEdit, "b", []Location{{"b", 0}}},
		{"NotebookEdit", `{"notebook_path":"n.ipynb"}`, ToolEdit, "n.ipynb", []Location{{"n.ipynb", 0}}},
		{"Grep", `{"pattern":"func main","path":"cmd"}`, ToolSearch, "func main", []Location{{"cmd", 0}}},
		{"find", `{"pattern":"*.go"}`, ToolSearch, "*.go", nil},
		{"ls", `{"path":"."}`, ToolSearch, ".", []Location{{".", 0}}},
		{"WebFetch", `{"url":"https://example.org","prompt":"read"}`, ToolFetch, "https://example.org", nil},
		{"WebSearch", `{"query":"go 1.26"}`, ToolFetch, "go 1.26", nil},
		{"Task", `{"description":"look around","prompt":"..."}`, ToolThink, "Task: look around", nil},
		{"mcp__db__query", `{"sql":"select 1"}`, ToolOther, "mcp__db__query", nil},
		{"bash", ``, ToolExecute, "bash", nil},
		{"bash", `{"command":["ls","-l"],"path":"x"}`, ToolExecute, "x", []Location{{"x", 0}}},
		{"bash", `"just text"`, ToolExecute, "bash", nil},
		{"bash", `{"command":"` + long + `"}`, ToolExecute, strings.Repeat("é", 119) + "…", nil},
		{"bash", `{"command":"echo \u001b[31mred"}`, ToolExecute, "echo red", nil},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" "+tt.title, func(t *testing.T) {
			got := ToolCallOf(stream.ToolCall{ID: "t", Name: tt.tool, Input: json.RawMessage(tt.input)})
			if got.Kind != tt.kind || got.Title != tt.title {
				t.Errorf("got %s %q, want %s %q", got.Kind, got.Title, tt.kind, tt.title)
			}
			if string(lsptest.JSON(got.Locations)) != string(lsptest.JSON(tt.locations)) {
				t.Errorf("locations: got %v, want %v", got.Locations, tt.locations)
			}
		})
	}
}

func TestRecordedStreamEndsWithItsResult(t *testing.T) {
	ok := stream.Result{Text: "All done.", Turns: 2, Usage: stream.Usage{Cost: stream.USD(0.5), Tokens: stream.Tokens{Input: 3}}}
	failed := stream.Result{Failure: &stream.Error{Message: "403"}}
	aborted := stream.Result{Failure: &stream.Error{Message: "stopped", Kind: stream.KindAborted}, SkippedLines: 1}
	tests := []struct {
		name string
		in   stream.Result
		want string
	}{
		{"ended well", ok, `{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":1,"outcome":"ok","costUsd":0.5,"turns":2,"toolCalls":0,"tokens":{"input":3,"output":0,"cacheRead":0,"cacheWrite":0},"lastMessage":"All done.","skippedLines":0,"text":"ok · $0.50 · 2 turns","class":"ok"}`},
		{"failed, cost unknown", failed, `{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":1,"outcome":"error","error":"403","turns":0,"toolCalls":0,"tokens":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"lastMessage":"","skippedLines":0,"text":"error: 403 · cost unknown","class":"warning"}`},
		{"aborted", aborted, `{"sessionUpdate":"_ralph/iteration","phase":"end","iteration":1,"outcome":"cancelled","error":"stopped","turns":0,"toolCalls":0,"tokens":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"lastMessage":"","skippedLines":1,"text":"cancelled: stopped · cost unknown · 1 broken line skipped","class":"info"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(lsptest.JSON(ResultOf(tt.in))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestStatusOnTheWire(t *testing.T) {
	full := loop.Status{
		LoopID: "l1", Folder: "/w/my app", State: loop.StateRunning, Iteration: 3,
		Limits: loop.Limits{MaxIterations: 50, MaxCostUSD: 10, MaxDuration: time.Hour}, Times: loop.Times{StartedAt: noon, IterationStartedAt: noon},
		Usage:   loop.Usage{Spent: time.Minute, Elapsed: 2 * time.Minute, Cost: stream.USD(1.5), IterationCost: stream.USD(0.5), Tokens: stream.Tokens{Input: 1}, Context: 60000, ContextSize: 200000, Quota: []stream.Quota{{Window: "five_hour", Utilization: 0.5}}},
		Session: stream.SessionStart{Backend: "pi", Model: "m"},
		Work:    loop.Work{Tool: &loop.ToolStatus{Call: stream.ToolCall{ID: "t1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)}, StartedAt: noon}, Retry: &loop.RetryStatus{Attempt: 2, Reason: "rate_limit"}}, StateFile: "/w/my app/.pi/ralph-loop.local.md",
	}
	tests := []struct {
		name  string
		in    loop.Status
		owned bool
		want  string
	}{
		{"all of it", full, true, `{"loopId":"l1","folder":"file:///w/my%20app","title":"my app","state":"running","text":"3/50 · $1.50","line":"3/50 · $1.50 · waiting (rate limit)",` +
			`"class":"info","question":"Ralph loop active. Cancel it to start the new task?","live":true,"busy":true,"can":["cancel","pause","next","steer","update","detach","open"],"costText":"$1.50 of $10.00","limitTexts":["50 iterations","$10.00","1h of running"],` +
			`"details":[{"label":"Agent","text":"pi · m"},{"label":"Cost","text":"$1.50 of $10.00"},{"label":"Limits","text":"50 iterations · $10.00 · 1h of running"},{"label":"Work","text":"2m00s of 1h"},` +
			`{"label":"Tokens","text":"1 in, 0 out, 0 cached"},{"label":"Context","text":"60.0k of 200.0k"},{"label":"Quota","text":"five hour 50 %"}],"iteration":3,"maxIterations":50,` +
			`"startedAt":"2026-01-02T12:00:00Z","iterationStartedAt":"2026-01-02T12:00:00Z","backend":{"name":"pi","model":"m"},` +
			`"cost":{"amount":1.5,"currency":"USD","limit":10,"iteration":0.5,"estimated":false},"time":{"spentMs":60000,"limitMs":3600000},` +
			`"tokens":{"input":1,"output":0,"cacheRead":0,"cacheWrite":0},"context":{"used":60000,"size":200000},` +
			`"quota":[{"window":"five_hour","utilization":0.5}],` +
			`"tool":{"toolCallId":"t1","name":"bash","title":"ls","kind":"execute","startedAt":"2026-01-02T12:00:00Z"},` +
			`"retry":{"attempt":2,"reason":"rate_limit","text":"rate limit"},"owned":true,"stateFileUri":"file:///w/my%20app/.pi/ralph-loop.local.md"}`},
		{"what isn't known is left out", loop.Status{Folder: "/w", State: "idle"}, false,
			`{"folder":"file:///w","title":"w","state":"idle","class":"info","live":false,"busy":false,"can":["start"],"owned":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(lsptest.JSON(StatusOf(tt.in, tt.owned))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFileURI(t *testing.T) {
	for path, want := range map[string]string{
		"/w/a b/ü.md": "file:///w/a%20b/%C3%BC.md",
		"/w/100%/x#y": "file:///w/100%25/x%23y",
		"C:/Users/me": "file:///C:/Users/me",
		"/":           "file:///",
	} {
		if got := FileURI(path); got != want {
			t.Errorf("FileURI(%q) = %q, want %q", path, got, want)
		}
	}
}

// Where an agent names files by their whole path, the title still shows which.
func TestTheTitleOfACallEndsWithItsFile(t *testing.T) {
	for input, want := range map[string]string{
		`{"file_path":"/home/me/projects/app/src/calc.py"}`: "…/app/src/calc.py",
		`{"file_path":"/w/app/src/deep/down/calc.py"}`:      "src/deep/down/calc.py",
		`{"file_path":"/w/app/calc.py"}`:                    "calc.py",
		`{"file_path":"/w/app"}`:                            "/w/app",
		`{"file_path":"/w/app2/src/calc.py"}`:               "…/app2/src/calc.py",
		`{"file_path":"/src/app/calc.py"}`:                  "/src/app/calc.py",
		`{"path":"src/deep/down/here/calc.py"}`:             "src/deep/down/here/calc.py",
		`{"command":"cat /a/b/c/d/e","path":"/a/b/c/d/e"}`:  "cat /a/b/c/d/e",
		`{"pattern":"x","path":"/a/b/c/d/e"}`:               "x",
		`{"url":"http://a/b/c/d/e"}`:                        "http://a/b/c/d/e",
	} {
		call := ToolCallOf(stream.ToolCall{ID: "t", Name: "Edit", Input: json.RawMessage(input), Dir: "/w/app"})
		if call.Title != want {
			t.Errorf("%s: %q, want %q", input, call.Title, want)
		}
	}
}

func TestWhoWorksIsInTheTitle(t *testing.T) {
	for _, c := range []struct{ tool, input, title string }{
		{"step", `{"agent":"scout","task":"Find the\nparser","step":1,"of":3}`, "scout 1/3: Find the parser"},
		{"step", `{"agent":"scout","task":"","step":1,"of":3}`, "scout 1/3"},
		{"step", `{"agent":"scout","task":"Find it","step":1,"of":1}`, "scout: Find it"},
		{"subagent", `{"agent":"scout","task":"Find the parser"}`, "scout: Find the parser"},
		{"subagent", `{"tasks":[{"agent":"scout","task":"a"},{"agent":"planner","task":"b"}]}`, "2 agents: scout, planner"},
		{"subagent", `{"chain":[{"agent":"scout","task":"a"},{"agent":"planner","task":"b"}]}`, "2 agents in a row: scout, planner"},
		{"Agent", `{"description":"Find the parser","prompt":"..."}`, "Agent: Find the parser"},
		{"Agent", `{"description":"\u001b[2Jlook","subagent_type":"Explore\u202e"}`, "Explore: look"},
		{"Agent", `{"description":"\u001b[2J","subagent_type":"Explore"}`, "Explore"},
		{"Agent", `{}`, "Agent"},
		{"review", `{"description":"critic"}`, "critic: review"},
	} {
		call := stream.ToolCall{ID: "t1", Name: c.tool, Input: json.RawMessage(c.input)}
		got := ToolCallOf(call)
		if got.Title != c.title || got.Kind != ToolThink || got.Subagent == nil || CallTitle(call) != c.title {
			t.Errorf("%s %s: got %q, %+v", c.tool, c.input, got.Title, got)
		}
	}
}

func TestWhatAnAgentSpentIsTold(t *testing.T) {
	var p Projector
	got := p.Event(stream.ToolResult{ID: "t1", Spent: stream.Spent{Tokens: 8100, Duration: stream.Duration(12 * time.Second)}}).(ToolCallUpdate)
	if got.Facts != "12s · 8.1k tokens" || got.Spent.Cost.Known {
		t.Errorf("got %q, %+v", got.Facts, got.Spent)
	}
	if got := p.Event(stream.ToolResult{ID: "t1"}).(ToolCallUpdate); got.Facts != "" || got.Spent != (stream.Spent{}) {
		t.Errorf("got %q, %+v", got.Facts, got.Spent)
	}
}

func TestTheStatusSaysWhoIsAtWork(t *testing.T) {
	call := func(id, parent, tool, input string) loop.ToolStatus {
		return loop.ToolStatus{Call: stream.ToolCall{ID: id, ParentToolCallID: parent, Name: tool, Input: json.RawMessage(input)}}
	}
	step := call("s1", "", "step", `{"agent":"scout","task":"Find it","step":1,"of":3}`)
	other := call("s2", "", "step", `{"agent":"scout","task":"Test it","step":1,"of":3}`)
	nested := call("s1/t1", "s1", "Agent", `{"subagent_type":"Explore","description":"look"}`)
	list := call("p1", "", "subagent", `{"tasks":[{"agent":"scout"},{"agent":"scout"},{"agent":"planner"}]}`)
	item := call("p1/1", "p1", "step", `{"agent":"scout","task":"a"}`)
	bash := call("s1/t2", "s1", "bash", `{"command":"ls"}`)
	for name, c := range map[string]struct {
		agents loop.AtWork
		tool   *loop.ToolStatus
		want   string
	}{
		"a step that begins":          {loop.AtWork{step}, &step, "scout 1/3: Find it"},
		"a step that thinks":          {loop.AtWork{step}, nil, "scout 1/3"},
		"its tool":                    {loop.AtWork{step}, &bash, "scout 1/3 · bash ls"},
		"an agent of its own":         {loop.AtWork{step, nested}, nil, "scout 1/3"},
		"two at once":                 {loop.AtWork{step, other}, &other, "2 agents · scout 1/3: Test it"},
		"a list of which nobody told": {loop.AtWork{list}, nil, "3 agents"},
		"a list with one at work":     {loop.AtWork{list, item}, nil, "scout"},
		"nobody":                      {nil, &bash, "bash ls"},
	} {
		if got := Activity(loop.Status{State: loop.StateRunning, Work: loop.Work{Agents: c.agents, Tool: c.tool}}, nil, time.Time{}); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
