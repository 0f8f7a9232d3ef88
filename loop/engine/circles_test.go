package engine

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// recorded is a loop of testdata/circles.
type recorded struct {
	name  string
	limit int
	runs  []recordedRun
}

type recordedRun struct {
	mark  string // "", "told" or "ends"
	tree  string // "" is unknown
	facts []string
}

func readRecorded(t *testing.T, name string) (all []recorded) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "circles", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(line, "== "); ok {
			name, limit, _ := strings.Cut(title, "; limit ")
			r := recorded{name: name, limit: 5}
			if limit != "" {
				if r.limit, err = strconv.Atoi(limit); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, r)
			continue
		}
		if line == "" {
			continue
		}
		if len(line) < 11 || len(all) == 0 {
			t.Fatalf("%s: %q is no run", name, line)
		}
		run := recordedRun{mark: strings.TrimSpace(line[:10]), tree: strings.Trim(line[10:11], "?")}
		if rest := strings.TrimSpace(line[11:]); strings.HasPrefix(rest, "refuted ") || strings.HasPrefix(rest, "checked ") {
			run.facts = []string{rest}
		} else if rest != "" {
			run.facts = strings.Split(rest, ", ")
		}
		r := &all[len(all)-1]
		r.runs = append(r.runs, run)
	}
	return all
}

// replay is a loop whose runs are told instead of made.
type replay struct {
	t *testing.T
	*Loop
	aside    uint64
	files    string
	isLost   bool // the last snapshot failed
	prompt   string
	guidance []loop.Guidance
	trees    []changes.Past
}

func newReplay(t *testing.T, limit int) *replay {
	r := &replay{t: t, files: "A", prompt: "Build it"}
	r.take(loopstate.InARow{}, limit)
	return r
}

// take lets a process take the loop up.
func (r *replay) take(counts loopstate.InARow, limit int) {
	r.Loop = bare(func(l *Loop) { l.engine.obs, l.engine.cfg = &watcher{}, setup.Config{Folder: r.t.TempDir()} })
	r.engine.snapshots.Circles.TakeUp(r.trees)
	r.engine.state.Counts.InARow, r.engine.state.Status.Limits.MaxUnchanged = counts, limit
}

var commandFact = regexp.MustCompile(`^bash (.*?)( fails)? for (\S+)$`)

// run makes a run, and says why the loop ends behind it.
func (r *replay) run(n int, run recordedRun) (told string, why loop.StopReason) {
	rep, after := judge.Report{Outcome: loop.OutcomeOK}, changes.State{Tree: run.tree}
	var calls []string
	var turn hats.Turn
	for _, fact := range run.facts {
		word, rest, _ := strings.Cut(fact, " ")
		switch {
		case fact == "commits":
			r.aside++
		case fact == "hides":
			after.Blind = true
		case word == "edit", word == "bash":
			calls = append(calls, fact)
		case word == "promises", word == "refuted", word == "checked":
			rep.Verdict.Matched, rep.Checked = word != "checked", word != "promises"
			if rest != "" {
				rest = "The last run said that all is done. That was checked, and it isn't: " + rest
			}
			r.engine.state.Proof.Refutation = rest
		case fact == "fails", fact == "rate limit", fact == "overloaded":
			rep.Outcome, rep.Limited, rep.Overloaded = loop.OutcomeError, fact == "rate limit", fact == "overloaded"
		case fact == "times out":
			rep.Outcome = loop.OutcomeTimeout
		case fact == "cancelled":
			rep.Outcome = loop.OutcomeCancelled
		case fact == "denied":
			rep.Exit.Result.Denials = []stream.Denial{{Tool: "Bash"}}
		case word == "hands":
			rep.Handed, turn.Hat.Name = 1, rest
		case word == "user":
			r.files = rest
		case fact == "steered":
			r.guidance = []loop.Guidance{{Text: "Look at the tests"}}
		case fact == "new prompt":
			r.prompt += "!"
		case fact == "resumed":
			r.take(r.engine.state.Counts.InARow, r.engine.state.Status.Limits.MaxUnchanged)
		default:
			r.t.Fatalf("nobody knows what %q is", fact)
		}
	}
	before := changes.State{Tree: r.files, Aside: 7, Blind: after.Blind}
	if run.tree == "" || r.isLost {
		before = changes.State{}
	}
	r.isLost = run.tree == ""
	r.engine.snapshots.Circles.Find(before, n-1)
	r.engine.snapshots.Found = r.engine.snapshots.Circles.Now
	if before.Tree == "" {
		r.engine.snapshots.Found = changes.State{}
	}
	now := &r.engine.state
	limits := now.Status.Limits
	told = r.engine.snapshots.Circles.Rule(now.Counts.NoProgress, limits.MaxUnchanged)
	now.Run.Deeds = deeds.Deeds{}
	r.act(calls)
	if after.Aside = 7 + r.aside; run.tree == "" {
		after = changes.State{}
	} else {
		r.files = run.tree
		r.trees = append(r.trees, changes.Past{Tree: run.tree, Iteration: n})
	}
	r.aside = 0
	r.engine.snapshots.Circles.Now = after
	r.engine.runs.noteProgress(setup.Run{Iteration: n, Turn: turn, Prompt: r.prompt, Guidance: r.guidance}, rep)
	if r.engine.snapshots.Circles.Now.Aside != 0 {
		r.engine.snapshots.Circles.Now.Aside = 7
	}
	r.guidance = nil
	return told, judge.Decide(rep, "", now.Counts, now.Base, verify.Check{}, limits)
}

