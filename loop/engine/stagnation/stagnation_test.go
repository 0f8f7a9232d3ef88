package stagnation

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// recorded is a loop of testdata.
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
	text := must.Read(t, filepath.Join("testdata", name))
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(line, "== "); ok {
			name, limit, _ := strings.Cut(title, "; limit ")
			r := recorded{name: name, limit: 5}
			if limit != "" {
				var err error
				r.limit, err = strconv.Atoi(limit)
				must.OK(t, err)
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
	t      *testing.T
	policy Policy
	n      int // runs in a row without progress
	limit  int

	aside  uint64
	files  string
	isLost bool // the last snapshot failed
	prompt string
	past   []changes.Past // for the next process
	taken  []changes.Past // by this one, as it took the loop up
}

var commandFact = regexp.MustCompile(`^bash (.*?)( fails)? for (\S+)$`)

// run makes a run, and says whether the loop ends behind it.
func (r *replay) run(n int, run recordedRun) (told string, isEnd bool) {
	now, after := Run{Iteration: n}, changes.State{Tree: run.tree}
	now.Outcome = loop.OutcomeOK
	commits := false
	for i, fact := range run.facts {
		word, rest, _ := strings.Cut(fact, " ")
		switch {
		case fact == "commits":
			commits = true
		case fact == "hides":
			after.Blind = true
		case word == "edit", word == "bash":
			r.act(&now.Tools, strconv.Itoa(i), fact)
		case word == "promises":
			now.Verdict.Matched = true
		case word == "refuted":
			now.Verdict.Matched, now.Checked = true, true
			now.Refutation = "The last run said that all is done. That was checked, and it isn't: " + rest
		case word == "checked":
			now.Checked = true
		case fact == "fails", fact == "rate limit", fact == "overloaded":
			now.Outcome, now.Limited, now.Overloaded = loop.OutcomeError, fact == "rate limit", fact == "overloaded"
		case fact == "times out":
			now.Outcome = loop.OutcomeTimeout
		case fact == "cancelled":
			now.Outcome = loop.OutcomeCancelled
		case fact == "denied":
			now.Exit.Result.Denials = []stream.Denial{{Tool: "Bash"}}
		case word == "hands":
			now.Handed, now.Hat = 1, rest
		case word == "user":
			r.files = rest
		case fact == "steered":
			now.IsTold = true
		case fact == "new prompt":
			r.prompt += "!"
		case fact == "resumed":
			r.policy, r.taken = Policy{}, slices.Clone(r.past)
		default:
			r.t.Fatalf("nobody knows what %q is", fact)
		}
	}
	now.Prompt = r.prompt
	if now.Found = (changes.State{Tree: r.files, Aside: r.aside, Blind: after.Blind}); run.tree == "" || r.isLost {
		now.Found = changes.State{}
	}
	r.policy.Before(now.Found, r.taken, n-1)
	r.taken = nil
	told = r.policy.Message(r.n, r.limit)
	if commits {
		r.aside++
	}
	if r.isLost = run.tree == ""; !r.isLost {
		after.Aside, r.files = r.aside, run.tree
		r.past = append(r.past, changes.Past{Tree: run.tree, Iteration: n})
		now.Left = after
	}
	isBeyond := func(files []string) bool {
		return slices.ContainsFunc(files, func(file string) bool { return strings.Contains(file, "local") })
	}
	r.n, _ = r.policy.CountUnchanged(now, r.n, r.limit, isBeyond)
	return told, r.limit > 0 && r.n >= r.limit
}

// act lets one of the run's tools work.
func (r *replay) act(tools *tooluse.Log, id, fact string) {
	r.t.Helper()
	call, result, took := stream.ToolCall{ID: id, Name: "bash"}, stream.ToolResult{ID: id}, time.Second
	if path, ok := strings.CutPrefix(fact, "edit "); ok {
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
	now := time.Now()
	tools.Begin(call, now)
	tools.End(result, now.Add(took))
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
				r := &replay{t: t, limit: loop.limit, files: "A", aside: 7, prompt: "Build it"}
				for i, run := range loop.runs {
					if file == "good.txt" && run.mark == "ends" {
						t.Fatal("a good loop doesn't end")
					}
					told, isEnd := r.run(i+1, run)
					if isEnd != (run.mark == "ends") {
						t.Fatalf("run %d %v: it ends: %t", i+1, run, isEnd)
					}
					if isTold := told != ""; isTold != (run.mark == "told" || run.mark == "ends" && loop.limit > 1) {
						t.Fatalf("run %d %v is told %q", i+1, run, told)
					}
					if isEnd && i < len(loop.runs)-1 {
						t.Fatalf("run %d is the last", i+1)
					}
				}
			})
		}
	}
}

