package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// configured makes a folder with a ralph.toml.
func configured(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, config.Name), []byte(text), 0o600))
	return dir
}

// dataOf is what an error says to programs.
func dataOf[T any](t *testing.T, m lsptest.Message) (data T) {
	t.Helper()
	if m.Error == nil {
		t.Fatalf("no error: %s", m.Result)
	}
	must.OK(t, json.Unmarshal(m.Error.Data, &data))
	return data
}

func TestTheFolderSaysHowALoopRuns(t *testing.T) {
	dir := configured(t, `
prompt_file = "docs/TASK.md"
[limits]
max_iterations = 3
max_cost_usd = 2.5
[completion]
promise = "DONE"
[hats.builder]
backend = "pi"
`)
	os.MkdirAll(filepath.Join(dir, "docs"), 0o700)
	os.WriteFile(filepath.Join(dir, "docs", "TASK.md"), []byte("the task"), 0o600)
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	got := result[answers.DryRunResult](c, c.Command(wire.CommandStart, map[string]any{"dryRun": true, "backend": agent, "maxIterations": 7,
		"settings": map[string]any{"maxIterations": 9, "maxCostUsd": 4, "args": []string{"--from-editor"}}}))
	if l := got.Limits; *l.MaxIterations != 7 || *l.MaxCostUSD != 4 || *l.Promise != "DONE" || *l.MaxFailures != 5 || *l.MaxUnchanged != 5 {
		t.Errorf("got %+v", l)
	}
	want := start.Sources{
		"backend": config.FromStart, "args": config.FromEditor, "prompt": config.FromFolder, "model": config.FromDefault, "verify": config.FromDefault,
	}
	for _, s := range settings.All() {
		want[s.Wire] = config.FromDefault
	}
	maps.Copy(want, start.Sources{"maxIterations": config.FromStart, "maxCostUsd": config.FromEditor, "completionPromise": config.FromFolder})
	if !maps.Equal(got.Sources, want) {
		t.Errorf("sources %v, want %v", got.Sources, want)
	}
	if !slices.Contains(got.Argv, "--from-editor") || got.PromptBytes < len("the task") {
		t.Errorf("got %+v", got)
	}
}

func TestABadConfigurationIsRefusedWithAllItsProblems(t *testing.T) {
	dir := configured(t, "backend = \"claud\"\n[limits]\nmax_iteration = 3\n")
	c := dial(t, optedIn, dir)
	m := c.Command(wire.CommandStart, map[string]any{"prompt": "x", "backend": agentThat(t, "never")})
	data := dataOf[struct {
		Reason   string
		Problems []answers.ConfigProblem
	}](t, m)
	if data.Reason != wire.ReasonBadConfig || len(data.Problems) != 2 || data.Problems[1].Line != 3 || data.Problems[1].Column != 1 {
		t.Errorf("got %+v", data)
	}
	if !strings.Contains(m.Error.Message, "did you mean claude?") || !strings.Contains(m.Error.Message, "did you mean max_iterations?") {
		t.Errorf("got %s", m.Error.Message)
	}
}

// own describes a program of the folder's own as the backend "mine".
func own(program string) string {
	return fmt.Sprintf("backend = \"mine\"\n[backends.mine]\ncommand = %q\n", program)
}

func TestAFolderMustBeTrustedBeforeItsProgramsRun(t *testing.T) {
	dir := configured(t, own(agentThat(t, "never")))
	c := dial(t, optedIn, dir)
	request := map[string]any{"prompt": "x"}
	data := dataOf[struct {
		Reason, FileURI string
		Wants           []string
	}](t, c.Command(wire.CommandStart, request))
	if data.Reason != wire.ReasonUntrusted || data.FileURI != wire.FileURI(filepath.Join(dir, config.Name)) || len(data.Wants) != 1 ||
		!strings.HasPrefix(data.Wants[0], "backends.mine.command = ") {
		t.Errorf("got %+v", data)
	}
	request["trust"] = true
	c.Must(c.Command(wire.CommandStart, request))
	if got := c.status(dir, inState("running")); got.Backend.Name != "mine" {
		t.Errorf("got %+v", got)
	}
	c.Must(c.Command(wire.CommandCancel, struct{}{}))
	delete(request, "trust")
	c.Must(c.Command(wire.CommandStart, request)) // it is remembered
}

func TestAClientMayTrustItsFolders(t *testing.T) {
	dir := configured(t, own(agentThat(t, "never")))
	c := dial(t, `{"experimental":{"ralph":{"version":2,"trusted":true}}}`, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "x"}))
	c.status(dir, inState("running"))
}