// withSnapshots lets the loop know what git ignores.
func (r *replay) withSnapshots() {
	if r.engine.snapshots.Store != nil {
		return
	}
	put(r.t, filepath.Join(r.engine.cfg.Folder, ".gitignore"), "local/\n")
	store, err := changes.Create(r.t.Context(), r.engine.cfg.Folder, "ralph-test", changes.Options{Dir: r.t.TempDir()}, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.engine.snapshots.Store, r.engine.snapshots.Going = store, r.t.Context()
}

// act lets the run's tools work.
func (r *replay) act(calls []string) {
	r.t.Helper()
	now := time.Now()
	for i, fact := range calls {
		call, result, took := stream.ToolCall{ID: strconv.Itoa(i), Name: "bash"}, stream.ToolResult{ID: strconv.Itoa(i)}, time.Second
		if path, ok := strings.CutPrefix(fact, "edit "); ok {
			r.withSnapshots()
			call.Name, call.Input = "edit", []byte(`{"path":"`+path+`"}`)
		} else {
			m := commandFact.FindStringSubmatch(fact)
			if m == nil {
				r.t.Fatalf("%q is no command", fact)
			}
			call.Input, result.IsError = []byte(`{"command":"`+m[1]+`"}`), m[2] != ""
			var err error
			if took, err = time.ParseDuration(m[3]); err != nil {
				r.t.Fatal(err)
			}
		}
		r.engine.state.Run.Deeds.Begin(call, now)
		r.engine.state.Run.Deeds.End(result, now.Add(took))
	}
}

// No recorded loop that gets on is ended, or told anything; each that doesn't is
// told and ended where it says.
func TestRecordedLoops(t *testing.T) {
	for file, least := range map[string]int{"good.txt": 20, "bad.txt": 10} {
		all := readRecorded(t, file)
		if len(all) < least {
			t.Errorf("%s has %d loops", file, len(all))
		}
		for _, loop := range all {
			t.Run(strings.TrimSuffix(file, ".txt")+"/"+loop.name, func(t *testing.T) {
				r := newReplay(t, loop.limit)
				for i, run := range loop.runs {
					if file == "good.txt" && run.mark == "ends" {
						t.Fatal("a good loop doesn't end")
					}
					told, why := r.run(i+1, run)
					isPromised := len(run.facts) > 0 && run.facts[0] == "promises"
					if isEnd := why != "" && !isPromised; isEnd != (run.mark == "ends") {
						t.Fatalf("run %d %v: ends with %q", i+1, run, why)
					}
					if isTold := told != ""; isTold != (run.mark == "told" || run.mark == "ends" && loop.limit > 1) {
						t.Fatalf("run %d %v is told %q", i+1, run, told)
					}
					if why != "" && i < len(loop.runs)-1 {
						t.Fatalf("run %d is the last", i+1)
					}
				}
			})
		}
	}
}

// The same runs in a real folder: the loop is ended when it has to be, and never
// where it can't know.
func TestALoopThatTurnsInCirclesEnds(t *testing.T) {
	pages := func(t *testing.T, a string, contents ...string) (runs []run) {
		for _, content := range contents {
			runs = append(runs, writes(t, a, content))
		}
		return runs
	}
	for _, tt := range []struct {
		name      string
		limits    loop.Limits
		git       bool
		contents  []string
		want      loop.StopReason
		runs      int
		told, why string // the last run, and the user at the end
	}{
		{"nothing changes", loop.Limits{MaxUnchanged: 5}, true, []string{"1"}, loop.StopNoProgress, 6,
			"the last 4 iterations changed nothing. ", "the last 5 iterations changed nothing"},
		{"back and forth", loop.Limits{MaxUnchanged: 3}, true, []string{"1", "2", "1", "2", "1"}, loop.StopNoProgress, 5,
			"the last 2 iterations brought nothing new: the files are as they were after iteration 2. ", "the last 3 iterations brought nothing new: the files are as they were after iteration 1"},
		{"back to the beginning", loop.Limits{MaxUnchanged: 1}, true, []string{"1", "0"}, loop.StopNoProgress, 2,
			"", "the last iteration brought nothing new: the files are as they were before the loop"},
		{"small steps", loop.Limits{MaxUnchanged: 1, MaxIterations: 5}, true, []string{"1", "2", "3", "4", "5"}, loop.StopMaxIterations, 5, "", ""},
		{"the cap comes first", loop.Limits{MaxUnchanged: 1, MaxIterations: 2}, true, []string{"1"}, loop.StopMaxIterations, 2, "", ""},
		{"it may turn", loop.Limits{MaxIterations: 9}, true, []string{"1"}, loop.StopMaxIterations, 9, "", ""},
		{"without snapshots", loop.Limits{MaxUnchanged: 2, MaxIterations: 9}, false, []string{"1"}, loop.StopNoProgress, 3,
			"the last iteration changed nothing. ", "the last 2 iterations changed nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			a := filepath.Join(dir, "a")
			put(t, a, "0")
			configure := kept(t, dir)
			r := start(t, func(c *setup.Config) {
				if configure(c); !tt.git {
					c.Changes.Keep = 0
				}
				c.Limits = tt.limits
			}, pages(t, a, tt.contents...)...)
			end := r.over(tt.want, tt.runs)
			if told := r.told(tt.runs - 1); strings.Contains(told, "This loop makes no progress: ") != (tt.told != "") || !strings.Contains(told, tt.told) {
				t.Errorf("the last run was told %s", told)
			}
			if end.Error != tt.why {
				t.Errorf("ended as %q, want %q", end.Error, tt.why)
			}
			warned := 0
			if tt.told != "" {
				warned = 1
			}
			if n := r.log.count("such iterations in a row the loop ends (--max-unchanged-iterations)"); n != warned {
				t.Errorf("warned %d times:\n%s", n, strings.Join(r.log.lines, "\n"))
			}
			if left, err := r.file.Load(); tt.want == loop.StopNoProgress && (err != nil || left.StopReason != "no_progress" || left.StopError != tt.why || left.InARow.NoProgress != 0) {
				t.Errorf("left %+v, %v", left, err)
			}
		})
	}
}

