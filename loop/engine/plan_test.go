package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// planned is a loop that works through a plan, with checks that are scripted as its runs are.
type planned struct {
	*rig
	path string
}

// edit changes the plan, and any other file when also names one.
func (p *planned) edit(old, new, also string) func() {
	return func() {
		data, _ := os.ReadFile(p.path)
		if err := os.WriteFile(p.path, []byte(strings.Replace(string(data), old, new, 1)), 0o600); err != nil {
			p.t.Error(err)
		}
		if also != "" {
			if err := os.WriteFile(filepath.Join(p.cfg.Folder, also), []byte(also), 0o600); err != nil {
				p.t.Error(err)
			}
		}
	}
}

func (p *planned) text() string {
	data, _ := os.ReadFile(p.path)
	return string(data)
}

// plannedRuns prepares a loop with a plan; its runs are made once the plan is there.
func plannedRuns(t *testing.T, text string, configure func(*setup.Config), checks []checked, runs func(*planned) []run) *planned {
	t.Helper()
	p := &planned{}
	p.rig = prepare(t, nil, func(c *setup.Config) {
		p.path = filepath.Join(c.Folder, "PLAN.md")
		must.OK(t, os.WriteFile(p.path, []byte(text), 0o600))
		c.Values.Plan, c.Promise, c.Limits.MaxIterations = "PLAN.md", "", 6
		c.Storage.Changes = changes.Options{Keep: time.Hour, MaxFile: 1000, Dir: t.TempDir()}
		if configure != nil {
			configure(c)
		}
		must.OK(t, c.Check())
	})
	p.agents.checks, p.agents.runs = checks, runs(p)
	must.OK(t, p.begin())
	return p
}

// does is a run that uses tools, so that nobody paces it.
func does(during func()) run {
	return run{during: during, result: stream.Result{Text: "I did it.", ToolCalls: 1}}
}

func TestAPlanIsDoneTaskByTask(t *testing.T) {
	p := plannedRuns(t, "# A\n- [ ] one\n  - detail\n- [x] old\n- [ ] two (after: one)\n", nil, nil, func(p *planned) []run {
		early := does(p.edit("[ ] one", "[x] one", "a"))
		early.result.Text = "All is done.\nLOOP_COMPLETE"
		return []run{early, does(p.edit("[ ] two", "[x] two", "b"))}
	})
	if end := p.over(loop.StopPromise, 2); end.Promise != "all 3 tasks of PLAN.md" || end.Verified != "" {
		t.Errorf("it ends with %+v", end)
	}
	for i, want := range [][]string{
		{"Done so far: 1 of 3 tasks", "<task>\nA:\none\n- detail\n</task>", "PLAN.md (line 2)", "Later iterations do:\n- two"},
		{"Done so far: 2 of 3 tasks", "<task>\nA:\ntwo\n</task>", "the agent says that all is done, but PLAN.md has 1 open task"},
	} {
		for _, text := range want {
			if !strings.Contains(p.told(i), text) {
				t.Errorf("run %d isn't told %q: %s", i+1, text, p.told(i))
			}
		}
		if strings.Contains(p.told(i), "LOOP_COMPLETE") {
			t.Errorf("run %d is told to promise: %s", i+1, p.told(i))
		}
	}
	if !p.log.has("near miss") {
		t.Errorf("nobody was told of the promise\n%s", strings.Join(p.log.lines, "\n"))
	}
}

