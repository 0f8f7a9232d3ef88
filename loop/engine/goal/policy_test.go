package goal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

func loopWith(t *testing.T) (*setup.Config, *Policy) {
	cfg := &setup.Config{Folder: t.TempDir()}
	p := New(cfg, "ralph-a")
	return cfg, &p
}

// What is told of a prompt, by what it speaks of and what the loop waits for.
func TestWhatIsToldOfAPrompt(t *testing.T) {
	for name, tt := range map[string]struct {
		prompt, promise string
		want            []string // the beginning of each warning, and what it offers
	}{
		"nothing":           {"Build it", "", nil},
		"the loop's own":    {"Say <promise>DONE</promise>", "DONE", nil},
		"another one":       {"Say <promise>READY</promise>", "DONE", []string{"the prompt speaks of <promise>READY</promise>, but this loop waits for <promise>DONE</promise> [READY]"}},
		"one, and none set": {"Say <promise>READY</promise>", "", []string{"the prompt speaks of <promise>READY</promise>, but this loop has no promise [READY]"}},
		"a byte":            {"Build\n\xffit", "", []string{"the agent gets another prompt than the state file has: in its line 2, column 1 has the byte 0xFF []"}},
	} {
		_, p := loopWith(t)
		told := p.Before(tt.prompt, tt.promise)
		if len(told) != len(tt.want) {
			t.Errorf("%s: told is %+v", name, told)
			continue
		}
		for i, w := range told {
			begin, offer, _ := strings.Cut(tt.want[i], " [")
			if got := fmt.Sprint(w.Offer.Promises); !strings.HasPrefix(w.Message, begin) || got != "["+offer || len(w.Offer.Promises) > 0 && (w.Offer.LoopID != "ralph-a" || w.Offer.Folder == "") {
				t.Errorf("%s: told is %q with %+v", name, w.Message, w.Offer)
			}
		}
		if again := p.Before(tt.prompt, tt.promise); again != nil {
			t.Errorf("%s: told again is %+v", name, again)
		}
	}
}

// The same words are told once, even of another prompt; other words are told.
func TestStrayPromisesAreToldOnce(t *testing.T) {
	_, p := loopWith(t)
	for i, tt := range []struct {
		prompt, promise string
		want            int
	}{
		{"Say <promise>READY</promise>", "", 1},
		{"Say it: <promise>READY</promise>", "", 0},
		{"Say it: <promise>READY</promise>", "DONE", 1},
		{"Build it", "DONE", 0},
		{"Say it: <promise>READY</promise>", "DONE", 1},
	} {
		if told := p.Before(tt.prompt, tt.promise); len(told) != tt.want {
			t.Errorf("%d: told is %+v", i, told)
		}
	}
}

// What is told of a promise that was nearly kept, and what the next run is.
func TestWhatIsToldOfNearMisses(t *testing.T) {
	miss := func(kind stream.NearKind, found string) promises.Verdict {
		return promises.Verdict{Near: true, Kind: kind, Found: found, Expected: "DONE", Why: "it doesn't count"}
	}
	for name, tt := range map[string]struct {
		plan    string
		verdict promises.Verdict
		ran     string // the promise that the run had to keep
		promise string // the loop's by now
		want    string // told, new, and offered
		next    string
	}{
		"no miss":                    {"", promises.Verdict{}, "DONE", "DONE", "false false []", ""},
		"none is set":                {"", miss(promises.NearUnset, "READY"), "", "", "true true [READY]", ""},
		"none that could be":         {"", miss(promises.NearUnset, "</promise>"), "", "", "true true []", ""},
		"none that can be shown":     {"", miss(promises.NearUnset, "a\x1bb"), "", "", "true true []", ""},
		"where it doesn't count":     {"", miss(promises.NearQuote, "DONE"), "DONE", "DONE", "true true []", "The last iteration spoke of the end of this loop"},
		"another promise was set":    {"", miss(promises.NearQuote, "DONE"), "", "DONE", "false false []", "The last iteration spoke of the end of this loop"},
		"a plan needs no promise":    {"PLAN.md", miss(promises.NearQuote, "DONE"), "DONE", "DONE", "false false []", ""},
		"it promised, and it counts": {"", promises.Verdict{Matched: true}, "DONE", "DONE", "false false []", ""},
	} {
		cfg, p := loopWith(t)
		cfg.Values.Plan = tt.plan
		r := judge.Report{Verdict: tt.verdict, Promise: tt.ran}
		m, isNear, isNew := p.After(r, tt.promise)
		if got := fmt.Sprint(isNear, isNew, m.Offer.Promises); got != tt.want || isNear && (m.Found != tt.verdict.Found || m.Why == "" || m.Expected == "") {
			t.Errorf("%s: %s, want %s: %+v", name, got, tt.want, m)
		}
		if !strings.HasPrefix(p.Next, tt.next) || (p.Next == "") != (tt.next == "") {
			t.Errorf("%s: the next run is told %q", name, p.Next)
		}
		if _, again, isNew := p.After(r, tt.promise); again != isNear || isNew {
			t.Errorf("%s: it is told again", name)
		}
	}
	_, p := loopWith(t)
	p.After(judge.Report{TopicMisses: []stream.TopicMiss{{Why: "no hat listens to it"}}}, "")
	if p.Next != "Of the last iteration: no hat listens to it" {
		t.Errorf("of a topic the next run is told %q", p.Next)
	}
}

