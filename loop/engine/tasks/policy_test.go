package tasks

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// fake is a loop with a plan, whose checks say what they are to say.
type fake struct {
	t      *testing.T
	policy Policy
	cfg    setup.Config
	book   plan.Book
	path   string

	fails   []string // commands that fail
	stops   bool     // the loop is to end while a check runs
	isIdle  bool     // no run changes anything but the plan
	ran     []string
	asked   map[string]string // by its kind
	yes     map[string]func()
	told    []string
	warned  []string
	early   []string
	written []int // iterations
}

func loopWith(t *testing.T, text string) *fake {
	f := &fake{t: t, asked: map[string]string{}, yes: map[string]func(){}}
	f.cfg.Folder = t.TempDir()
	f.cfg.Values.Plan, f.path = "PLAN.md", filepath.Join(f.cfg.Folder, "PLAN.md")
	f.write(text)
	f.policy = New(&f.cfg, &f.book)
	return f
}

func (f *fake) write(text string) {
	f.t.Helper()
	must.OK(f.t, os.WriteFile(f.path, []byte(text), 0o600))
}

func (f *fake) text() string {
	data, _ := os.ReadFile(f.path)
	return string(data)
}

func (f *fake) Check(_ int, check verify.Check, _ Candidate) (r verify.Result, ok bool) {
	f.ran = append(f.ran, check.Shell)
	if slices.Contains(f.fails, check.Shell) {
		return verify.Result{State: verify.Refuted, Why: "failed"}, !f.stops
	}
	return verify.Result{State: verify.Verified, Why: "passed"}, !f.stops
}

func (f *fake) OnlyChanged(name string, _ int) bool { return f.isIdle && name == "PLAN.md" }
func (f *fake) Wrote(iteration int)                 { f.written = append(f.written, iteration) }
func (f *fake) Guards(check verify.Check) string    { return "guards of " + check.Shell }
func (f *fake) Withdraw(kind string)                { delete(f.asked, kind) }
func (f *fake) TooEarly(promise, why string)        { f.early = append(f.early, promise+": "+why) }
func (f *fake) Warn(text string)                    { f.warned = append(f.warned, text) }

func (f *fake) Ask(kind, title, detail string, yes func()) {
	f.asked[kind], f.yes[kind] = title+"\n"+detail, yes
}

func (f *fake) Tell(text string) {
	if text != "" {
		f.told = append(f.told, text)
	}
}

// begin lets a run begin, and returns what it is told to do.
func (f *fake) begin() (run setup.Run) {
	f.t.Helper()
	if why := f.policy.Before(f); why != "" {
		f.t.Fatal(why)
	}
	run.Iteration = f.book.Done + 1
	f.policy.Take(f, &run)
	return run
}

const two = "- [ ] one (verify: make one)\n- [ ] two\n"