// One that can't be done doesn't eat the plan.
func TestATaskThatCanNotBeDoneIsSetAside(t *testing.T) {
	p := plannedRuns(t, "- [ ] one (verify: make one)\n- [ ] two\n- [ ] three\n- [ ] four (after: one)\n", func(c *setup.Config) {
		c.Verification.Check, c.Limits.MaxIterations = verify.Check{Timeout: time.Minute}, 20
	}, []checked{refutes, refutes, refutes, refutes}, func(p *planned) []run {
		return []run{does(nil), does(nil), does(nil), does(p.edit("[ ] two", "[x] two", "a")), does(p.edit("[ ] three", "[x] three", "b")), does(nil)}
	})
	end := p.over(loop.StopNoProgress, 6)
	p.checks(4)
	if want := `nothing can be done of the plan: "one": make one failed (exit 1): TestParse, 4 times`; end.Problem() != want || p.Status().Tasks.Done != 2 {
		t.Errorf("it ends with %q and %+v\nwant %q", end.Problem(), p.Status().Tasks, want)
	}
	if got := end.Account.Stuck.Items; len(got) != 1 || got[0].Text != `"one": make one failed (exit 1): TestParse, 4 times` {
		t.Errorf("the receipt has %+v", got)
	}
	if p.log.count(`a task is set aside until no other is open, and has one more try then: "one": make one failed (exit 1): TestParse, 3 times`) != 1 {
		t.Errorf("it isn't told\n%s", strings.Join(p.log.lines, "\n"))
	}
	left, err := p.rig.file.Load()
	must.OK(t, err)
	again := &planned{path: p.path} // its user has mended the check
	again.rig = prepare(t, &left, func(c *setup.Config) {
		c.Folder, c.Continue, c.Values.Plan, c.Limits.MaxIterations = p.cfg.Folder, true, "PLAN.md", 20
	})
	again.agents.checks, again.agents.runs = []checked{passes}, []run{does(nil), does(again.edit("[ ] four", "[x] four", "c"))}
	must.OK(t, again.begin())
	again.over(loop.StopPromise, 2)
}

func TestATasksCheckDecides(t *testing.T) {
	p := plannedRuns(t, "- [ ] one (verify: make one)\n- [ ] two\n",
		func(c *setup.Config) { c.Verification.Check = verify.Check{Timeout: time.Minute} },
		[]checked{refutes, refutes, passes}, func(p *planned) []run {
			return []run{does(nil), does(p.edit("[ ] one", "[x] one", "a")), does(nil), does(p.edit("[ ] two", "[x] two", "b"))}
		})
	end := p.over(loop.StopPromise, 4)
	p.checks(3)
	if end.Verified != "1 of 2 tasks by their own checks" || p.text() != "- [x] one (verify: make one)\n- [x] two\n" {
		t.Errorf("it ends with %+v and %q", end, p.text())
	}
	for i, text := range map[int]string{0: "`make one`", 1: "`make one` failed (exit 1): TestParse", 2: `The last run checked the task "one", but make one failed (exit 1): TestParse. It is open again.`} {
		if !strings.Contains(p.told(i), text) {
			t.Errorf("run %d isn't told %q: %s", i+1, text, p.told(i))
		}
	}
}

// The box that a passing check brings belongs to the iteration that did the task, and is progress.
func TestABoxIsTheIterationsThatDidItsTask(t *testing.T) {
	p := plannedRuns(t, "- [ ] one (verify: make)\n- [ ] two (verify: make)\n- [ ] three (verify: make)\n", func(c *setup.Config) { c.Limits.MaxUnchanged = 1 },
		[]checked{passes}, func(p *planned) []run {
			return []run{does(p.edit("", "", "a")), does(nil), does(p.edit("", "", "c"))}
		})
	p.over(loop.StopPromise, 3)
	store, err := changes.Find(p.cfg.Folder, "", p.cfg.Storage.Changes)
	must.OK(t, err)
	for n, want := range []string{"PLAN.md a", "PLAN.md", "PLAN.md c"} {
		files, err := store.Diff.Files(t.Context(), changes.Range{From: n, To: n + 1}, nil)
		var names []string
		for _, f := range files {
			names = append(names, f.Path)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("iteration %d changed %q, want %q: %v", n+1, got, want, err)
		}
	}
}

