package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// result decodes an answer that must be no error.
func result[T any](c *dialled, m lsptest.Message) T {
	c.t.Helper()
	var v T
	must.OK(c.t, json.Unmarshal(c.Must(m), &v))
	return v
}

// reason is the data.reason of an answer that must be an error.
func reason(t *testing.T, m lsptest.Message) string {
	t.Helper()
	if m.Error == nil {
		t.Fatalf("no error, but %s", m.Result)
	}
	var data struct{ Reason string }
	json.Unmarshal(m.Error.Data, &data)
	return data.Reason
}

func TestALoopFromStartToPromise(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "promises")
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, wire.StartParams{
		Text: `/ralph-loop "Build X" --completion-promise "DONE" --max-iterations=20`, Choices: wire.Choices{Backend: agent}}))
	if started.LoopID == "" || !strings.HasSuffix(started.StateFileURI, ".pi/ralph-loop.local.md") {
		t.Errorf("got %+v", started)
	}
	ended := c.status(dir, inState("ended"))
	if ended.StopReason != "promise" || ended.Iteration != 2 || !ended.Owned {
		t.Errorf("got %+v", ended)
	}
	c.Hears("ralph/update", `"_ralph/end"`)
	c.Until("the progress' end", func(heard []lsptest.Message) bool {
		return slices.ContainsFunc(heard, func(m lsptest.Message) bool {
			return strings.Contains(string(m.Params), "done: DONE after 2 iterations") && m.Method == "$/progress" ||
				m.Method == "$/cancelRequest" // the loop was over before the client had answered that it shows progress
		})
	})
	if updates, _ := readAll(t, c, wire.ReadParams{}); len(updates) < 5 {
		t.Errorf("the log has %d updates", len(updates))
	}
	past := result[answers.HistoryResult](c, c.Command(wire.CommandHistory, answers.HistoryParams{}))
	if len(past.Loops) != 1 || past.Loops[0].StopReason != "promise" {
		t.Errorf("history %+v", past)
	}
	if _, err := os.Stat(filepath.Join(dir, ".pi")); !os.IsNotExist(err) {
		t.Errorf(".pi is left behind: %v", err)
	}
}

func TestRecentPrompts(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	c := dial(t, optedIn, dir, other)
	for _, start := range []struct{ folder, prompt string }{{dir, "Build X"}, {other, "Build Y\nwell"}, {other, "Build X"}} {
		begun := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{"folder": wire.FileURI(start.folder), "prompt": start.prompt, "backend": agentThat(t, "promises"), "completionPromise": "DONE"}))
		c.status(start.folder, func(l wire.LoopStatus) bool { return l.State == "ended" && l.LoopID == begun.LoopID })
	}
	all := result[answers.PromptsResult](c, c.Command(wire.CommandPrompts, struct{}{})).Prompts
	if len(all) != 2 || all[0].Text != "Build X" || all[0].Uses != 2 || all[0].Folder != wire.FileURI(other) || all[1].Text != "Build Y\nwell" || all[1].Title != "Build Y well" || all[1].Uses != 1 {
		t.Errorf("all: %+v", all)
	}
	own := result[answers.PromptsResult](c, c.Command(wire.CommandPrompts, answers.PromptsParams{Folder: wire.FileURI(dir), Limit: 1})).Prompts
	if len(own) != 1 || own[0].Text != "Build X" || own[0].Uses != 1 {
		t.Errorf("the folder's: %+v", own)
	}
}

