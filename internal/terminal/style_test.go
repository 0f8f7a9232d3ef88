package terminal

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// step is one event of a recorded loop, and when it came after the one before.
type step struct {
	after time.Duration
	agent stream.Event
	own   loop.Event
}

func bash(id, command string) stream.ToolCall {
	input, _ := json.Marshal(map[string]string{"command": command})
	return stream.ToolCall{ID: id, Name: "bash", Input: input}
}

// recordedLoop has one of everything that a style can be asked to show.
var recordedLoop = []step{
	{own: loop.StateChanged{State: loop.StateRunning}},
	{own: loop.Warning{Message: "the agent doesn't tell what it costs: the cost limit can't be enforced"}},
	{own: loop.IterationStart{Iteration: 1, MaxIterations: 50}},
	{own: loop.Goal{Promise: "DONE", From: "prompt"}},
	{agent: stream.SessionStart{Backend: "pi", Provider: "demo", Model: "scripted"}},
	{agent: stream.Thinking{Delta: "The tests come first.\n", MessageID: "m1"}},
	{agent: stream.Text{Delta: "I run the **tests** with `go", MessageID: "m1"}},
	{agent: stream.Text{Delta: " test`.\n\n1. build\n2. te", MessageID: "m1"}},
	{agent: stream.Text{Delta: "st\n", MessageID: "m1"}},
	{agent: stream.MessageEnd{MessageID: "m1", Text: "..."}},
	{agent: bash("t1", "go test ./...\n  -race")},
	{after: 1200 * time.Millisecond, agent: stream.ToolProgress{ID: "t1", Output: "ok a"}},
	{after: time.Second, agent: stream.ToolResult{ID: "t1", Output: "ok a\nok b\n"}},
	{agent: stream.ToolCall{ID: "t2", Name: "read", Input: json.RawMessage(`{"path":"a.go"}`)}},
	{agent: bash("t3", "false")},
	{after: time.Second, agent: stream.ToolResult{ID: "t2", Output: "package a\n"}},
	{after: 3 * time.Second, agent: stream.ToolResult{ID: "t3", Output: "1\n2\n3\n\n4\n5\n6\n7\x1b[31m red\n", IsError: true}},
	{agent: stream.Text{Delta: "This att", MessageID: "m2"}},
	{agent: stream.MessageEnd{MessageID: "m2", Discarded: true}},
	{agent: stream.Error{Message: "529 overloaded", Kind: stream.KindOverloaded}},
	{agent: stream.Retry{Attempt: 1, MaxAttempts: 3, Delay: stream.Duration(2 * time.Second), Message: "529 overloaded"}},
	{agent: stream.Text{Delta: "A subagent speaks.", MessageID: "s1", ParentToolCallID: "t9"}},
	{agent: stream.MessageEnd{MessageID: "s1", ParentToolCallID: "t9"}},
	{agent: stream.Compaction{}},
	{agent: stream.Compaction{Done: true}},
	{agent: stream.Text{Delta: "```sh\nrm -rf build\n\nmake\n```\nEvil: \x1b]0;owned\x07 \x1b[2J end.\n\n<promise>ALMOST</promise>", MessageID: "m3"}},
	{agent: stream.MessageEnd{MessageID: "m3"}},
	{agent: stream.Usage{Context: 6500, Cost: stream.USD(0.31)}},
	{own: loop.NearMiss{Found: "ALMOST", Expected: "DONE", Why: "the tag holds ALMOST, not DONE"}},
	{own: loop.NearMiss{Found: "ALL DONE", Why: "The agent wrote <promise>ALL DONE</promise>, but this loop has no promise, so that doesn't end it.",
		Offer: loop.Offer{LoopID: "ralph-1", Folder: "/w/a b", Promises: []string{"ALL DONE", "it's", "X-1"}}}},
	{after: 54 * time.Second, own: loop.IterationEnd{Iteration: 1, Outcome: loop.OutcomeOK, Duration: stream.Duration(61 * time.Second), Cost: stream.USD(0.31), Turns: 4, ToolCalls: 3, Skipped: 1}},
	{own: loop.SteeringMessage{ID: "g1", Text: "leave the parser", State: loop.SteeringQueued}},
	{own: loop.LimitsChanged{Limits: loop.Limits{MaxIterations: 60, MaxCostUSD: 2}, Promise: "DONE"}},
	{own: loop.StateChanged{State: loop.StateWaiting, Reason: "rate_limit", ResumeAt: begun.Add(10 * time.Minute)}},
	{after: 9 * time.Minute, own: loop.StateChanged{State: loop.StateRunning}},
	{own: loop.IterationStart{Iteration: 2, MaxIterations: 60}},
	{own: loop.SteeringMessage{ID: "g1", Text: "leave the parser", State: loop.SteeringDelivered}},
	{own: loop.Verify{Gate: verify.CommandGate, State: verify.Running, Command: "go test ./..."}},
	{own: loop.Verify{Gate: verify.CommandGate, State: verify.Running, Command: "go test ./...", Output: "ok  \tshop/b"}},
	{own: loop.Verify{Gate: verify.CommandGate, State: verify.Refuted, Command: "go test ./...", Promised: true, Why: "failed (exit 1): TestParse", ExitCode: new(1), Duration: stream.Duration(3 * time.Second), Output: "--- FAIL: TestParse (0.00s)\n    parse_test.go:9: got 3\nFAIL"}},
	{after: time.Second, own: loop.IterationEnd{Iteration: 2, Outcome: loop.OutcomeError, Duration: stream.Duration(time.Second), Error: "the agent exited with code 1: no key"}},
	{own: loop.StateChanged{State: loop.StatePaused, Reason: "user"}},
	{own: loop.StateChanged{State: loop.StateRunning}},
	{own: loop.IterationStart{Iteration: 3, MaxIterations: 60}},
	{agent: stream.Text{Delta: "All is right.\n<promise>DONE</promise>\n", MessageID: "m4"}},
	{agent: stream.MessageEnd{MessageID: "m4"}},
	{own: loop.IterationEnd{Iteration: 3, Outcome: loop.OutcomeOK, Duration: stream.Duration(12 * time.Second), Cost: stream.USD(0.004), Turns: 1}},
	{own: loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 3, Cost: stream.USD(0.314), Duration: stream.Duration(74 * time.Second)}},
}