// What becomes of a plan behind a run, by what it did to it and what checks say.
func TestWhatARunDoesOfAPlan(t *testing.T) {
	const done, doneOne = "- [x] one (verify: make one)\n- [x] two\n", "- [x] one (verify: make one)\n- [ ] two\n"
	promised := judge.Report{Outcome: loop.OutcomeOK, Verdict: promises.Verdict{Matched: true, Promise: "DONE"}}
	well := judge.Report{Outcome: loop.OutcomeOK}
	for name, tt := range map[string]struct {
		writes string // "": nothing
		with   func(*fake)
		report judge.Report
		want   string // the plan
		promis string // what counts as promised
		told   string // the next run
		warned string
		early  string
	}{
		"its check passes":           {"", nil, well, doneOne, "", "", "", ""},
		"its check fails":            {"", func(f *fake) { f.fails = []string{"make one"} }, well, two, "", "`make one` failed", "", ""},
		"it was refused":             {"", nil, judge.Report{Limited: true}, two, "", "", "", ""},
		"it never began":             {"", nil, judge.Report{NeverBegan: true}, two, "", "", "", ""},
		"it checks both":             {done, nil, well, done, "all 2 tasks of PLAN.md", "", "", ""},
		"checked, and its check no":  {doneOne, func(f *fake) { f.fails = []string{"make one"} }, well, two, "", "It is open again", `the task "one" was checked, but make one failed`, ""},
		"checked another in vain":    {"- [ ] one (verify: make one)\n- [x] two\n", func(f *fake) { f.isIdle = true }, well, doneOne, "", "It is open again", "nothing was changed but the plan", ""},
		"promised too early":         {"", nil, promised, doneOne, "", "", "", "DONE: the agent says that all is done, but PLAN.md has 1 open task"},
		"promised, and all is done":  {done, nil, promised, done, "all 2 tasks of PLAN.md", "", "", ""},
		"the loop is to end":         {"", func(f *fake) { f.stops = true }, promised, two, "DONE", "", "", ""},
		"a task is taken out":        {"- [ ] one (verify: make one)\n", nil, judge.Report{Limited: true}, two, "", "", "the agent took out or changed 1 task of PLAN.md", ""},
		"a task is changed":          {"- [ ] one (verify: true)\n- [ ] two\n", nil, judge.Report{Limited: true}, two, "", "", "the agent took out or changed 1 task of PLAN.md", ""},
		"it is no plan any more":     {"nothing", nil, judge.Report{Limited: true}, two, "", "", "the plan is put back as it was before the iteration", ""},
		"what is new is there, open": {two + "- [ ] three\n", nil, judge.Report{Limited: true}, two + "- [ ] three\n", "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := loopWith(t, two)
			f.book.Accepted = []string{"make one"}
			run := f.begin()
			if !strings.Contains(run.Task, "`make one`") || run.TaskText != "one" || !f.policy.IsOwed() {
				t.Fatalf("the run does %q: %q", run.TaskText, run.Task)
			}
			if tt.writes != "" {
				f.write(tt.writes)
			}
			if tt.with != nil {
				tt.with(f)
			}
			r := tt.report
			f.policy.Settle(f, run, &r)
			if f.text() != tt.want || r.Verdict.Promise != tt.promis || (r.Verdict.Promise == "") == r.Verdict.Matched {
				t.Errorf("the plan is %q, promised is %q", f.text(), r.Verdict.Promise)
			}
			for what, pair := range map[string][2]string{
				"the next run": {strings.Join(f.told, "\n"), tt.told}, "the user": {strings.Join(f.warned, "\n"), tt.warned}, "too early": {strings.Join(f.early, "\n"), tt.early},
			} {
				if got, want := pair[0], pair[1]; !strings.Contains(got, want) || (got == "") != (want == "") {
					t.Errorf("%s is told %q, want %q", what, got, want)
				}
			}
			if f.policy.IsOwed() != f.stops {
				t.Errorf("it is owed: %t", f.policy.IsOwed())
			}
			if isOpened := strings.Contains(tt.told, "open again"); isOpened != (len(f.book.Opened) == 1) {
				t.Errorf("opened again are %q", f.book.Opened)
			}
			left := cmp.Or(tt.writes, two) // by the run
			if strings.Contains(tt.warned, "took out") || strings.Contains(tt.warned, "is put back") {
				left = two
			}
			if isOurs := tt.want != left; isOurs != (len(f.written) == 1) {
				t.Errorf("it was written in %v", f.written)
			}
		})
	}
}

// Who checks a task in vain is asked again once; then it stays checked.
func TestATaskIsOpenedAgainOnce(t *testing.T) {
	f := loopWith(t, "- [ ] one\n")
	f.isIdle = true
	for i, want := range []string{"- [ ] one\n", "- [x] one\n"} {
		run := f.begin()
		f.write("- [x] one\n")
		r := judge.Report{Outcome: loop.OutcomeOK}
		if f.policy.Settle(f, run, &r); f.text() != want || r.Verdict.Matched != (i == 1) {
			t.Errorf("run %d leaves %q, and promised: %t", i+1, f.text(), r.Verdict.Matched)
		}
	}
	if last := f.warned[len(f.warned)-1]; !strings.HasPrefix(last, `unverified: the task "one" stays checked, but nothing was changed`) {
		t.Errorf("the user is warned of %q", f.warned)
	}
}

// A check that came while a run was at work isn't run before its user accepts it; one that its user wrote is.
func TestWhichChecksAreRun(t *testing.T) {
	f := loopWith(t, "- [ ] one\n- [ ] two\n")
	run := f.begin()
	f.write("- [ ] one\n- [ ] two\n- [ ] new (verify: touch evil)\n")
	f.policy.Settle(f, run, &judge.Report{Outcome: loop.OutcomeOK})
	if asked := f.asked[askCommands]; !strings.HasPrefix(asked, "may the loop run 1 new check of PLAN.md?\nThe plan was changed so while a run was at work") || !strings.HasSuffix(asked, "\ntouch evil") {
		t.Errorf("asked is %q", asked)
	}
	f.write("- [x] one\n- [x] two\n- [ ] new (verify: touch evil)\n- [ ] mine (verify: make)\n") // by its user
	if f.policy.Before(f); !slices.Equal(f.book.Accepted, []string{"make"}) {
		t.Errorf("accepted are %q", f.book.Accepted)
	}
	r := judge.Report{Outcome: loop.OutcomeOK}
	run = setup.Run{Iteration: 2}
	f.policy.Take(f, &run)
	if f.policy.Settle(f, run, &r); len(f.ran) > 0 || strings.Contains(f.text(), "[x] new") {
		t.Errorf("run was %q, and the plan is %q", f.ran, f.text())
	}
	f.yes[askCommands]()
	run = f.begin()
	if f.policy.Settle(f, run, &r); !slices.Equal(f.ran, []string{"touch evil"}) || !strings.Contains(f.text(), "[x] new") || f.asked[askCommands] != "" {
		t.Errorf("run was %q, the plan is %q, and still asked %q", f.ran, f.text(), f.asked)
	}
}