func TestErrorsHaveReasons(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	c := dial(t, optedIn, dir, other)
	agent := agentThat(t, "never")
	uri := wire.FileURI(dir)
	for name, tt := range map[string]struct {
		command  string
		argument any
		code     int
		want     string
	}{
		"several folders":  {wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agent}}, rpc.CodeRequestFailed, wire.ReasonNoFolder},
		"no such folder":   {wire.CommandStart, wire.StartParams{Folder: uri + "/none", Prompt: "x", Choices: wire.Choices{Backend: agent}}, rpc.CodeRequestFailed, wire.ReasonNoFolder},
		"no file URI":      {wire.CommandStart, wire.StartParams{Folder: "http://x", Prompt: "x", Choices: wire.Choices{Backend: agent}}, rpc.CodeRequestFailed, wire.ReasonNoFolder},
		"no prompt":        {wire.CommandStart, wire.StartParams{Folder: uri, Prompt: " ", Choices: wire.Choices{Backend: agent}}, rpc.CodeRequestFailed, wire.ReasonEmptyPrompt},
		"no prompt file":   {wire.CommandStart, wire.StartParams{Folder: uri, PromptURI: uri + "/PROMPT.md", Choices: wire.Choices{Backend: agent}}, rpc.CodeRequestFailed, wire.ReasonEmptyPrompt},
		"two prompts":      {wire.CommandStart, wire.StartParams{Folder: uri, Prompt: "x", PromptURI: uri + "/PROMPT.md", Choices: wire.Choices{Backend: agent}}, rpc.CodeInvalidParams, ""},
		"unknown backend":  {wire.CommandStart, wire.StartParams{Folder: uri, Prompt: "x", Choices: wire.Choices{Backend: "claud"}}, rpc.CodeRequestFailed, wire.ReasonBackendNotFound},
		"no such program":  {wire.CommandStart, wire.StartParams{Folder: uri, Prompt: "x", Choices: wire.Choices{Backend: "/no/such/agent"}}, rpc.CodeRequestFailed, wire.ReasonBackendNotFound},
		"bad text":         {wire.CommandStart, wire.StartParams{Folder: uri, Text: "x --max-iteration 3", Choices: wire.Choices{Backend: agent}}, rpc.CodeInvalidParams, ""},
		"bad limit":        {wire.CommandStart, map[string]any{"folder": uri, "prompt": "x", "backend": agent, "maxIterations": -1}, rpc.CodeInvalidParams, ""},
		"wrong type":       {wire.CommandStart, map[string]any{"maxIterations": "many"}, rpc.CodeInvalidParams, ""},
		"unknown key":      {wire.CommandStart, map[string]any{"promt": "x"}, rpc.CodeInvalidParams, ""},
		"unknown command":  {"ralph.loop.strat", struct{}{}, rpc.CodeInvalidParams, ""},
		"no object":        {wire.CommandStatus, "x", rpc.CodeInvalidParams, ""},
		"nothing to pause": {wire.CommandPause, wire.LoopParams{Folder: uri}, rpc.CodeRequestFailed, wire.ReasonNotRunning},
		"nothing to steer": {wire.CommandSteer, wire.SteerParams{LoopParams: wire.LoopParams{Folder: uri}, Text: "x"}, rpc.CodeRequestFailed, wire.ReasonNotRunning},
		"empty guidance":   {wire.CommandSteer, wire.SteerParams{}, rpc.CodeInvalidParams, ""},
		"nothing to go on": {wire.CommandResume, wire.ResumeParams{LoopParams: wire.LoopParams{Folder: uri}}, rpc.CodeRequestFailed, wire.ReasonNotRunning},
		"unknown loop":     {wire.CommandRead, wire.ReadParams{LoopParams: wire.LoopParams{LoopID: "x"}}, rpc.CodeRequestFailed, wire.ReasonNoSession},
		"bad when":         {wire.CommandCancel, wire.CancelParams{When: "soon"}, rpc.CodeInvalidParams, ""},
	} {
		m := c.Command(tt.command, tt.argument)
		if got := reason(t, m); got != tt.want || m.Error.Code != tt.code {
			t.Errorf("%s: %d %q (%s), want %d %q", name, m.Error.Code, got, m.Error.Message, tt.code, tt.want)
		}
	}
	if got := result[wire.LoopResult](c, c.Command(wire.CommandCancel, wire.CancelParams{LoopParams: wire.LoopParams{Folder: uri}})); got.State != wire.StateIdle {
		t.Errorf("cancel of nothing: %+v", got)
	}
}

func TestAPlainClientIsAsked(t *testing.T) {
	t.Parallel()
	for choice, replaced := range map[string]bool{session.ActionCancelAndStart: true, session.ActionKeep: false, "": false} {
		t.Run(choice, func(t *testing.T) {
			dir := t.TempDir()
			c := dial(t, plain, dir)
			c.Answer("window/showMessageRequest", func(json.RawMessage) any {
				if choice == "" {
					return nil
				}
				return session.MessageItem{Title: choice}
			})
			agent := agentThat(t, "never")
			c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "one", Choices: wire.Choices{Backend: agent}}))
			m := c.Command(wire.CommandStart, wire.StartParams{Prompt: "two", Choices: wire.Choices{Backend: agent}})
			c.Hears("window/showMessageRequest", "Ralph loop active. Cancel it to start the new task?")
			if replaced != (m.Error == nil) || !replaced && reason(t, m) != wire.ReasonAlreadyRunning {
				t.Errorf("got %+v", m)
			}
		})
	}
}