// recordedSteps is an iteration of two steps, of which the second has two agents of one
// name that speak at the same time.
var recordedSteps = []step{
	{own: loop.IterationStart{Iteration: 1, MaxIterations: 50}},
	{agent: stepOf("s1", "scout", "Find the parser", 1)},
	{agent: stream.Text{Delta: "It is in ", MessageID: "s1/m1", ParentToolCallID: "s1"}},
	{agent: stream.Text{Delta: "parse.go.\n", MessageID: "s1/m1", ParentToolCallID: "s1"}},
	{agent: stream.MessageEnd{MessageID: "s1/m1", ParentToolCallID: "s1"}},
	{agent: below("s1", bash("s1/t1", "ls"))},
	{after: time.Second, agent: stream.ToolResult{ID: "s1/t1", Output: "parse.go", ParentToolCallID: "s1"}},
	{after: 11 * time.Second, agent: stream.ToolResult{ID: "s1", Output: "It is in parse.go.", Spent: stream.Spent{Cost: stream.USD(0.0042), Tokens: 8100}}},
	{agent: stepOf("s2", "critic", "Read it", 2)},
	{agent: stepOf("s3", "critic", "Read its tests and all that is named in them", 2)},
	{agent: stream.Text{Delta: "The par", MessageID: "s2/m1", ParentToolCallID: "s2"}},
	{agent: stream.Text{Delta: "No te", MessageID: "s3/m1", ParentToolCallID: "s3"}},
	{agent: stream.Text{Delta: "ser\nis long. LOOP_COMPLETE", MessageID: "s2/m1", ParentToolCallID: "s2"}},
	{agent: below("s3", bash("s3/t1", "go test"))},
	{agent: stream.Text{Delta: "sts?", MessageID: "s3/m2", ParentToolCallID: "s3"}},
	{agent: stream.MessageEnd{MessageID: "s2/m1", ParentToolCallID: "s2"}},
	{agent: below("s2", bash("s2/t1", "wc parse.go"))},
	{after: time.Second, agent: stream.ToolResult{ID: "s3/t1", Output: "FAIL", IsError: true, ParentToolCallID: "s3"}},
	{agent: stream.ToolResult{ID: "s2/t1", Output: "900", ParentToolCallID: "s2"}},
	{agent: stream.ToolResult{ID: "s3", Output: "the provider is overloaded", IsError: true}},
	{agent: stream.Text{Delta: "Alone again.", MessageID: "s2/m2", ParentToolCallID: "s2"}},
	{agent: stream.MessageEnd{MessageID: "s2/m2", ParentToolCallID: "s2"}},
	{after: time.Second, agent: stream.ToolResult{ID: "s2", Output: "long", Spent: stream.Spent{Tokens: 900, Duration: stream.Duration(2 * time.Second)}}},
	{own: loop.IterationEnd{Iteration: 1, Outcome: loop.OutcomeOK, Duration: stream.Duration(15 * time.Second), Turns: 3, ToolCalls: 3}},
}