// A loop that goes on after a crash has forgotten neither how often it turned nor
// where it has been; one that failed begins anew.
func TestALoopThatGoesOnKnowsItsCircles(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "0")
	configure := kept(t, dir)
	limited := func(c *setup.Config) { configure(c); c.Limits = loop.Limits{MaxUnchanged: 4} }
	ends := make(chan struct{})
	last := writes(t)
	last.lasts = time.Hour
	last.during = func() { close(ends) }
	r := start(t, limited, writes(t, a, "1"), writes(t, a, "0"), writes(t, a, "1"), last)
	<-ends
	if now := r.Status(); now.NoProgress != 2 {
		t.Errorf("%d iterations brought nothing new, want 2", now.NoProgress)
	}
	r.Interrupt()
	left, err := r.file.Load()
	if err != nil || left.InARow.NoProgress != 2 {
		t.Fatalf("left %+v, %v", left, err)
	}
	goOn := func(runs ...run) *rig {
		r, err := tryStart(t, &left, func(c *setup.Config) { limited(c); c.Continue = true }, runs...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	put(t, a, "0") // as the agent did, which was killed
	left.Begun = true
	r = goOn(writes(t, a, "1"), writes(t, a, "0"))
	end := r.over(loop.StopNoProgress, 2)
	if want := "the last 4 iterations brought nothing new: the files are as they were before the loop"; end.Error != want {
		t.Errorf("ended as %q, want %q", end.Error, want)
	}
	if left, err = r.file.Load(); err != nil {
		t.Fatal(err)
	}
	goOn(writes(t, a, "1")).over(loop.StopNoProgress, 4)
}

// Of an agent that prints nothing but text, nobody knows whether it waits.
func TestALongRunOfATextAgentMayWait(t *testing.T) {
	for took, want := range map[time.Duration]int{9 * time.Minute: 1, 10 * time.Minute: 0} {
		r := newReplay(t, 5)
		r.engine.cfg.Backend.Output = decode.FormatText
		r.engine.snapshots.Circles.Find(changes.State{Tree: "A"}, 0)
		r.engine.snapshots.Found = r.engine.snapshots.Circles.Now
		r.engine.runs.noteProgress(setup.Run{Iteration: 1}, judge.Report{Outcome: loop.OutcomeOK, Exit: backends.Exit{Duration: took}})
		if n := r.engine.state.Counts.NoProgress; n != want {
			t.Errorf("%v: %d, want %d", took, n, want)
		}
	}
}

func TestWhatTheUserChangesIsNoCircle(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "0")
	configure := kept(t, dir)
	r := prepare(t, nil, func(c *setup.Config) { configure(c); c.Limits = loop.Limits{MaxUnchanged: 3, MaxIterations: 6} }, writes(t))
	r.obs = hooked{r.log, func(e loop.Event) {
		if e, ok := e.(loop.IterationEnd); ok && e.Iteration%2 == 0 {
			put(t, a, strconv.Itoa(e.Iteration%4))
			r.engine.snapshots.Last = time.Time{} // the user took their time
		}
	}}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	r.over(loop.StopMaxIterations, 6)
}

