package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// queued is a loop that waits for a worker.
func queued() Record {
	return Record{Task: Task{ID: "f1", Name: "one", Priority: Normal, Key: "k"}, Phase: Queued}
}

func TestALoopOnTheBus(t *testing.T) {
	begin := func(r *Record) error { r.Begin("w", noon); return nil }
	commits := func(attempt int, o Outcome) func(*Record) error {
		return func(r *Record) error { return r.Commit(attempt, o, noon) }
	}
	pause := func(r *Record) error { return r.Pause(noon) }
	cancel := func(r *Record) error { return r.Cancel(noon) }
	resume := func(r *Record) error { _, err := r.Resume(loop.Patch{}, noon); return err }
	steer := func(text string) func(*Record) error { return func(r *Record) error { return r.Steer(text, noon) } }
	fail := func(attempt int) func(*Record) error {
		return func(r *Record) error { return r.Fail(attempt, "no git", noon) }
	}
	giveBack := func(attempt int) func(*Record) error {
		return func(r *Record) error { return r.GiveBack(attempt, noon) }
	}
	more := Outcome{HasState: true, Iterations: 1, CostUSD: 2}
	tests := []struct {
		name string
		do   []func(*Record) error
		want Phase
		err  error // of the last
		also func(Record) bool
	}{
		{"an iteration", []func(*Record) error{begin, commits(1, more)}, Queued, nil, func(r Record) bool { return r.Committed == 1 && r.CostUSD == 2 && r.HasState }},
		{"the last one", []func(*Record) error{begin, commits(1, Outcome{StopReason: "promise"})}, Ended, nil, func(r Record) bool { return r.StopReason == "promise" }},
		{"a worker that was lost", []func(*Record) error{begin, begin, commits(1, more)}, Running, ErrNotOur, func(r Record) bool { return r.Committed == 0 && r.Attempt == 2 && r.CostOpen }},
		{"the same, the other one", []func(*Record) error{begin, begin, commits(2, more)}, Queued, nil, func(r Record) bool { return r.Committed == 2 }},
		{"a commit twice", []func(*Record) error{begin, commits(1, more), commits(1, more)}, Queued, ErrNotOur, nil},
		{"pause at once", []func(*Record) error{pause}, Paused, nil, nil},
		{"pause behind the iteration", []func(*Record) error{begin, pause, commits(1, more)}, Paused, nil, func(r Record) bool { return r.Wish == "" }},
		{"a pause that is taken back", []func(*Record) error{begin, pause, resume, commits(1, more)}, Queued, nil, nil},
		{"a loop that pauses itself", []func(*Record) error{begin, commits(1, Outcome{HasState: true, Paused: true})}, Paused, nil, nil},
		{"resume", []func(*Record) error{pause, resume}, Queued, nil, nil},
		{"cancel at once", []func(*Record) error{cancel}, Ended, nil, func(r Record) bool { return r.StopReason == "cancelled" }},
		{"cancel while it runs", []func(*Record) error{begin, cancel}, Running, nil, func(r Record) bool { return r.Wish == WishCancel }},
		{"and its worker answers", []func(*Record) error{begin, cancel, commits(1, more)}, Ended, nil, func(r Record) bool { return r.StopReason == "cancelled" }},
		{"or fails", []func(*Record) error{begin, cancel, fail(1)}, Ended, nil, nil},
		{"or ends", []func(*Record) error{begin, cancel, giveBack(1)}, Ended, nil, nil},
		{"a promise beats a cancel", []func(*Record) error{begin, cancel, commits(1, Outcome{StopReason: "promise"})}, Ended, nil, func(r Record) bool { return r.StopReason == "promise" }},
		{"nothing wakes the dead", []func(*Record) error{cancel, resume}, Ended, ErrEnded, nil},
		{"nobody steers them", []func(*Record) error{cancel, steer("x")}, Ended, ErrEnded, nil},
		{"a failure", []func(*Record) error{begin, fail(1)}, Queued, nil, func(r Record) bool { return r.ResumeAt.After(noon) && r.Reason == "no git" && r.Failures == 1 }},
		{"failures in a row", []func(*Record) error{begin, fail(1), begin, fail(2), begin, fail(3), begin, fail(4), begin, fail(5)}, Ended, nil, func(r Record) bool { return r.StopReason == "worker_failures" }},
		{"not in a row", []func(*Record) error{begin, fail(1), begin, fail(2), begin, fail(3), begin, fail(4), begin, commits(5, more), begin, fail(6)}, Queued, nil, func(r Record) bool { return r.Failures == 1 }},
		{"a failure that doesn't count", []func(*Record) error{begin, begin, fail(1)}, Running, ErrNotOur, func(r Record) bool { return r.Failures == 0 }},
		{"given back", []func(*Record) error{begin, giveBack(1)}, Queued, nil, func(r Record) bool { return r.Failures == 0 && r.Attempt == 1 }},
		{"given back by who has lost it", []func(*Record) error{begin, begin, giveBack(1)}, Running, ErrNotOur, nil},
		{"given back behind the commit", []func(*Record) error{begin, commits(1, more), giveBack(1)}, Queued, ErrNotOur, nil},
		{"a failure behind the commit", []func(*Record) error{begin, commits(1, more), fail(1)}, Queued, ErrNotOur, func(r Record) bool { return r.Failures == 0 }},
		{"guidance that a state took", []func(*Record) error{steer("a"), begin, steer("b"), commits(1, Outcome{HasState: true, Took: 1})}, Queued, nil,
			func(r Record) bool { return len(r.Guidance) == 1 && r.Guidance[0] == "b" && r.Told == 1 }},
		{"guidance of an attempt that is lost is told again", []func(*Record) error{steer("a"), begin, begin}, Running, nil, func(r Record) bool { return len(r.Guidance) == 1 }},
		{"a novel", []func(*Record) error{steer(strings.Repeat("x", maxGuidance-4))}, Queued, nil, nil},
		{"long words", []func(*Record) error{begin, commits(1, Outcome{HasState: true, Text: strings.Repeat("ü", 1<<20)})}, Queued, nil,
			func(r Record) bool {
				return len(r.Text) < 2*maxWords && strings.HasSuffix(r.Text, "ü…")
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := queued()
			for i, do := range tt.do {
				err := do(&r)
				if i < len(tt.do)-1 && err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				if i == len(tt.do)-1 && !errors.Is(err, tt.err) {
					t.Fatalf("got error %v, want %v", err, tt.err)
				}
			}
			if r.Phase != tt.want || tt.also != nil && !tt.also(r) {
				t.Errorf("got %+v, want it %s", r, tt.want)
			}
		})
	}
	r := queued()
	for _, text := range []string{strings.Repeat("x", maxGuidance), strings.Repeat("\x01", maxGuidance/4)} {
		if err := r.Steer(text, noon); err == nil || len(r.Guidance) != 0 {
			t.Error("more than may wait was taken")
		}
	}
}

