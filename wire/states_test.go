package wire

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// exampleStates has one loop in each of its states. The editors' tests walk it too.
func exampleStates() []LoopStatus {
	var examples []LoopStatus
	for _, s := range []loop.Status{
		{State: loop.StateStarting}, {State: loop.StateRunning}, {State: loop.StatePaused}, {State: loop.StateCancelling},
		{State: loop.StateInterrupted, Ended: loop.Ended{StopReason: loop.StopInterrupted}},
		{State: loop.StateWaiting, Work: loop.Work{Retry: &loop.RetryStatus{Attempt: 2, Reason: loop.WaitRateLimit}}},
		{State: loop.StateWaiting, Work: loop.Work{Questions: []ask.Question{exampleQuestion}, Allowed: []string{"Bash(go test:*)"}}},
		{State: loop.StateFailed, Ended: loop.Ended{StopReason: loop.StopFailures, Error: "500 overloaded", EndedAt: noon}},
		{State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopMaxCost, EndedAt: noon}},
	} {
		s.LoopID, s.Folder, s.Session.Backend = "ralph-"+string(s.State), "/w/"+string(s.State), "pi"
		s.Iteration, s.Limits, s.Cost = 3, loop.Limits{MaxIterations: 50, MaxCostUSD: 10}, stream.USD(1.42)
		examples = append(examples, StatusOf(s, !s.State.Left()))
	}
	return examples
}

// TestEveryStateIsKnownEverywhere names the places that have forgotten a state.
func TestEveryStateIsKnownEverywhere(t *testing.T) {
	all := constants(t, "../loop", "State")
	for _, state := range all {
		forgot := func(where string) { t.Errorf("%s has forgotten the state %q", where, state) }
		if _, ok := states[loop.State(state)]; !ok {
			forgot("wire/states.go")
		}
		at := slices.IndexFunc(exampleStates(), func(l LoopStatus) bool { return l.State == state })
		if at < 0 {
			forgot("exampleStates")
			continue
		}
		l := exampleStates()[at]
		if doing(l) == "" && state != string(loop.StateRunning) {
			forgot("what a loop is doing")
		}
		if TextOf(l) == "" || NewStatus([]LoopStatus{l}).Message == "Ralph" {
			forgot("the line of the status")
		}
		if factsOf(l).live == loop.State(state).Over() {
			forgot("loop.State.Over, or the live states")
		}
	}
	if len(states) != len(all)+1 { // and idle
		t.Errorf("wire/states.go has %d states, the loop %d", len(states), len(all))
	}
}