// leftBehind makes a folder with the state file of a loop that nobody drives.
func leftBehind(t *testing.T, state loopstate.State) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	state.Active, state.Iteration, state.MaxIterations, state.Prompt = true, 2, new(5), "x"
	state.LoopID, state.StartedAt = "ralph-found", time.Now()
	must.OK(t, file.Create(state))
	return dir
}

func TestAStateFileAloneRunsNothing(t *testing.T) {
	t.Parallel()
	agent := agentThat(t, "never")
	for name, state := range map[string]loopstate.State{
		"a program": {AgentChoice: loopstate.AgentChoice{Backend: agent}},
		"arguments": {AgentChoice: loopstate.AgentChoice{Backend: "claude", BackendArgs: []string{"--dangerously-skip-permissions"}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := leftBehind(t, state)
			c := dial(t, optedIn, dir)
			c.status(dir, inState("interrupted"))
			if m := c.Command(wire.CommandResume, struct{}{}); reason(t, m) != wire.ReasonUntrusted {
				t.Errorf("got %+v", m)
			}
		})
	}
	dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: agent}})
	c := dial(t, optedIn, dir)
	c.status(dir, inState("interrupted"))
	c.Must(c.Command(wire.CommandResume, map[string]any{"trust": true}))
	c.status(dir, inState("running"))
}

// Both the configuration and the state file want to run something: each is
// asked about, and one no is enough.
func TestAPlainClientIsAskedForEachFile(t *testing.T) {
	t.Parallel()
	for answer, questions := range map[string]int{session.ActionTrust: 2, session.ActionDont: 1} {
		t.Run(answer, func(t *testing.T) {
			dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: agentThat(t, "never")}})
			must.OK(t, os.WriteFile(filepath.Join(dir, config.Name), []byte(own("my-agent")), 0o600))
			c := dial(t, plain, dir)
			asked := 0 // by the one goroutine that reads
			c.Answer("window/showMessageRequest", func(params json.RawMessage) any {
				if !strings.Contains(string(params), "is not trusted yet") {
					return session.MessageItem{Title: session.ActionLater}
				}
				asked++
				return session.MessageItem{Title: answer}
			})
			c.Hears("window/showMessageRequest", "was interrupted")
			m := c.Command(wire.CommandResume, struct{}{})
			if (m.Error == nil) != (answer == session.ActionTrust) || asked != questions {
				t.Errorf("%d questions, %+v", asked, m)
			}
		})
	}
}

func TestAHatIsWornAndShown(t *testing.T) {
	agent := agentThat(t, "never")
	dir := configured(t, fmt.Sprintf("[hats.planner]\nbackend = { command = %q, args = [\"-x\"] }\n", agent))
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"text": "/ralph-loop Plan it --hat planner", "trust": true}))
	if got := c.status(dir, inState("running")); got.Hat != "planner" || got.Backend.Name != agent {
		t.Errorf("got %+v", got)
	}
	m := c.Command(wire.CommandStart, map[string]any{"prompt": "x", "hat": "plannner"})
	data := dataOf[struct {
		Key   string
		Known []string
	}](t, m)
	if data.Key != "hat" || !slices.Equal(data.Known, []string{"planner"}) || !strings.Contains(m.Error.Message, "did you mean planner?") {
		t.Errorf("got %+v, %s", data, m.Error.Message)
	}
}

func TestThePlanIsTheAgentsOwnInterface(t *testing.T) {
	agent := agentThat(t, "never")
	dir := configured(t, own(agent)+"interactive_args = [\"--tui\"]\n")
	c := dial(t, optedIn, dir)
	if m := c.Command(wire.CommandPlan, map[string]any{"prompt": "What next?"}); reason(t, m) != wire.ReasonUntrusted {
		t.Errorf("got %+v", m)
	}
	got := result[answers.PlanResult](c, c.Command(wire.CommandPlan, map[string]any{"prompt": "What next?", "trust": true}))
	prompt, _, _ := strings.Cut(got.Argv[len(got.Argv)-1], "\n") // what is told of the plan comes behind it
	if want := []string{agent, "--tui", "What next?"}; !slices.Equal(append(got.Argv[:2:2], prompt), want) || got.Cwd != dir {
		t.Errorf("got %+v, want %q", got, want)
	}
}