// Programs and people read the names of what a fleet does in the documents.
func TestTheDocumentsNameWhatAFleetSays(t *testing.T) {
	names := map[string][]string{"PROTOCOL.md": {workerFailures}, "FLEET-OPERATE.md": {workerFailures}}
	for _, p := range Phases {
		names["FLEET-REFERENCE.md"] = append(names["FLEET-REFERENCE.md"], string(p))
	}
	for _, s := range Stages {
		names["FLEET-REFERENCE.md"] = append(names["FLEET-REFERENCE.md"], string(s))
	}
	for _, r := range Results {
		names["FLEET-REFERENCE.md"] = append(names["FLEET-REFERENCE.md"], string(r))
	}
	for file, names := range names {
		text, err := os.ReadFile(filepath.Join("..", "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("docs/%s doesn't say what %s is", file, name)
			}
		}
	}
}

func TestWhoWantsAWorker(t *testing.T) {
	tests := []struct {
		name  string
		r     Record
		later time.Duration
		wants bool
	}{
		{"queued", Record{Phase: Queued}, 0, true},
		{"waiting", Record{Phase: Queued, ResumeAt: noon.Add(time.Minute)}, time.Minute, false},
		{"has waited", Record{Phase: Queued, ResumeAt: noon}, 0, true},
		{"its worker is lost", Record{Phase: Running, ResumeAt: noon.Add(time.Minute)}, 0, true},
		{"paused", Record{Phase: Paused}, done, false},
		{"ended", Record{Phase: Ended}, done, false},
	}
	for _, tt := range tests {
		if later, wants := tt.r.due(noon); later != tt.later || wants != tt.wants {
			t.Errorf("%s: got %v, %v", tt.name, later, wants)
		}
	}
}