func stepOf(id, agent, task string, n int) stream.ToolCall {
	input, _ := json.Marshal(map[string]any{"agent": agent, "task": task, "step": n, "of": 2})
	return stream.ToolCall{ID: id, Name: stream.StepTool, Input: input}
}

func below(parent string, call stream.ToolCall) stream.ToolCall {
	call.ParentToolCallID = parent
	return call
}

var begun = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// teller tells a style of events, as the journal of a loop does.
type teller struct {
	Style
	wire.Projector
	encoder   *wire.Encoder
	iteration int
	thinking  bool // is asked for
}

func (t *teller) Handle(e stream.Event) {
	if _, isThought := e.(stream.Thinking); t.thinking || !isThought {
		t.tell(t.Event(e))
	}
}

func (t *teller) HandleLoop(e loop.Event) {
	if begin, ok := e.(loop.IterationStart); ok {
		t.iteration = begin.Iteration
	}
	t.tell(t.Loop(e))
	if end, ok := e.(loop.End); ok {
		t.End(end)
	}
}

func (t *teller) tell(u wire.Update) {
	if t.encoder == nil {
		t.encoder = wire.NewEncoder()
	}
	if u != nil {
		data, _ := t.encoder.Encode(u, false)
		t.Show(journal.Item{JSON: data, Iteration: t.iteration, At: time.Now().Truncate(time.Millisecond)}, true)
	}
}

// play shows the recorded loop in a style, at the time of the recording.
func play(t *testing.T, recorded []step, name string, cfg Config) string {
	var out bytes.Buffer
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(begun))
		cfg.Out, cfg.Notes, cfg.Here = &out, &out, "/w/a b"
		cfg.Width = func() int { return 60 }
		s := teller{Style: New(name, cfg), thinking: cfg.thinking}
		s.Live(func() loop.Status { return loop.Status{LoopID: "ralph-1"} })
		for _, st := range recorded {
			if time.Sleep(st.after); st.agent != nil {
				s.Handle(st.agent)
			} else {
				s.HandleLoop(st.own)
			}
		}
		s.Close()
	})
	return out.String()
}