func TestAClientThatNeverAnswersBlocksNothing(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, plain, dir)
	agent := agentThat(t, "never")
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "one", Choices: wire.Choices{Backend: agent}}))
	c.BeginCommand(wire.CommandStart, wire.StartParams{Prompt: "two", Choices: wire.Choices{Backend: agent}})
	c.Hears("window/showMessageRequest", "Ralph loop active")
	if got := result[wire.StatusResult](c, c.Command(wire.CommandStatus, struct{}{})); len(got.Loops) != 1 {
		t.Errorf("status %+v", got)
	}
	if got := result[wire.LoopResult](c, c.Command(wire.CommandCancel, struct{}{})); got.State != "ended" {
		t.Errorf("cancel: %+v", got)
	}
}

func TestFoldersComeAndGo(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	c := dial(t, optedIn, one)
	agent := agentThat(t, "never")
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agent}}))
	change := func(added, removed []string) {
		event := map[string]any{"added": []any{}, "removed": []any{}}
		for key, paths := range map[string][]string{"added": added, "removed": removed} {
			for _, p := range paths {
				event[key] = append(event[key].([]any), client.Folder{URI: wire.FileURI(p)})
			}
		}
		c.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": event})
	}
	change([]string{two}, nil)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Folder: wire.FileURI(two), Prompt: "y", Choices: wire.Choices{Backend: agent}}))
	c.status(two, inState("running"))
	c.status(one, inState("running"))
	change(nil, []string{one})
	c.Hears("ralph/update", `"stopReason":"interrupted"`)
	c.statusWithout(one)
	if status, err := loop.FolderStatus(one); err != nil || status.Owner != nil || status.Iteration != 1 {
		t.Errorf("%+v, %v", status, err)
	}
	c.status(two, inState("running"))
}

func TestTwoNamesOfAFolderAreOne(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must.OK(t, os.Symlink(dir, link))
	c := dial(t, optedIn, dir, link)
	agent := agentThat(t, "never")
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, wire.StartParams{Folder: wire.FileURI(link), Prompt: "x", Choices: wire.Choices{Backend: agent}}))
	c.status(dir, inState("running"))
	loops := result[wire.StatusResult](c, c.Command(wire.CommandStatus, struct{}{})).Loops
	if len(loops) != 1 || !loops[0].Owned {
		t.Errorf("got %+v", loops)
	}
	c.open(wire.FileURI(filepath.Join(link, "PROMPT.md")), "x")
	lenses := c.Must(c.Call("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": wire.FileURI(filepath.Join(link, "PROMPT.md"))}}))
	if !strings.Contains(string(lenses), started.LoopID) {
		t.Errorf("lenses %s", lenses)
	}
	c.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{
		"added": []any{}, "removed": []any{client.Folder{URI: wire.FileURI(dir)}}}})
	if got := result[wire.LoopResult](c, c.Command(wire.CommandCancel, wire.LoopParams{Folder: wire.FileURI(link)})); got.LoopID != started.LoopID || got.State != "ended" {
		t.Errorf("got %+v", got)
	}
}

// A loop at work in a folder that the editor isn't told of is named when that is asked for, until it is the editor's.
func TestLoopsOfOtherFolders(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	first, second := dial(t, optedIn, dir), dial(t, optedIn, other)
	started := result[wire.StartResult](first, first.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agentThat(t, "never")}}))
	first.status(dir, inState("running"))
	elsewhere := func(c *dialled) (ids []string) {
		for _, l := range result[wire.StatusResult](c, c.Command(wire.CommandStatus, wire.ListParams{Elsewhere: true})).Elsewhere {
			ids = append(ids, l.LoopID)
		}
		return ids
	}
	if got := elsewhere(second); !slices.Contains(got, started.LoopID) {
		t.Errorf("%s isn't among %v", started.LoopID, got)
	}
	if got := elsewhere(first); slices.Contains(got, started.LoopID) {
		t.Errorf("a loop of the editor's own folder is elsewhere: %v", got)
	}
	second.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": map[string]any{
		"added": []any{client.Folder{URI: wire.FileURI(dir)}}, "removed": []any{}}})
	second.status(dir, inState("running"))
	if got := elsewhere(second); slices.Contains(got, started.LoopID) {
		t.Errorf("a loop of a folder that is the editor's now is elsewhere: %v", got)
	}
	first.Must(first.Command(wire.CommandCancel, wire.LoopParams{LoopID: started.LoopID}))
}