func TestTheSameOutputInOtherWords(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"--- FAIL: TestParse (0.01s)", "--- FAIL: TestParse (12.3s)", true},
		{"FAIL example.com/app 0.018s", "FAIL example.com/app 1m2.5s", true},
		{"1 failed in 3.2 seconds", "1 failed in 1 second", true},
		{"Time:        2.135 s, estimated 3 s", "Time:        1 s", false},
		{"Time:        2.135 s", "Time:        1 s", true},
		{"panic: 0xc000012345 goroutine 18 [running]", "panic: 0xc00099 goroutine 7 [running]", true},
		{"open /tmp/pytest-of-ann/pytest-3/x: no file", "open /tmp/pytest-of-ann/pytest-4/x: no file", true},
		{"open /var/folders/zz/a1/T/x: no file", "open /var/folders/zz/b2/T/x: no file", true},
		{"dial 127.0.0.1:4312: refused", "dial 127.0.0.1:5999: refused", true},
		{"2026-01-02T17:35:07.123Z error", "2026-01-03T01:00:00Z error", true},
		{"[17:35:07] error", "[17:36:08] error", true},
		{"killed pid 4711", "killed pid 99", true},
		{"id 8f14e45f-ceea-467f-9634-5a1c7e3f1b2d", "id 00000000-ceea-467f-9634-5a1c7e3f1b2d", true},
		{"a  b\n c", "a b c", true},
		{"3 tests failed", "2 tests failed", false},
		{"parse_test.go:9: got 3", "parse_test.go:9: got 4", false},
		{"parse_test.go:9: got 3", "parse_test.go:10: got 3", false},
		{"exit 1", "exit 2", false},
		{"TestParse", "TestPrint", false},
	} {
		if same := deeds.Lasting(tt.a) == deeds.Lasting(tt.b); same != tt.same {
			t.Errorf("%q and %q: %q, %q", tt.a, tt.b, deeds.Lasting(tt.a), deeds.Lasting(tt.b))
		}
	}
}