// What an agent took out comes back, unless its user agrees to it; that counts from the next run on.
func TestAUserMayLetTasksGo(t *testing.T) {
	f := loopWith(t, two)
	f.book.Accepted = []string{"make one"}
	run := f.begin()
	f.write("- [ ] one (verify: make one)\n")
	f.policy.Settle(f, run, &judge.Report{Limited: true})
	if asked := f.asked[askLost]; !strings.HasPrefix(asked, "may the agent take out or change 1 task of PLAN.md?") || !strings.HasSuffix(asked, "\n- two") || f.book.Lost != 1 {
		t.Errorf("asked is %q, %d times", asked, f.book.Lost)
	}
	f.yes[askLost]()
	if f.begin(); f.text() != "- [ ] one (verify: make one)\n" {
		t.Errorf("the plan is %q", f.text())
	}
	for i := range 2 * maxLost {
		f.write("- [ ] other\n")
		f.policy.Watch(f)
		if f.book.Lost != i+2 {
			t.Errorf("lost %d times", f.book.Lost)
		}
	}
}

// Why no task can be next.
func TestNoTaskCanBeNext(t *testing.T) {
	for text, want := range map[string]string{
		"- [ ] one\n":              "",
		"- [x] one\n":              "",
		"- [ ] one (after: two)\n": "nothing can be done of the plan: ",
		"no task":                  "PLAN.md",
	} {
		f := loopWith(t, text)
		if why := f.policy.Before(f); !strings.Contains(why, want) || (why == "") != (want == "") {
			t.Errorf("%q: %q, want %q", text, why, want)
		}
	}
	var none Policy
	var run setup.Run
	r := judge.Report{Verdict: promises.Verdict{Matched: true}}
	if none.Take(nil, &run); none.Before(nil) != "" || none.IsOwed() || none.IsOn() || run.TaskText != "" {
		t.Error("a loop without a plan wants something")
	}
	if none.Settle(nil, run, &r); !r.Verdict.Matched {
		t.Error("a promise doesn't count without a plan")
	}
	none.Watch(nil)
}

// Several tasks at once, and what lands of them.
func TestTasksSideBySide(t *testing.T) {
	f := loopWith(t, "- [ ] one\n- [ ] two\n- [ ] three (after: one)\n")
	f.cfg.Values.Workers = 2
	run := f.begin()
	if len(run.Batch) != 2 || run.TaskID != "" || run.TaskText != "one · two" {
		t.Fatalf("the run does %+v", run.Batch)
	}
	f.policy.Landed(f, Outcome{Done: []string{run.Batch[0].ID}, Alone: []string{run.Batch[1].ID}, Told: "two conflicts"})
	if f.text() != "- [x] one\n- [ ] two\n- [ ] three (after: one)\n" {
		t.Errorf("the plan is %q", f.text())
	}
	f.isIdle = true // what landed isn't opened again for it
	r := judge.Report{Outcome: loop.OutcomeOK}
	f.policy.Settle(f, run, &r)
	if got := fmt.Sprint(f.told, f.book.Alone); got != fmt.Sprintf("[two conflicts] [%s]", run.Batch[1].ID) || !strings.HasPrefix(f.text(), "- [x] one") || r.Verdict.Matched {
		t.Errorf("told is %s, and the plan is %q", got, f.text())
	}
	if run = f.begin(); len(run.Batch) != 0 || run.TaskText != "two" {
		t.Errorf("the next run does %q and %+v", run.TaskText, run.Batch)
	}
	f.policy.Settle(f, run, &r)
	if len(f.told) != 1 {
		t.Errorf("it is told again: %q", f.told)
	}
}

// What a plan that is done promises, and by what it is verified.
func TestWhatAPlanPromises(t *testing.T) {
	for name, tt := range map[string]struct {
		text, task string
		passed     int
		want       string
	}{
		"no check":     {"- [x] one\n- [x] two\n", "", 0, "all 2 tasks of PLAN.md||"},
		"some checks":  {"- [x] one (verify: make)\n- [x] two\n", "", 1, "all 2 tasks of PLAN.md|1 of 2 tasks by their own checks|guards of make, for 1 of 2 tasks"},
		"each checked": {"- [x] one (verify: make)\n- [x] two (verify: go vet)\n", "", 2, "all 2 tasks of PLAN.md|2 of 2 tasks by their own checks|guards of make && go vet"},
		"one of them":  {"- [x] one\n- [ ] two\n", "one", 0, `the task "one" of PLAN.md||`},
	} {
		f := loopWith(t, tt.text)
		f.cfg.Values.Task = tt.task
		f.policy.Before(f)
		for _, it := range f.policy.Plan().Tasks()[:tt.passed] {
			f.book.Pass(it.ID)
		}
		if !f.policy.IsDone() {
			t.Errorf("%s: it isn't done", name)
		}
		var r judge.Report
		f.policy.Promise(f, &r)
		if got := strings.Join([]string{r.Verdict.Promise, r.Verified, r.Guards}, "|"); got != tt.want || !r.Verdict.Matched {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