// What a person types is read here, for a loop of ours, at a limit, and of another process.
func TestLimitsAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := dial(t, optedIn, dir), dial(t, optedIn, dir)
	said := func(c *dialled, command, text, want string) {
		t.Helper()
		if got := result[wire.LoopResult](c, c.Command(command, wire.ChangeParams{Text: text})); got.Text != want {
			t.Errorf("%s: got %q, want %q", text, got.Text, want)
		}
	}
	first.Must(first.Command(wire.CommandStart, wire.StartParams{Text: "x --max-iterations 3 --idle-timeout 0 --max-failures 0 --max-unchanged-iterations 0", Choices: wire.Choices{Backend: agentThat(t, "waits")}}))
	first.status(dir, inState("running"))
	said(first, wire.CommandUpdate, "--max-time 1h --completion-promise 'ALL DONE'", "3 iterations · 1h of running · promise ALL DONE")
	said(second, wire.CommandUpdate, "$5 --completion-promise ''", "3 iterations · $5.00 · 1h of running · 3 runs of unknown cost")
	byID := wire.ChangeParams{LoopParams: wire.LoopParams{LoopID: second.status(dir, inState("running")).LoopID}, Text: "+$1"}
	if got := result[wire.LoopResult](second, second.Command(wire.CommandUpdate, byID)); got.Text != "3 iterations · $6.00 · 1h of running · 3 runs of unknown cost" {
		t.Errorf("by its id: %q", got.Text)
	}
	said(first, wire.CommandUpdate, "1", "1 iteration · $6.00 · 1h of running · 3 runs of unknown cost")
	must.Write(t, filepath.Join(dir, "go"), "")
	first.status(dir, func(l wire.LoopStatus) bool { return l.StopReason == "max_iterations" })
	if m := first.Command(wire.CommandResume, wire.ResumeParams{Text: "0"}); m.Error == nil || !strings.Contains(m.Error.Message, "say --max-iterations 0 for that") {
		t.Errorf("without a limit: %+v", m)
	}
	said(first, wire.CommandResume, "+2", "3 iterations · $6.00 · 1h of running · 3 runs of unknown cost")
	first.status(dir, func(l wire.LoopStatus) bool { return l.StopReason == "max_iterations" && l.Iteration == 3 })
}

// What a user adds to a limit adds to what the loop has, whatever its agent has written into the state file.
func TestTheStateFileIsNoBaseOfALimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "x --max-iterations 50", Choices: wire.Choices{Backend: agentThat(t, "never")}}))
	c.status(dir, inState("running"))
	file := filepath.Join(dir, filepath.FromSlash(loopstate.Name))
	before := readFile(t, file)
	looser := strings.Replace(before, "max_iterations: 50", "max_iterations: 100000", 1)
	for _, tt := range []struct{ file, command, text, want string }{
		{looser, wire.CommandUpdate, "+10", "60 iterations"},
		{looser, wire.CommandResume, "+10", "70 iterations"},
		{"---\nmax_iterations: [", wire.CommandUpdate, "80", "the front matter is not closed"}, // nothing can be written there
		{"---\nmax_iterations: [", wire.CommandUpdate, "+10", "the front matter is not closed"},
		{looser, wire.CommandUpdate, "+10", "80 iterations"},
	} {
		must.Write(t, file, tt.file)
		m := c.Command(tt.command, wire.ChangeParams{Text: tt.text})
		if got := fmt.Sprint(string(m.Result), m.Error); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %q", tt.text, got, tt.want)
		}
	}
}