// Who checks a task and does nothing is asked again, once.
func TestWhoLiesIsAskedAgainOnce(t *testing.T) {
	p := plannedRuns(t, "- [ ] one\n", nil, nil, func(p *planned) []run { return []run{does(p.edit("[ ]", "[x]", ""))} })
	end := p.over(loop.StopPromise, 2)
	if want := `the task "one" was checked, but nothing was changed but the plan: it is open again`; !p.log.has(want) || !strings.Contains(p.told(1), "It is open again.") {
		t.Errorf("nobody is told %q\n%s", want, strings.Join(p.log.lines, "\n"))
	}
	if text := `unverified: the task "one" stays checked, but nothing was changed but the plan`; !slices.ContainsFunc(end.Account.Warnings.Items, func(it account.Item) bool { return it.Text == text }) {
		t.Errorf("nobody is told that it is unverified\n%s", strings.Join(p.log.lines, "\n"))
	}
}

func TestWhatAnAgentTakesOutIsPutBack(t *testing.T) {
	const text = "- [ ] one\n- [ ] two (verify: make)\n- [ ] three\n"
	for _, answer := range []string{"", ask.Deny, ask.Once} {
		p := plannedRuns(t, text, nil, []checked{passes}, func(p *planned) []run {
			return []run{
				does(p.edit(text, "- [x] one\n- [ ] two\n- [ ] new (verify: touch evil)\n", "a")),
				does(func() {
					if answer != "" {
						if err := p.Answer(p.Status().Questions[0].ID, ask.Answer{Kind: answer}); err != nil {
							t.Error(err)
						}
					}
				}),
				does(p.edit("[ ] new", "[x] new", "b")), does(p.edit("[ ] three", "[x] three", "c")),
			}
		})
		end := p.Wait()
		if !p.log.has("the agent took out or changed 2 tasks of PLAN.md, which is put back as it was: two") {
			t.Errorf("nobody is told what is lost\n%s", strings.Join(p.log.lines, "\n"))
		}
		want := "- [x] one\n- [x] two (verify: make)\n- [x] three\n"
		if answer == ask.Once {
			want = "- [x] one\n- [x] two\n- [x] new (verify: touch evil)\n"
		}
		if end.Reason != loop.StopPromise || p.text() != want || p.agents.checkUp > 1 {
			t.Errorf("%q: %s with %q and %d checks\n%s", answer, end.Reason, p.text(), p.agents.checkUp, strings.Join(p.log.lines, "\n"))
		}
	}
}

// A command that comes up while a run is at work may be the agent's: it is asked about, and not run before.
func TestAPlantedCheckIsNotRun(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		p := plannedRuns(t, "- [ ] one\n- [ ] two\n", nil, []checked{passes}, func(p *planned) []run {
			answer := does(func() {
				now := p.Status().Questions
				if len(now) != 1 || now[0].Title != "may the loop run 1 new check of PLAN.md?" || !strings.HasSuffix(now[0].Detail, "\ntouch evil") {
					t.Errorf("it asks %+v", now)
					return
				}
				kind := ask.Deny
				if allowed {
					kind = ask.Once
				}
				if err := p.Answer(now[0].ID, ask.Answer{Kind: kind}); err != nil {
					t.Error(err)
				}
				p.edit("[ ] two", "[x] two", "b")()
			})
			return []run{does(p.edit("[ ] one\n- [ ] two\n", "[x] one (verify: touch evil)\n- [ ] two (verify: touch evil)\n", "a")), answer}
		})
		end := p.over(loop.StopPromise, 2)
		if isVerified := end.Verified != ""; isVerified != allowed || p.agents.checkUp > 0 != allowed {
			t.Errorf("allowed %t: verified %q by %d checks\n%s", allowed, end.Verified, p.agents.checkUp, strings.Join(p.log.lines, "\n"))
		}
		if !p.log.has(`unverified: the task "one" stays checked, but touch evil isn't run: nobody has accepted it`) {
			t.Errorf("nobody is told\n%s", strings.Join(p.log.lines, "\n"))
		}
	}
}

