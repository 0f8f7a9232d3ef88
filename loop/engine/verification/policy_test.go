package verification

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// fake is a loop whose gates say what they are to say, and pass where nothing is left of that.
type fake struct {
	says   map[verify.Gate][]verify.Result
	users  []string // what its user wants in each pause: "accept", "again" or "end"
	asked  []verify.Gate
	given  []string // the verdicts that the last gate was given
	pauses []string
	warned []string
}

func (f *fake) Ask(g verify.Gate, verdicts []string) (r verify.Result, ok bool) {
	f.asked, f.given = append(f.asked, g), slices.Clone(verdicts)
	r = verify.Result{State: verify.Verified, Why: "passed"}
	if rest := f.says[g]; len(rest) > 0 {
		f.says[g], r = rest[1:], rest[0]
	}
	return r, r.Why != "is stopped"
}

func (f *fake) Pause(why string) (accepted, ok bool) {
	f.pauses = append(f.pauses, why)
	wants := f.users[0]
	f.users = f.users[1:]
	return wants == "accept", wants != "end"
}

func (f *fake) Guards() string   { return "a test" }
func (f *fake) Warn(text string) { f.warned = append(f.warned, text) }

// all is a check with each gate.
func all(when verify.When) verify.Check {
	return verify.Check{Shell: "make", When: when, Diagnostics: verify.DiagnosticsNoNew, Protect: []string{"*_test.go"}, Reviewer: "critic"}
}

var (
	no      = verify.Result{State: verify.Refuted, Why: "said no"}
	unsure  = Unchecked("can't tell")
	nothing = verify.Result{State: verify.Unchecked, Why: "ran no test", Empty: true}
	stopped = verify.Result{Why: "is stopped"}
)

const (
	command     = verify.CommandGate
	diagnostics = verify.DiagnosticsGate
	protect     = verify.ProtectGate
	reviewer    = verify.ReviewerGate
)

// What becomes of a run's work, by what the gates say and its user wants.
func TestTheGatesInARow(t *testing.T) {
	type says = map[verify.Gate][]verify.Result
	const noPromise = ""
	for name, tt := range map[string]struct {
		when     verify.When
		promised string
		says     says
		users    []string
		asked    []verify.Gate
		passed   bool
		refuted  int    // in a row, behind one before it
		left     string // of the state: "checking", "refuted", ""
	}{
		"all pass":                        {verify.OnPromise, "DONE", nil, nil, verify.Gates(), true, 0, ""},
		"the command says no":             {verify.OnPromise, "DONE", says{command: {no}}, nil, verify.Gates()[:1], false, 2, "refuted"},
		"the reviewer says no":            {verify.OnPromise, "DONE", says{reviewer: {no}}, nil, verify.Gates(), false, 2, "refuted"},
		"it is stopped":                   {verify.OnPromise, "DONE", says{protect: {stopped}}, nil, verify.Gates()[:3], false, 1, "checking"},
		"can't tell, and is asked again":  {verify.OnPromise, "DONE", says{protect: {unsure, unsure}}, []string{"again", "again"}, []verify.Gate{command, diagnostics, protect, protect, protect, reviewer}, true, 0, ""},
		"can't tell, and is accepted":     {verify.OnPromise, "DONE", says{command: {unsure}}, []string{"accept"}, verify.Gates(), true, 0, ""},
		"can't tell, and the loop ends":   {verify.OnPromise, "DONE", says{command: {unsure}}, []string{"end"}, verify.Gates()[:1], false, 1, "checking"},
		"no test, and a promise":          {verify.OnPromise, "DONE", says{command: {nothing}}, []string{"end"}, verify.Gates()[:1], false, 1, "checking"},
		"each run, all pass":              {verify.OnEach, noPromise, nil, nil, verify.Gates()[:2], false, 0, ""},
		"each run, no":                    {verify.OnEach, noPromise, says{diagnostics: {no}}, nil, verify.Gates()[:2], false, 1, "refuted"},
		"each run, can't tell":            {verify.OnEach, noPromise, says{command: {unsure}}, nil, verify.Gates()[:1], false, 1, ""},
		"each run, and a promise":         {verify.OnEach, "DONE", nil, nil, verify.Gates(), true, 0, ""},
		"until all pass":                  {verify.OnUntil, noPromise, nil, nil, verify.Gates(), true, 0, ""},
		"until, and no":                   {verify.OnUntil, noPromise, says{command: {no}}, nil, verify.Gates()[:1], false, 1, "refuted"},
		"until, and the reviewer's no":    {verify.OnUntil, noPromise, says{reviewer: {no}}, nil, verify.Gates(), false, 2, "refuted"},
		"until, and no test":              {verify.OnUntil, noPromise, says{command: {nothing}}, nil, verify.Gates()[:1], false, 1, "refuted"},
		"until, can't tell, and accepted": {verify.OnUntil, noPromise, says{protect: {unsure}}, []string{"accept"}, verify.Gates(), true, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			host := &fake{says: tt.says, users: tt.users}
			p := Policy{all(tt.when), State{Verification: loopstate.Verification{Checking: true, Promised: tt.promised}}}
			var r judge.Report
			tally := judge.Tally{}
			tally.Refuted = 1
			p.Settle(&r, &tally, host)
			if !slices.Equal(host.asked, tt.asked) || len(host.users) > 0 || len(host.warned) > 0 {
				t.Errorf("asked were %v, want %v; %v left, warned of %q", host.asked, tt.asked, host.users, host.warned)
			}
			left := map[bool]string{p.Checking: "checking", p.Refutation != "": "refuted"}[true]
			if r.Passed != tt.passed || tally.Refuted != tt.refuted || left != tt.left || (r.Guards != "") != tt.passed || (r.Verified != "") != tt.passed {
				t.Errorf("it passed: %t (%q, %q), %d refuted, left is %q: %+v", r.Passed, r.Verified, r.Guards, tally.Refuted, left, p.State)
			}
			isTold := tt.refuted == 2
			if (r.Problem != "") != isTold || left == "refuted" && !strings.Contains(strings.ReplaceAll(p.Refutation, "`", ""), p.Check.Subject(host.asked[len(host.asked)-1])+" ") {
				t.Errorf("the problem is %q, the next run is told %q", r.Problem, p.Refutation)
			}
			if len(host.pauses) != len(tt.users) {
				t.Errorf("it pauses for %q", host.pauses)
			}
		})
	}
}