func TestResumeAsSoonAsTheEndIsHeard(t *testing.T) {
	t.Parallel()
	agent := agentThat(t, "echoes")
	for range 5 {
		dir := t.TempDir()
		c := dial(t, optedIn, dir)
		c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "x --max-iterations 1", Choices: wire.Choices{Backend: agent}}))
		c.Hears("ralph/update", `"_ralph/end"`)
		resumed := result[wire.LoopResult](c, c.Command(wire.CommandResume, wire.ResumeParams{Values: settings.Values{Given: limits.Given{MaxIterations: new(2)}}}))
		if resumed.Iteration > 2 {
			t.Errorf("got %+v", resumed)
		}
		c.status(dir, func(l wire.LoopStatus) bool { return l.State == "ended" && l.Iteration == 2 })
	}
}

// What can't go on is refused, and nothing is started or lost.
func TestResumeThatCannotGoOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "x --max-iterations 1", Choices: wire.Choices{Backend: agentThat(t, "echoes")}}))
	c.status(dir, func(l wire.LoopStatus) bool { return l.StopReason == "max_iterations" })
	m := c.Command(wire.CommandResume, wire.ResumeParams{})
	if reason(t, m) != wire.ReasonLimitReached || !strings.Contains(string(m.Error.Data), `"iterations":1`) {
		t.Errorf("at its limit: %+v", m)
	}
	c.Must(c.Command(wire.CommandResume, wire.ResumeParams{Values: settings.Values{Given: limits.Given{MaxIterations: new(2), Promise: new("x")}}}))
	c.status(dir, func(l wire.LoopStatus) bool { return l.Iteration == 2 && l.State == "ended" })
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "LOOP_COMPLETE", Choices: wire.Choices{Backend: agentThat(t, "echoes")}}))
	c.status(dir, func(l wire.LoopStatus) bool { return l.StopReason == "promise" })
	if m := c.Command(wire.CommandResume, wire.ResumeParams{}); reason(t, m) != wire.ReasonNotRunning {
		t.Errorf("when it is done: %+v", m)
	}
}

// onlyAgent puts a stand-in of an agent on PATH, and nothing else. It returns its folder.
func onlyAgent(t *testing.T, name string) string {
	bin := t.TempDir()
	must.OK(t, os.Symlink(os.Args[0], filepath.Join(bin, name)))
	t.Setenv("PATH", bin)
	return bin
}

func TestAPlanTakesTheFlagsOfAStart(t *testing.T) {
	bin := onlyAgent(t, "pi")
	c := dial(t, optedIn, t.TempDir())
	got := result[answers.PlanResult](c, c.Command(wire.CommandPlan, answers.PlanParams{
		Text: "--backend=pi --model=m --plan=doc/next.md --max-iterations=3 --backend-arg=-x Don't hurry", Selection: "the text",
	}))
	if want := []string{filepath.Join(bin, "pi"), "--no-session", "--model", "m", "-x"}; !slices.Equal(got.Argv[:len(got.Argv)-1], want) {
		t.Errorf("got %q, want %q and a prompt", got.Argv, want)
	}
	prompt := got.Argv[len(got.Argv)-1]
	if !strings.HasPrefix(prompt, "Don't hurry\n\nthe text\n\nDon't do the work yet") || !strings.Contains(prompt, "write it as tasks into doc/next.md.") {
		t.Errorf("the agent is told %q", prompt)
	}
	for text, want := range map[string]string{"--bakend=pi": "--backend", "/cancel-ralph": "/cancel-ralph"} {
		if m := c.Command(wire.CommandPlan, answers.PlanParams{Text: text}); m.Error == nil || !strings.Contains(m.Error.Message, want) {
			t.Errorf("%s: got %+v", text, m)
		}
	}
}

func TestASessionIsContinuedInPi(t *testing.T) {
	bin, dir := onlyAgent(t, "pi"), t.TempDir()
	session := filepath.Join(dir, "session.jsonl")
	must.OK(t, os.WriteFile(session, []byte("{}\n"), 0o600))
	c := dial(t, optedIn, dir)
	got := result[answers.PlanResult](c, c.Command(wire.CommandPlan, answers.PlanParams{SessionFileURI: wire.FileURI(session)}))
	if want := []string{filepath.Join(bin, "pi"), "--session", session}; !slices.Equal(got.Argv, want) || got.Cwd != dir {
		t.Errorf("got %+v, want %q", got, want)
	}
	if m := c.Command(wire.CommandPlan, answers.PlanParams{SessionFileURI: wire.FileURI(session) + "x"}); reason(t, m) != wire.ReasonNoSession {
		t.Errorf("a missing session: %+v", m)
	}
}