// What the check of a task does to the plan isn't the user's either.
func TestACheckPlantsNothing(t *testing.T) {
	p := &planned{}
	plants := checked{prints: "ok\n", during: func() { p.edit("- [ ] two\n", "- [ ] two (verify: touch evil)\n", "")() }}
	plannedRuns(t, "- [ ] one (verify: make)\n- [ ] two\n", nil, []checked{plants}, func(made *planned) []run {
		p = made // before the loop begins
		return []run{does(nil), does(p.edit("[ ] two", "[x] two", "b"))}
	})
	p.over(loop.StopPromise, 2)
	if !strings.Contains(p.text(), "evil") || p.agents.checkUp != 1 {
		t.Errorf("%d checks, %q\n%s", p.agents.checkUp, p.text(), strings.Join(p.log.lines, "\n"))
	}
}

// What the user writes between two runs counts from the next one on, commands among it.
func TestTheUsersEditCountsFromTheNextRunOn(t *testing.T) {
	p := plannedRuns(t, "- [ ] one\n- [ ] two\n", nil, []checked{passes}, func(p *planned) []run {
		pausing := does(func() {
			p.edit("[ ] one", "[x] one", "a")()
			if err := p.Pause(); err != nil {
				t.Error(err)
			}
		})
		return []run{pausing, does(nil)}
	})
	proctest.Until(t, "a pause", func() bool { return p.Status().State == loop.StatePaused })
	p.edit("- [ ] two\n", "- [ ] three (verify: make)\n", "")()
	must.OK(t, p.Resume(loop.Patch{}))
	p.over(loop.StopPromise, 2)
	p.checks(1)
	if !strings.Contains(p.told(1), "<task>\nthree\n</task>") || p.text() != "- [x] one\n- [x] three (verify: make)\n" {
		t.Errorf("it has %q and told %s", p.text(), p.told(1))
	}
}

func TestAPlanThatIsGoneIsPutBack(t *testing.T) {
	for _, damage := range []func(*planned){
		func(p *planned) { os.Remove(p.path) },
		func(p *planned) { os.WriteFile(p.path, []byte("all is done"), 0o600) },
	} {
		p := plannedRuns(t, "- [ ] one\n", nil, nil, func(p *planned) []run {
			return []run{does(func() { damage(p) }), does(p.edit("[ ]", "[x]", "a"))}
		})
		p.over(loop.StopPromise, 2)
	}
}

// A task that nobody can do ends the loop as any that turns in circles.
func TestATaskThatCanNotBeDoneEndsTheLoop(t *testing.T) {
	p := plannedRuns(t, "- [ ] one (verify: make)\n", func(c *setup.Config) { c.Limits.MaxUnchanged = 3 }, []checked{refutes}, func(*planned) []run { return []run{does(nil)} })
	if end := p.over(loop.StopNoProgress, 3); p.text() != "- [ ] one (verify: make)\n" || end.Status.Tasks.Done != 0 {
		t.Errorf("it has %q", p.text())
	}
}

// The loop's own check counts when no task is open; who has to mend what it finds is told that no task is.
func TestTheLoopsCheckComesBehindThePlan(t *testing.T) {
	p := plannedRuns(t, "- [ ] one\n", func(c *setup.Config) {
		c.Verification.Check = verify.Check{Shell: "make", When: verify.OnPromise, Timeout: time.Minute}
	}, []checked{refutes, passes}, func(p *planned) []run { return []run{does(p.edit("[ ]", "[x]", "a")), does(p.edit("", "", "b"))} })
	if end := p.over(loop.StopPromise, 2); end.Verified != "make passed" || !strings.Contains(p.told(1), "No task is open any more") {
		t.Errorf("verified %q, told %s", end.Verified, p.told(1))
	}
}