// A gate is given what those before it said, and so is the end.
func TestVerdictsAreHandedOn(t *testing.T) {
	host := &fake{says: map[verify.Gate][]verify.Result{protect: {Unchecked("can't\ntell")}}, users: []string{"accept"}}
	p := Policy{all(verify.OnPromise), State{Verification: loopstate.Verification{Checking: true, Promised: "DONE"}}}
	var r judge.Report
	p.Settle(&r, &judge.Tally{}, host)
	want := []string{"make passed", p.Check.Subject(diagnostics) + " passed", "protected files can't tell (the user accepts that)"}
	if !slices.Equal(host.given, want) || r.Verified != strings.Join(want, ", ")+", "+p.Check.Subject(reviewer)+" passed" {
		t.Errorf("the last gate is given %q, the end %q", host.given, r.Verified)
	}
	if host.pauses[0] != "protected files can't tell" {
		t.Errorf("it pauses for %q", host.pauses[0])
	}
}

// A promise that its user accepts asks no gate.
func TestAPromiseIsAccepted(t *testing.T) {
	host := &fake{}
	p := Resume(all(verify.OnPromise), loopstate.State{Verification: loopstate.Verification{Checking: true, Promised: "DONE"}, Accept: true})
	r, isDue := p.Before()
	if !isDue || !r.Checked || r.Verdict.Promise != "DONE" || r.Verdict.Matched {
		t.Fatalf("it is due: %t, %+v", isDue, r)
	}
	p.Settle(&r, &judge.Tally{}, host)
	if !r.Passed || r.Verified != "the user's word" || r.Guards != "a test" || len(host.asked) > 0 || len(host.warned) != 1 || p.State != (State{}) {
		t.Errorf("%+v, asked %v, warned of %q, left %+v", r, host.asked, host.warned, p.State)
	}
}