func TestWhatCanGoOn(t *testing.T) {
	more := loop.Patch{Given: limits.Given{MaxIterations: new(9)}}
	tests := []struct {
		name     string
		reason   string
		hasState bool
		limits   loop.Patch
		want     string // of the error; "" is none
	}{
		{"at its limit, with a higher one", "max_iterations", true, more, ""},
		{"at its limit", "max_iterations", true, loop.Patch{}, "iteration limit reached; resume it with a higher limit"},
		{"at its limit, of an older worker", "max_cost", false, more, "has ended"},
		{"cancelled", "cancelled", true, more, "has ended"},
		{"done", "promise", false, more, "the loop has ended (promise) and can't go on; submit another"},
		{"failed", "failures", true, loop.Patch{}, ""},
		{"never begun", workerFailures, false, loop.Patch{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := queued()
			r.Phase, r.StopReason, r.HasState, r.Failures = Ended, tt.reason, tt.hasState, 5
			enqueue, err := r.Resume(tt.limits, noon)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || r.Phase != Ended {
					t.Errorf("it is %+v, %v", r, err)
				}
				return
			}
			if err != nil || !enqueue || r.Phase != Queued || r.StopReason != "" || r.Failures != 0 {
				t.Errorf("it is %+v, %v", r, err)
			}
		})
	}
}

func TestLimitsThatAreChangedStay(t *testing.T) {
	r := queued()
	r.Flags = []string{"--model=x", "--max-iterations=5", "--completion-promise=DONE", "--max-cost=2"}
	for _, p := range []loop.Patch{
		{Given: limits.Given{MaxIterations: new(7)}},
		{Given: limits.Given{MaxDuration: new(limits.Duration(90 * time.Minute)), Promise: new("ALL DONE")}},
		{Given: limits.Given{MaxIterations: new(8)}},
		{},
	} {
		if err := r.Bound(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(r.Changed, " "); got != "--max-iterations=8 --max-time=1h30m --completion-promise=ALL DONE" {
		t.Errorf("changed is %q", got)
	}
	now := r.Bounds()
	if *now.MaxIterations != 8 || *now.MaxCostUSD != 2 || *now.MaxDuration != limits.Duration(90*time.Minute) || *now.Promise != "ALL DONE" {
		t.Errorf("the bounds are %+v", now)
	}
}

// What attempts have cost that don't count is in the loop's own sum, as in the ledger, and under its cap.
func TestWhatLostAttemptsCost(t *testing.T) {
	r := queued()
	r.Reserve, r.Flags = 0.19, []string{"--max-cost=0.50"}
	r.Begin("dead", noon)
	next := r
	if next.capped(noon) || next.Cost() != 0.19 {
		t.Errorf("after one: %+v", next)
	}
	r.Begin("dead too", noon)
	if r.Cost() != 0.19 || !r.CostOpen {
		t.Errorf("it has cost %v", r.Cost())
	}
	if err := r.Commit(2, Outcome{HasState: true, CostUSD: 0.12}, noon); err != nil || r.Cost() != 0.31 || r.capped(noon) {
		t.Errorf("%v: %+v", err, r)
	}
	r.Begin("dead again", noon)
	if !r.capped(noon) || r.Phase != Ended || r.StopReason != "max_cost" || !r.CanGoOn() {
		t.Errorf("at its cap it is %+v", r)
	}
}