// A stranger's file lifts no limit of the user's: whoever starts is told so.
func TestAFolderThatIsNotTrustedLiftsNoLimit(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	must.Write(t, filepath.Join(home, "ralph-lsp", config.UserName), "[limits]\nmax_cost_usd = 2\n")
	dir := configured(t, "[limits]\nmax_cost_usd = 0\nmax_iterations = 0\nmax_duration = \"1h\"\n")
	request := func(more ...any) map[string]any {
		r := map[string]any{"prompt": "x", "backend": agentThat(t, "never")}
		for i := 0; i < len(more); i += 2 {
			r[more[i].(string)] = more[i+1]
		}
		return r
	}
	c := dial(t, optedIn, dir)
	for _, got := range []answers.DryRunResult{c.dryRun(request()), c.dryRun(request("maxDurationMs", 7200000))} {
		if *got.Limits.MaxCostUSD != 2 || *got.Limits.MaxIterations != 50 || got.Sources["maxCostUsd"] != config.FromUser || got.Sources["maxIterations"] != config.FromDefault ||
			len(got.Warnings) != 2 || !strings.Contains(got.Warnings[1], "so the cost cap can't be enforced") || !strings.Contains(got.Warnings[0], "limits.max_cost_usd = 0 is not taken (2 counts)") || !strings.Contains(got.Warnings[0], "ralph-lsp trust") {
			t.Errorf("got %+v", got)
		}
	}
	if got := c.dryRun(request("maxIterations", 0)); *got.Limits.MaxIterations != 0 || got.Sources["maxIterations"] != config.FromStart {
		t.Errorf("the start says so: %+v", got)
	}
	if got := c.dryRun(request()); *got.Limits.MaxDuration != limits.Duration(time.Hour) || got.Sources["maxDurationMs"] != config.FromFolder {
		t.Errorf("a stricter limit: %+v", got)
	}
	doctor := result[answers.DoctorResult](c, c.Command(wire.CommandDoctor, struct{}{}))
	if !slices.ContainsFunc(doctor.Checks, func(c answers.Check) bool {
		return !c.OK && strings.Contains(c.Message, "limits.max_iterations = 0 in the folder's ralph.toml is not taken: 50 counts") && strings.Contains(c.Fix, "ralph-lsp trust")
	}) {
		t.Errorf("the doctor says %+v", doctor.Checks)
	}
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, request()))
	if len(started.Warnings) != 1 {
		t.Errorf("the start says %+v", started)
	}
	c.Hears("ralph/update", "limits.max_cost_usd = 0 is not taken")
	c.Must(c.Command(wire.CommandCancel, struct{}{}))
	other := dial(t, plain, dir)
	other.dryRun(request())
	other.Hears("window/showMessage", "limits.max_cost_usd = 0 is not taken")
	if got := c.dryRun(request("trust", true)); *got.Limits.MaxCostUSD != 0 || *got.Limits.MaxIterations != 0 || len(got.Warnings) != 0 {
		t.Errorf("trusted: %+v", got)
	}
	if got := c.dryRun(request()); *got.Limits.MaxCostUSD != 2 {
		t.Errorf("a dry run has remembered it: %+v", got)
	}
}

// Anybody can leave a state file in a repository.
func TestAStateFileThatWasPlantedLiftsNoLimit(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	must.Write(t, filepath.Join(home, "ralph-lsp", config.UserName), "[limits]\nmax_cost_usd = 2\n")
	agent := agentThat(t, "never")
	dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: agent}})
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	must.OK(t, must.Err(file.Update(func(s *loopstate.State) error { s.MaxIterations = new(0); return nil })))
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandResume, map[string]any{"trust": true}))
	got := c.status(dir, func(l wire.LoopStatus) bool { return l.Owned && l.State == "running" }) // taken up; before, it is the file's
	if got.MaxIterations != 50 || got.Time.Limit != stream.Duration(4*time.Hour) {
		t.Errorf("got %+v", got)
	}
	c.Hears("ralph/update", "max_iterations = 0 is not taken, 50 counts (give --max-iterations to change it), max_cost_usd = 0 is not taken, 2 counts")
	c.Must(c.Command("ralph.loop.update", map[string]any{"maxIterations": 500}))
	c.hangUp()
	awaitNobody(t, dir)
	again := dial(t, optedIn, dir) // by now it's the user's own
	again.Must(again.Command(wire.CommandResume, map[string]any{}))
	if got := again.status(dir, inState("running")); got.MaxIterations != 500 {
		t.Errorf("the user's own loop: %+v", got)
	}
}