// A run that was cut off with its process is judged when the loop goes on.
func TestATaskOfARunThatWasCutOffIsJudged(t *testing.T) {
	p := plannedRuns(t, "- [ ] one (verify: make)\n- [ ] two\n", nil, []checked{refutes}, func(p *planned) []run {
		return []run{{during: func() {
			p.edit("[ ] one", "[x] one", "a")()
			go p.Interrupt()
		}, lasts: time.Hour}}
	})
	p.over(loop.StopInterrupted, 1)
	left, err := p.rig.file.Load()
	if err != nil || !left.Tasks.Judging {
		t.Fatalf("it leaves %+v, %v", left.Tasks, err)
	}
	again := &planned{path: p.path}
	again.rig = prepare(t, &left, func(c *setup.Config) {
		c.Folder, c.Continue, c.Values.Plan, c.Limits.MaxIterations = p.cfg.Folder, true, "PLAN.md", 6
	})
	again.agents.checks, again.agents.runs = []checked{refutes, passes}, []run{does(nil), does(again.edit("[ ] two", "[x] two", ""))}
	must.OK(t, again.begin())
	again.over(loop.StopPromise, 2)
	if !again.log.has(`the task "one" was checked, but make failed (exit 1): TestParse: it is open again`) {
		t.Errorf("nobody was told\n%s", strings.Join(again.log.lines, "\n"))
	}
}

func TestATaskIsDoneByTheAgentThatItNames(t *testing.T) {
	critic := func(c *setup.Config) {
		role := setup.Role{Backend: c.Backend, Args: []string{"--critic"}}
		role.Name, role.Instructions = "critic", "Be strict."
		c.Roles.Hats = []setup.Role{role}
	}
	p := plannedRuns(t, "- [ ] one (agent: critic)\n- [ ] two\n", critic, nil, func(p *planned) []run {
		return []run{does(p.edit("[ ] one", "[x] one", "a")), does(p.edit("[ ] two", "[x] two", "b"))}
	})
	p.over(loop.StopPromise, 2)
	first, second := p.agents.specs[0], p.agents.specs[1]
	if !slices.Contains(first.Args, "--critic") || slices.Contains(second.Args, "--critic") || !strings.Contains(p.told(0), "Be strict.") {
		t.Errorf("the runs have %q and %q", first.Args, second.Args)
	}
	cfg := p.cfg
	cfg.Roles.Steps = [][]setup.Role{{{Backend: cfg.Backend}}}
	os.WriteFile(p.path, []byte("- [ ] one (agent: critic)\n"), 0o600)
	if err := cfg.Check(); err == nil || err.Error() != "PLAN.md:1: (agent: critic): hats that hand over, and agents in steps, take turns by themselves" {
		t.Errorf("got %v", err)
	}
}

// A loop for one task is over with it, and what the agent ticks besides is looked at all the same.
func TestALoopForOneTask(t *testing.T) {
	p := plannedRuns(t, "- [ ] one (verify: make one)\n- [ ] two (after: one)\n  - [ ] three\n- [ ] four\n", func(c *setup.Config) { c.Values.Task = "2" }, nil, func(p *planned) []run {
		return []run{does(func() {
			p.edit("[ ] one", "[x] one", "")()
			p.edit("- [ ] four", "- [ ] new\n- [ ] four", "")()
			p.edit("[ ] three", "[x] three", "c")()
		})}
	})
	if end := p.over(loop.StopPromise, 1); end.Promise != `the task "two" of PLAN.md` || p.cfg.Values.Task != "two" {
		t.Errorf("it ends with %q, for the task %q", end.Promise, p.cfg.Values.Task)
	}
	for _, want := range []string{"Done so far: 0 of 1 tasks", "<task>\nthree\n</task>", `The plan has it behind the task "one", which isn't done: your user wants it now.`} {
		if !strings.Contains(p.told(0), want) {
			t.Errorf("the run isn't told %q: %s", want, p.told(0))
		}
	}
	if strings.Contains(p.told(0), "Later iterations") || !p.log.has(`unverified: the task "one" stays checked, but make one isn't run: nobody has accepted it`) {
		t.Errorf("told %s\n%s", p.told(0), strings.Join(p.log.lines, "\n"))
	}
	if want := "- [x] one (verify: make one)\n- [x] two (after: one)\n  - [x] three\n- [ ] new\n- [ ] four\n"; p.text() != want {
		t.Errorf("the plan is %q", p.text())
	}
}