// Each kind is new once for each promise.
func TestKindsOfMisses(t *testing.T) {
	_, p := loopWith(t)
	var got []string
	for _, promise := range []string{"DONE", "DONE", "READY", "READY"} {
		got = append(got, fmt.Sprint(p.IsNew("a", promise)), fmt.Sprint(p.IsNew("b", promise)))
	}
	if want := "true true false false true true false false"; strings.Join(got, " ") != want {
		t.Errorf("new are %s", got)
	}
}

// What ends a loop, and that it is told once.
func TestTheGoal(t *testing.T) {
	told := func(g loop.Goal) string {
		return strings.Join([]string{g.Promise, g.From, g.Plan, g.Verify, g.Until, g.Suggested, g.Money}, "|")
	}
	for name, tt := range map[string]struct {
		with    func(*setup.Config)
		promise string
		want    string
	}{
		"nothing":   {func(*setup.Config) {}, "", "||||||"},
		"a promise": {func(c *setup.Config) { c.PromiseFrom = "start" }, "DONE", "DONE|start|||||"},
		"a check": {func(c *setup.Config) { c.Verification.Check = verify.Check{Shell: "make", When: verify.OnPromise} }, "",
			"|||make|||"},
		"until": {func(c *setup.Config) { c.Verification.Check = verify.Check{Shell: "make", When: verify.OnUntil} }, "",
			"||||make||"},
		"a plan":      {func(c *setup.Config) { c.Values.Plan = "PLAN.md" }, "", "||the 1 task of PLAN.md are done||||"},
		"could check": {func(c *setup.Config) { c.Verification.Suggested.Command = "go test" }, "", "|||||go test|"},
		"a budget":    {func(c *setup.Config) { c.Budget = budget.Book{Limits: budget.Limits{PerDay: 5}} }, "", "||||||" + budget.Book{Limits: budget.Limits{PerDay: 5}}.Text()},
	} {
		cfg, p := loopWith(t)
		must.OK(t, os.WriteFile(filepath.Join(cfg.Folder, "PLAN.md"), []byte("- [ ] one\n"), 0o600))
		tt.with(cfg)
		g, ok := p.Goal(loop.Status{Promise: tt.promise})
		if got := told(g); !ok || got != tt.want {
			t.Errorf("%s: %t %s, want %s", name, ok, got, tt.want)
		}
		if _, ok := p.Goal(loop.Status{}); ok {
			t.Errorf("%s: it is told again", name)
		}
	}
}

// A loop that another process has handed on tells its goal no more, unless its promise is another one now.
func TestAGoalOfALoopThatGoesOn(t *testing.T) {
	found := loopstate.State{Prompt: "Say <promise>READY</promise>", Values: settings.Values{Given: limits.Given{Promise: new("DONE")}}, Iteration: 3, Begun: true}
	other, same := "READY", "DONE"
	for name, tt := range map[string]struct {
		once   bool
		change *string
		found  loopstate.State
		isTold bool
	}{
		"its user goes on":         {false, nil, found, false},
		"handed on":                {true, nil, found, true},
		"handed on, promise as is": {true, &same, found, true},
		"with another promise":     {true, &other, found, false},
		"before the first run":     {true, nil, loopstate.State{Prompt: found.Prompt, Values: settings.Values{Given: limits.Given{Promise: new("DONE")}}, Iteration: 1}, false},
	} {
		cfg := &setup.Config{Folder: t.TempDir(), Once: tt.once, Continue: true}
		cfg.Change.Promise = tt.change
		p := Resume(cfg, "ralph-a", tt.found)
		if _, ok := p.Goal(loop.Status{}); ok == tt.isTold {
			t.Errorf("%s: the goal is told: %t", name, ok)
		}
		if told := p.Before(tt.found.Prompt, tt.found.CompletionPromise()); (len(told) == 0) != tt.isTold {
			t.Errorf("%s: of its prompt is told %v", name, told)
		}
	}
}

func TestWhatEndsALoopWithoutAnEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		now   loop.Status
		until bool
		plan  string
		want  string
	}{
		"nothing":      {loop.Status{}, false, "", "only you or the word LOOP_COMPLETE will"},
		"its time":     {loop.Status{Limits: loop.Limits{MaxDuration: 1}}, false, "", "only you, the time limit or the word LOOP_COMPLETE will"},
		"iterations":   {loop.Status{Limits: loop.Limits{MaxIterations: 1}}, false, "", ""},
		"a cost cap":   {loop.Status{Limits: loop.Limits{MaxCostUSD: 1}}, false, "", ""},
		"a promise":    {loop.Status{Promise: "DONE"}, false, "", ""},
		"a check":      {loop.Status{}, true, "", ""},
		"a plan's end": {loop.Status{}, false, "PLAN.md", ""},
	} {
		cfg, p := loopWith(t)
		if cfg.Values.Plan = tt.plan; tt.until {
			cfg.Verification.Check.When = verify.OnUntil
		}
		if got := p.Endless(tt.now); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