// How many runs in a row made no progress after one more, where two before it hadn't, and what is said of them.
func TestWhatARunComesTo(t *testing.T) {
	a, b, none := changes.State{Tree: "A", Aside: 1}, changes.State{Tree: "B", Aside: 1}, changes.State{}
	run := func(found, left changes.State, also func(*Run)) Run {
		r := Run{Iteration: 9, Prompt: "Build it", Found: found, Left: left}
		if r.Outcome = loop.OutcomeOK; also != nil {
			also(&r)
		}
		return r
	}
	text := func(took time.Duration) func(*Run) {
		return func(r *Run) { r.IsText, r.Exit.Duration = true, took }
	}
	refuted := func(why string) func(*Run) {
		return func(r *Run) { r.Verdict.Matched, r.Checked, r.Refutation = true, true, why }
	}
	const changedNothing = "the last 3 iterations changed nothing"
	for name, tt := range map[string]struct {
		run   Run
		want  int
		words string // behind it
	}{
		"nothing":                        {run(a, a, nil), 3, changedNothing},
		"something":                      {run(a, b, nil), 0, ""},
		"a commit alone":                 {run(a, changes.State{Tree: "A", Aside: 2}, nil), 0, ""},
		"what can't be seen":             {run(a, changes.State{Tree: "A", Aside: 1, Blind: true}, nil), 2, ""},
		"unknown before it":              {run(none, a, nil), 2, ""},
		"unknown behind it":              {run(a, none, nil), 2, ""},
		"back to what was there":         {run(b, a, nil), 3, "the last 3 iterations brought nothing new: the files are as they were before the loop"},
		"a promise":                      {run(a, a, func(r *Run) { r.Verdict.Matched = true }), 0, ""},
		"the same refutation":            {run(a, b, refuted("make failed in 2s")), 3, "the last 3 iterations brought nothing new: its promise was refuted as the one before"},
		"another refutation":             {run(a, a, refuted("go vet failed")), 0, ""},
		"it failed":                      {run(a, a, func(r *Run) { r.Outcome = loop.OutcomeError }), 2, ""},
		"it failed, and wrote":           {run(a, b, func(r *Run) { r.Outcome = loop.OutcomeError }), 0, ""},
		"it was denied something":        {run(a, a, func(r *Run) { r.Exit.Result.Denials = make([]stream.Denial, 1) }), 2, ""},
		"it waited":                      {run(a, a, func(r *Run) { r.Tools.Waited = true }), 2, ""},
		"it wrote beyond":                {run(a, a, func(r *Run) { r.Tools.Wrote = []string{"beyond"} }), 0, ""},
		"it wrote what is back":          {run(a, a, func(r *Run) { r.Tools.Wrote = []string{"within"} }), 3, changedNothing},
		"text, 9 minutes":                {run(a, a, text(9*time.Minute)), 3, changedNothing},
		"text, 10 minutes: it may wait":  {run(a, a, text(10*time.Minute)), 2, ""},
		"the user has said something":    {run(a, a, func(r *Run) { r.IsTold = true }), 1, "the last iteration changed nothing"},
		"the user has changed the words": {run(a, a, func(r *Run) { r.Prompt = "Mend it" }), 1, "the last iteration changed nothing"},
		"a hat has handed over":          {run(a, a, func(r *Run) { r.Handed, r.Hat = 1, "builder" }), 2, ""},
	} {
		p := Policy{refuted: "make failed in ~"}
		for range 2 {
			p.Before(a, nil, 0)
			p.CountUnchanged(run(a, a, nil), 0, 0, nil)
		}
		n, _ := p.CountUnchanged(tt.run, 2, 9, func(files []string) bool { return slices.Contains(files, "beyond") })
		if n != tt.want || tt.words != "" && p.Text(n) != tt.words {
			t.Errorf("%s: %d, want %d; %s", name, n, tt.want, p.Text(n))
		}
	}
}