func TestStyles(t *testing.T) {
	t.Setenv("TZ", "UTC")
	tests := []struct {
		golden, style string
		cfg           Config
	}{
		{"console", Console, Config{}},
		{"console-colour-verbose", Console, Config{Palette: Palette{On: true}, thinking: true}},
		{"pretty", Pretty, Config{}},
		{"pretty-colour-verbose", Pretty, Config{Palette: Palette{On: true}, thinking: true}},
		{"quiet", Quiet, Config{}},
		{"json", JSON, Config{}},
	}
	for _, tt := range tests {
		t.Run(tt.golden, func(t *testing.T) {
			golden(t, tt.golden, play(t, recordedLoop, tt.style, tt.cfg))
			golden(t, "steps-"+tt.golden, play(t, recordedSteps, tt.style, tt.cfg))
		})
	}
}

// golden compares got with a file in testdata/cli/styles, where escape
// characters are written as ␛ so that a reviewer sees them.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("../../testdata/cli/styles", name+".golden")
	got = strings.ReplaceAll(got, "\x1b", "␛")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update and read the diff); got:\n%s", file, got)
	}
}

func TestAgentTextCantControlTheTerminal(t *testing.T) {
	for _, style := range Styles {
		out := play(t, recordedLoop, style, Config{thinking: true})
		if i := strings.IndexAny(out, "\x1b\x07\x00"); i >= 0 {
			t.Errorf("%s: a control character of the agent's came through: %q", style, out[max(0, i-20):i+10])
		}
	}
}

var zero = regexp.MustCompile(`\$0\.00($|[^0-9])`)

func TestUnknownCostIsNeverZero(t *testing.T) {
	for _, style := range Styles {
		if out := play(t, recordedLoop, style, Config{}); zero.MatchString(out) {
			t.Errorf("%s shows an unknown cost as $0.00", style)
		}
	}
}