// What is due before any run, by what the state file says.
func TestWhatIsDueBeforeAnyRun(t *testing.T) {
	owed := loopstate.State{Verification: loopstate.Verification{Checking: true, Promised: "DONE"}, Refutation: "it failed"}
	accepted := owed
	accepted.Accept = true
	paused := owed
	paused.Unchecked = "no compiler"
	for name, tt := range map[string]struct {
		check verify.Check
		state loopstate.State
		want  string
	}{
		"a new loop":                         {all(verify.OnPromise), loopstate.State{}, "false {}"},
		"one that ends when a check passes":  {all(verify.OnUntil), loopstate.State{}, "true {checking}"},
		"what was promised":                  {all(verify.OnPromise), owed, "true {checking DONE it failed}"},
		"what could not be checked":          {all(verify.OnPromise), paused, "true {checking DONE it failed}"},
		"what was promised, and is accepted": {all(verify.OnPromise), accepted, "true {checking DONE it failed accepted}"},
		"nobody verifies any more":           {verify.Check{}, owed, "false {it failed}"},
		"nobody does, but it is accepted":    {verify.Check{}, accepted, "true {checking DONE it failed accepted}"},
		"accepted, and nothing was promised": {all(verify.OnPromise), loopstate.State{Accept: true}, "false {}"},
	} {
		p := Resume(tt.check, tt.state)
		_, isDue := p.Before()
		var words []string
		for word, is := range map[string]bool{"1checking": p.Checking, "2" + p.Promised: p.Promised != "", "3" + p.Refutation: p.Refutation != "", "4accepted": p.Accepted, "5" + p.Unchecked: p.Unchecked != ""} {
			if is {
				words = append(words, word)
			}
		}
		slices.Sort(words)
		for i := range words {
			words[i] = words[i][1:]
		}
		if got := fmt.Sprintf("%t {%s}", isDue, strings.Join(words, " ")); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		var kept loopstate.State
		if p.Keep(&kept); kept.Verification != p.Verification || kept.Refutation != p.Refutation {
			t.Errorf("%s: kept is %+v", name, kept)
		}
	}
}

// Which runs are verified.
func TestWhichRunsAreVerified(t *testing.T) {
	promise := promises.Verdict{Matched: true, Promise: "DONE"}
	for name, tt := range map[string]struct {
		run  judge.Report
		want string // of promise, each and until: those by which it is
	}{
		"a promise":               {judge.Report{Outcome: loop.OutcomeOK, Verdict: promise}, "promise each until"},
		"no promise":              {judge.Report{Outcome: loop.OutcomeOK}, "each until"},
		"it failed":               {judge.Report{Outcome: loop.OutcomeError}, "until"},
		"it failed, and promised": {judge.Report{Outcome: loop.OutcomeError, Verdict: promise}, "promise each until"},
		"it was cancelled":        {judge.Report{Outcome: loop.OutcomeCancelled}, ""},
		"it was refused":          {judge.Report{Outcome: loop.OutcomeError, Limited: true}, ""},
		"it never began":          {judge.Report{Outcome: loop.OutcomeError, NeverBegan: true}, ""},
	} {
		var by []string
		for _, when := range []verify.When{verify.OnPromise, verify.OnEach, verify.OnUntil} {
			r, p := tt.run, Policy{all(when), State{Refutation: "before"}}
			isDue := p.After(&r)
			if isDue {
				by = append(by, strings.TrimPrefix(string(when), "on_"))
			}
			want := State{Refutation: "before"}
			if isDue {
				want = State{Verification: loopstate.Verification{Checking: true, Promised: r.Verdict.Promise}}
			}
			if r.Checked != isDue || p.State != want {
				t.Errorf("%s, %s: checked: %t, left %+v", name, when, r.Checked, p.State)
			}
		}
		if got := strings.Join(by, " "); got != tt.want {
			t.Errorf("%s: verified by %q, want %q", name, got, tt.want)
		}
		if r, p := tt.run, (Policy{}); p.After(&r) || r.Checked {
			t.Errorf("%s: it is verified without a check", name)
		}
	}
}

func TestTheNextRunIsToldAllOfIt(t *testing.T) {
	var p Policy
	for _, text := range []string{"", "one", "", "two"} {
		p.Tell(text)
	}
	if p.Refutation != "one\n\ntwo" {
		t.Errorf("it is told %q", p.Refutation)
	}
}