func TestALoopNearALimitIsAWarning(t *testing.T) {
	for name, tt := range map[string]struct {
		s    loop.Status
		want Class
	}{
		"far":                  {loop.Status{Iteration: 40, Limits: loop.Limits{MaxIterations: 50}}, ClassInfo},
		"iterations":           {loop.Status{Iteration: 41, Limits: loop.Limits{MaxIterations: 50}}, ClassWarning},
		"the only iteration":   {loop.Status{Iteration: 1, Limits: loop.Limits{MaxIterations: 1}}, ClassInfo},
		"money":                {loop.Status{Usage: loop.Usage{Cost: stream.USD(8)}, Limits: loop.Limits{MaxCostUSD: 10}}, ClassWarning},
		"time":                 {loop.Status{Usage: loop.Usage{Spent: 50 * time.Minute}, Limits: loop.Limits{MaxDuration: time.Hour}}, ClassWarning},
		"unlimited":            {loop.Status{Iteration: 1000, Usage: loop.Usage{Spent: time.Hour}}, ClassInfo},
		"over, as it was told": {loop.Status{State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopPromise}, Iteration: 50, Limits: loop.Limits{MaxIterations: 50}}, ClassOK},
	} {
		if tt.s.State == "" {
			tt.s.State = loop.StateRunning
		}
		if got := StatusOf(tt.s, true).Class; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestTitlesTellLoopsApart(t *testing.T) {
	tree := &worktree.Tree{Repo: "/w/app", Branch: "ralph/x"}
	for _, tt := range []struct {
		name string
		of   []loop.Status
		want []string
	}{
		{"by their prompts", []loop.Status{{Folder: "/w/one/app", Title: "Build X"}, {Folder: "/w/two/app", Title: "Build Y"}}, []string{"Build X", "Build Y"}},
		{"without one", []loop.Status{{Folder: "/w/app"}}, []string{"app"}},
		{"of the same, where they are", []loop.Status{{Folder: "/w/app", Title: "Build X"}, {Folder: "/w/lib", Title: "Build X"}, {Folder: "/w/doc", Title: "Build Y"}}, []string{"Build X (app)", "Build X (lib)", "Build Y"}},
		{"in folders of the same name", []loop.Status{{Folder: "/w/one/app", Title: "Build X"}, {Folder: "/w/two/app", Title: "Build X"}}, []string{"Build X (one/app)", "Build X (two/app)"}},
		{"in worktrees", []loop.Status{{Folder: "/w/app", Title: "Build X"}, {Folder: "/w/app.worktrees/x", Worktree: tree, Title: "Build X"}}, []string{"Build X (app)", "Build X (app, ralph/x)"}},
	} {
		var loops []LoopStatus
		for _, s := range tt.of {
			loops = append(loops, StatusOf(s, true))
		}
		Disambiguate(loops)
		var got []string
		for _, l := range loops {
			got = append(got, l.Title)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

func TestASilentAgentIsAWarning(t *testing.T) {
	s := loop.Status{State: loop.StateRunning, Iteration: 3, Work: loop.Work{LastLine: "I look.", LastSign: time.Now().Add(-2 * time.Minute)}}
	if l := StatusOf(s, true); l.Text != "3" || l.Line != "3 · I look." || l.Class != ClassInfo || !l.SilentSince.IsZero() {
		t.Errorf("after two minutes: %+v", l)
	}
	s.LastSign = time.Now().Add(-loop.SilentAfter)
	since := "3 · silent since " + s.LastSign.Local().Format("15:04")
	if l := StatusOf(s, true); l.Text != since || l.Line != since || l.Class != ClassWarning || !l.SilentSince.Equal(history.TimeOf(s.LastSign)) {
		t.Errorf("after three: %+v", l)
	}
	if got := Line(s, nil, s.LastSign.Add(200*time.Second)); got != "3 · silent for 3m20s" {
		t.Errorf("with a clock: %q", got)
	}
}

func TestWhetherACostWillBeKnownIsSaid(t *testing.T) {
	for _, tt := range []struct {
		name  string
		agent string
		state loop.State
		cost  stream.Cost
		want  string
	}{
		{"of an agent that tells", "pi", loop.StateRunning, stream.Cost{}, "not known yet"},
		{"of one that doesn't", "kiro", loop.StateRunning, stream.Cost{}, "unknown"},
		{"of a program", "/bin/agent", loop.StatePaused, stream.Cost{}, "unknown"},
		{"known", "pi", loop.StateRunning, stream.USD(0.31), "$0.31 of $5.00"},
		{"of an interrupted loop", "pi", loop.StateInterrupted, stream.USD(0.31), "$0.31 of $5.00"},
		{"unknown of an interrupted loop", "pi", loop.StateInterrupted, stream.Cost{}, ""},
	} {
		s := loop.Status{State: tt.state, Usage: loop.Usage{Cost: tt.cost}, Limits: loop.Limits{MaxCostUSD: 5}, Session: stream.SessionStart{Backend: tt.agent}}
		if got := StatusOf(s, false).CostText; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What needs the user most stands first; each state has its place.
func TestTheOrderOfLoops(t *testing.T) {
	at := noon
	wanted := []LoopStatus{
		{State: "paused", Condition: loop.Condition{Pause: loop.Pause{Unchecked: "ran no test"}}}, {State: "failed"}, {State: "interrupted"}, {State: "waiting"}, {State: "running"}, {State: "paused"},
		{State: "ended", Ending: Ending{EndedAt: at.Add(time.Hour)}}, {State: "ended", Ending: Ending{EndedAt: at}}, {State: "ended"}, {State: "idle"},
	}
	turned := slices.Clone(wanted)
	slices.Reverse(turned)
	if got := SortByNeed(turned); !slices.EqualFunc(got, wanted, func(a, b LoopStatus) bool {
		return a.State == b.State && a.Unchecked == b.Unchecked && a.EndedAt.Equal(b.EndedAt)
	}) {
		t.Errorf("got %+v", got)
	}
	for state, facts := range states {
		if facts.rank == 0 {
			t.Errorf("%s has no place in the order", state)
		}
		if isLive := facts.rank >= states[loop.StateWaiting].rank && facts.rank <= states[loop.StatePaused].rank; isLive != facts.live {
			t.Errorf("%s is live: %v, and has the place %d", state, facts.live, facts.rank)
		}
	}
	if got := SortByNeed(nil); got == nil {
		t.Error("no loops are null on the wire")
	}
}

func TestWhenALoopWillPause(t *testing.T) {
	s := loop.Status{Folder: "/w/app", State: loop.StateRunning, Iteration: 3, Limits: loop.Limits{MaxIterations: 50}, Condition: loop.Condition{Pausing: true}}
	if l := StatusOf(s, true); l.Text != "3/50 · pausing after iteration 3" || l.Line != "3/50 · pausing after iteration 3 · working" {
		t.Errorf("%q, %q", l.Text, l.Line)
	}
}

func TestWhatNeedsItsUserIsListedFirst(t *testing.T) {
	loops := []loop.Status{
		{LoopID: "over", State: StateIdle}, {LoopID: "ended", State: loop.StateEnded}, {LoopID: "paused", State: loop.StatePaused}, {LoopID: "runs", State: loop.StateRunning},
		{LoopID: "starts", State: loop.StateStarting}, {LoopID: "left", State: loop.StateInterrupted}, {LoopID: "asks", State: loop.StateWaiting, Work: loop.Work{Questions: []ask.Question{{}}}},
		{LoopID: "unchecked", State: loop.StatePaused, Condition: loop.Condition{Pause: loop.Pause{Unchecked: "why"}}}, {LoopID: "failed", State: loop.StateFailed},
	}
	SortSeen(loops)
	var got []string
	for _, s := range loops {
		got = append(got, s.LoopID)
	}
	if want := "asks unchecked failed left runs starts paused ended over"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