// What is kept of an end is told as it was told live.
func TestThePastEndOfALimit(t *testing.T) {
	for want, end := range map[string]loop.End{
		"stopped after 5 iterations: iteration limit reached (it is 2) · cost unknown · 0s": {Iterations: 5, Limit: 2},
		"stopped after 5 iterations: iteration limit reached · cost unknown · 0s":           {Iterations: 5, Limit: 5},
		"stopped after 6 iterations: iteration limit reached · cost unknown · 0s":           {Iterations: 6},
	} {
		end.Reason = loop.StopMaxIterations
		if got := wire.EndLine(end); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Every way a loop can end has a line of its own and an exit code.
func TestEnds(t *testing.T) {
	tests := []struct {
		end  loop.End
		line string
		code int
	}{
		{loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 7, Cost: stream.USD(3.1), Duration: stream.Duration(12 * time.Minute)}, "done: DONE after 7 iterations · $3.10 · 12m00s · nothing verified this", 0},
		{loop.End{Reason: loop.StopMaxIterations, Iterations: 1, Limit: 1}, "stopped after 1 iteration: iteration limit reached · cost unknown · 0s", 2},
		{loop.End{Reason: loop.StopMaxIterations, Iterations: 5, Limit: 2}, "stopped after 5 iterations: iteration limit reached (it is 2) · cost unknown · 0s", 2},
		{loop.End{Reason: loop.StopMaxCost, Iterations: 2, Cost: stream.USD(5)}, "stopped after 2 iterations: cost limit reached · $5.00 · 0s", 2},
		{loop.End{Reason: loop.StopMaxTime, Iterations: 2, Duration: stream.Duration(4 * time.Hour)}, "stopped after 2 iterations: time limit reached · cost unknown · 4h00m", 2},
		{loop.End{Reason: loop.StopCancelled, Iterations: 1}, "cancelled after 1 iteration · cost unknown · 0s", 130},
		{loop.End{Reason: loop.StopStateRemoved, Iterations: 1}, "cancelled after 1 iteration: state file removed · cost unknown · 0s", 130},
		{loop.End{Reason: loop.StopInterrupted, Iterations: 1}, "interrupted after 1 iteration · cost unknown · 0s", 130},
		{loop.End{Reason: loop.StopFailures, Iterations: 5}, "failed after 5 iterations: too many failures in a row · cost unknown · 0s", 1},
		{loop.End{Reason: loop.StopPermissionDenied, Iterations: 2}, "failed after 2 iterations: the agent was refused permission · cost unknown · 0s", 1},
		{loop.End{Reason: loop.StopStalled, Iterations: 2}, "failed after 2 iterations: the agent fell silent · cost unknown · 0s", 1},
		{loop.End{Reason: loop.StopBackendError, Iterations: 1}, "failed after 1 iteration: the agent never began to work · cost unknown · 0s", 1},
		{loop.End{Reason: loop.StopBadStateFile, Iterations: 1}, "failed after 1 iteration: the state file can't be used · cost unknown · 0s", 1},
	}
	for _, tt := range tests {
		t.Run(string(tt.end.Reason), func(t *testing.T) {
			if got := wire.EndLine(tt.end); got != tt.line {
				t.Errorf("line: got %q, want %q", got, tt.line)
			}
			if got := ExitCode(tt.end.Reason); got != tt.code {
				t.Errorf("exit code: got %d, want %d", got, tt.code)
			}
			if line := FailureText(tt.end); tt.code == ExitFailed && (line == "" || strings.Contains(line, "\n")) {
				t.Errorf("what stderr says is not one line: %q", line)
			}
		})
	}
}

func TestDeniedToolsAreListed(t *testing.T) {
	got := FailureText(loop.End{Reason: loop.StopPermissionDenied, Denials: []stream.Denial{{Tool: "Bash", Detail: "rm -rf x"}, {Tool: "WebFetch"}}})
	if !strings.Contains(got, "Bash rm -rf x, WebFetch") {
		t.Errorf("got %q", got)
	}
}

// What an agent without a structured stream prints is shown when it comes, as
// it is: there is no end of a message to wait for, and it is no markdown.
func TestPlainTextIsShownLineByLine(t *testing.T) {
	var out bytes.Buffer
	s := teller{Style: newPretty(Config{Out: &out, Width: func() int { return 20 }, Verbatim: true})}
	s.HandleLoop(loop.IterationStart{Iteration: 1})
	head := out.Len()
	for _, step := range []struct{ text, want string }{
		{"ok 1 - test\n", "ok 1 - test\n"},
		{"ok 2 - test\n\n  # indented\n", "ok 2 - test\n\n  # indented\n"}, // joined by the journal
		{"a line that is longer than", ""},                                 // cut by the journal
		{" the terminal\n", "a line that is longer than the terminal\n"},
		{"* no list, \x1b[2J**not bold**\n", "* no list, **not bold**\n"},
	} {
		out.Truncate(head)
		if s.Handle(stream.Text{Delta: step.text, MessageID: "m1"}); out.String()[head:] != step.want {
			t.Errorf("%q is shown as %q", step.text, out.String()[head:])
		}
	}
	out.Truncate(head)
	s.Handle(stream.MessageEnd{MessageID: "m1", Text: "..."})
	if s.HandleLoop(loop.IterationEnd{Iteration: 1, Outcome: loop.OutcomeOK}); !strings.HasPrefix(out.String()[head:], "  ok · ") {
		t.Errorf("the end adds %q", out.String()[head:])
	}
}

// Who speaks at the same time isn't taken for one.
func TestConsoleKeepsSpeakersApart(t *testing.T) {
	var out bytes.Buffer
	s := teller{Style: New(Console, Config{Out: &out})}
	for _, text := range []stream.Text{
		{MessageID: "m1", Delta: "I ask "},
		{MessageID: "m1", Delta: "a subagent."},
		{MessageID: "s1", ParentToolCallID: "t1", Delta: "LOOP_"},
		{MessageID: "s1", ParentToolCallID: "t1", Delta: "COMPLETE\n\n<promise>DONE</promise>"},
		{MessageID: "m2", Delta: "main not done"},
		{MessageID: "m3", Delta: "nor now\n"},
		{MessageID: "m4", Delta: "end"},
	} {
		s.Handle(text)
	}
	s.Close()
	want := "I ask a subagent.\n  ┊ LOOP_COMPLETE\n  ┊ \n  ┊ <promise>DONE</promise>\nmain not done\nnor now\nend\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

// On a terminal the live line turns ten times a second, and the cursor is back
// at the end.
func TestPrettyOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := teller{Style: newPretty(Config{Out: &out, Width: func() int { return 60 }, terminal: true})}
		s.Live(func() loop.Status {
			return loop.Status{State: loop.StateRunning, Iteration: 1, Usage: loop.Usage{Cost: stream.USD(0.5)}}
		})
		time.Sleep(time.Second + time.Millisecond) // of the test's own clock
		s.Handle(bash("t1", "go test ./..."))
		time.Sleep(time.Second)
		s.Close()
		got := out.String()
		if !strings.HasPrefix(got, hideCursor) || !strings.HasSuffix(got, clearLive+showCursor) {
			t.Errorf("the cursor isn't hidden and shown again: %q ... %q", got[:20], got[len(got)-20:])
		}
		if n := strings.Count(got, " Ralph 1 · $0.50 · 0s · working"); n < 20 || n > 23 {
			t.Errorf("drawn %d times in two seconds, want about 21", n)
		}
		if !strings.Contains(got, clearLive+"● bash go test ./...\n") {
			t.Errorf("the tool call isn't above the live line: %q", got)
		}
	})
}