// What is in the folder before a run says whether its user has been there.
func TestWhatTheUserChangesBeginsTheCountAnew(t *testing.T) {
	a, b, none := changes.State{Tree: "A", Aside: 1}, changes.State{Tree: "B", Aside: 1}, changes.State{}
	for name, tt := range map[string]struct {
		policy Policy
		past   []changes.Past
		found  changes.State
		want   int
	}{
		"as it was left":                       {Policy{now: a}, nil, a, 3},
		"another file":                         {Policy{now: a}, nil, b, 1},
		"a commit":                             {Policy{now: a}, nil, changes.State{Tree: "A", Aside: 2}, 1},
		"nobody knows how it was left":         {Policy{now: none}, nil, b, 3},
		"nobody knew of commits":               {Policy{now: changes.State{Tree: "A"}}, nil, a, 3},
		"a run that was cut off wrote":         {Policy{now: a, CutOff: true}, nil, b, 3},
		"another process left it so":           {Policy{}, []changes.Past{{Tree: "A"}, {Tree: "B", Iteration: 1}}, b, 3},
		"changed since another process had it": {Policy{}, []changes.Past{{Tree: "B"}, {Tree: "A", Iteration: 1}}, b, 1},
	} {
		p := tt.policy
		p.Before(tt.found, tt.past, 1)
		if p.CutOff {
			t.Errorf("%s: the run that was cut off counts twice", name)
		}
		r := Run{Iteration: 2, Found: tt.found, Left: tt.found}
		r.Outcome = loop.OutcomeOK
		if n, _ := p.CountUnchanged(r, 2, 9, nil); n != tt.want {
			t.Errorf("%s: %d, want %d", name, n, tt.want)
		}
	}
	p := Policy{CutOff: true, now: a}
	if p.Before(none, nil, 1); !p.CutOff {
		t.Error("where nobody can tell, what was cut off is forgotten")
	}
}

// Whoever goes on knows what the process before it knew.
func TestAPolicyIsResumed(t *testing.T) {
	for name, tt := range map[string]struct {
		state loopstate.State
		want  string
	}{
		"a new loop":         {loopstate.State{}, "false \"\" \"\""},
		"cut off":            {loopstate.State{Begun: true}, "true \"\" \"\""},
		"stopped behind one": {loopstate.State{Begun: true, Failed: loopstate.Failed{StopReason: "failures"}}, "false \"\" \"\""},
		"what it knew":       {loopstate.State{Stuck: "`make` failed 21 times", Refutation: "it took 3s"}, "false \"`make` failed 21 times\" \"it took ~\""},
	} {
		p := Resume(tt.state)
		if got := fmt.Sprintf("%t %q %q", p.CutOff, p.Repeated, p.refuted); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// The user is warned once, when the next run is told, and never of what doesn't end the loop.
func TestWhenIsWarned(t *testing.T) {
	for limit, want := range map[int]string{0: "", 1: "", 2: "1", 3: "2", 5: "3", 9: "3"} {
		var p Policy
		var warned []string
		n, a := 0, changes.State{Tree: "A"}
		for range cmp.Or(limit, 5) {
			r := Run{Found: a, Left: a}
			r.Outcome = loop.OutcomeOK
			p.Before(a, nil, 0)
			var warning string
			if n, warning = p.CountUnchanged(r, n, limit, nil); warning != "" {
				warned = append(warned, strconv.Itoa(n))
				if told := p.Message(n, limit); !strings.Contains(told, strings.Split(warning, ":")[0]) || !strings.HasSuffix(told, "such iterations in a row the loop ends.") {
					t.Errorf("limit %d: the user is told %q, and the next run %q", limit, warning, told)
				}
			}
		}
		if got := strings.Join(warned, " "); got != want || n != limit {
			t.Errorf("limit %d: warned after %q of %d, want %q", limit, got, n, want)
		}
	}
}

func TestTheTreesOfALoopAreBounded(t *testing.T) {
	var p Policy
	for i := range 10_000 {
		p.Before(changes.State{Tree: strconv.Itoa(i)}, nil, i)
	}
	for i := range 10_000 {
		p.CountUnchanged(Run{Iteration: i, Left: changes.State{Tree: strconv.Itoa(i)}}, 0, 0, nil)
	}
	if n := p.trees.Len(); n > stream.MaxRecent {
		t.Errorf("%d trees are kept", n)
	}
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
		if same := withoutChance(tt.a) == withoutChance(tt.b); same != tt.same {
			t.Errorf("%q and %q: %q, %q", tt.a, tt.b, withoutChance(tt.a), withoutChance(tt.b))
		}
	}
}