// A panic while drawing must not leave the terminal without its cursor.
func TestCursorComesBackAfterAPanic(t *testing.T) {
	var out bytes.Buffer
	s := newPretty(Config{Out: &out, Width: func() int { return 60 }, terminal: true})
	s.look.(*prettyLook).screen.draw("live")
	func() {
		defer func() { recover() }()
		defer s.Close()
		panic("in an event handler")
	}()
	if !strings.HasSuffix(out.String(), showCursor) {
		t.Errorf("got %q", out.String())
	}
}

// A program that holds the loop is told how it stands: what is new, and at once what it asks.
func TestTheStatusForAProgramThatHoldsTheLoop(t *testing.T) {
	var out bytes.Buffer
	now := loop.Status{LoopID: "ralph-1", Folder: "/w", State: loop.StateRunning, Iteration: 1}
	said := func() (lines int) {
		lines = strings.Count(out.String(), `{"sessionUpdate":"_ralph/status","status":{"loopId":"ralph-1"`)
		out.Reset()
		return lines
	}
	s := teller{Style: newJSONStyle(Config{Out: &out, Notes: io.Discard, Statuses: true, Here: "/w"})}
	s.Look() // before there is a loop
	s.Live(func() loop.Status { return now })
	s.Look()
	if n := said(); n != 1 {
		t.Errorf("first it is said %d times", n)
	}
	s.Look()
	s.HandleLoop(loop.StateChanged{State: loop.StateRunning})
	if n := said(); n != 0 {
		t.Errorf("what isn't new is said %d times", n)
	}
	q := ask.Question{ID: "q1", Kind: ask.Confirm, Title: "Really?"}
	for _, e := range []loop.Event{loop.IterationStart{Iteration: 2}, loop.Asked{Question: q}, loop.Answered{Question: q}, loop.StateChanged{State: loop.StatePaused}} {
		now.Iteration++ // something is new
		s.HandleLoop(e)
		if n := said(); n != 1 {
			t.Errorf("%T: it is said %d times", e, n)
		}
	}
	now.Iteration++
	s.HandleLoop(loop.End{Reason: loop.StopOnce})
	if n := said(); n != 0 {
		t.Errorf("at the end it is said %d times", n)
	}
	others := newJSONStyle(Config{Out: &out, Notes: io.Discard})
	others.Live(func() loop.Status { return now })
	others.Look()
	if n := said(); n != 0 {
		t.Errorf("without such a program it is said %d times", n)
	}
}
