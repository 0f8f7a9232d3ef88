package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// now is a status as a worker's child prints it.
func showing(t *testing.T, r Record, s loop.Status) Shown {
	t.Helper()
	data, err := json.Marshal(wire.StatusUpdateOf(s).Status)
	if err != nil {
		t.Fatal(err)
	}
	return Shown{ID: r.ID, Attempt: r.Attempt, Status: data}
}

func TestHowALoopStands(t *testing.T) {
	asks := loop.Status{
		LoopID: "ralph-1", Folder: "/w/loops/f1/tree", State: loop.StateWaiting, Iteration: 3, StateFile: "/w/loops/f1/tree/.pi/x",
		Work: loop.Work{Questions: []ask.Question{{ID: "q1", Kind: ask.Permission, Tool: "Bash", Title: "Bash git push", Detail: "git push", Rule: "Bash(git push:*)"}}, Allowed: []string{"Bash(make:*)"}},
	}
	running := func(r *Record) { r.Phase, r.Attempt, r.Worker, r.Iterations = Running, 4, "box", 2 }
	tests := []struct {
		name  string
		make  func(*Record)
		shown func(Record) Shown
		want  string // state, host, text; what can be done
	}{
		{"new", func(*Record) {}, nil, "starting fleet waits for a worker [cancel pause steer update]"},
		{"held", func(r *Record) { r.Reason = "the budget is used up" }, nil, "waiting fleet waits for a worker: the budget is used up [resume cancel pause steer update]"},
		{"begun", running, nil, "starting box on box [cancel pause steer update]"},
		{"asking", running, func(r Record) Shown { return showing(t, r, asks) }, "waiting box 3 · Bash git push [answer cancel pause next steer update]"},
		{"of the attempt before", running, func(r Record) Shown { r.Attempt--; return showing(t, r, asks) }, "starting box on box [cancel pause steer update]"},
		{"broken", running, func(r Record) Shown { return Shown{ID: r.ID, Attempt: r.Attempt, Status: []byte("{")} }, "starting box on box [cancel pause steer update]"},
		{"stopping", func(r *Record) { running(r); r.Wish = WishCancel }, func(r Record) Shown { return showing(t, r, asks) }, "cancelling box stopping on box []"},
		{"pausing", func(r *Record) { running(r); r.Wish = WishPause }, nil, "starting box on box, pauses behind this iteration [cancel pause steer update]"},
		{"pausing, what it shows", func(r *Record) { running(r); r.Wish = WishPause }, func(r Record) Shown {
			return showing(t, r, loop.Status{LoopID: "ralph-1", State: loop.StateRunning, Iteration: 3})
		}, "running box 3 · pausing after iteration 3 [cancel pause next steer update]"},
		{"not before", func(r *Record) { r.ResumeAt = noon.Add(time.Hour) }, nil, "waiting fleet waits until " + noon.Add(time.Hour).Local().Format(time.TimeOnly) + " [resume cancel pause steer update]"},
		{"paused", func(r *Record) { r.Phase = Paused }, nil, "paused fleet paused [resume cancel steer update]"},
		{"paused, what it showed", func(r *Record) { running(r); r.Phase = Paused }, func(r Record) Shown { return showing(t, r, asks) }, "paused box paused [resume cancel steer update]"},
		{"at its limit", func(r *Record) { r.Phase, r.StopReason, r.HasState, r.Text = Ended, "max_iterations", true, "stopped" }, nil, "ended fleet stopped [resume]"},
		{"paused in a plan", func(r *Record) { r.Phase, r.Tasks = Paused, &wire.Tasks{Done: 4, Total: 12} }, nil, "paused fleet paused · 4/12 tasks [resume cancel steer update]"},
		{"at the end of its plan", func(r *Record) { r.Phase, r.Text, r.Tasks = Ended, "all 12 tasks", &wire.Tasks{Done: 12, Total: 12} }, nil, "ended fleet all 12 tasks []"},
		{"cancelled", func(r *Record) { r.Phase, r.StopReason, r.Text = Ended, "cancelled", "interrupted after 2 iterations" }, nil, "ended fleet cancelled []"},
		{"done", func(r *Record) { r.Phase, r.StopReason, r.Text = Ended, "promise", "done" }, nil, "ended fleet done []"},
		{"failed", func(r *Record) { r.Phase, r.StopReason, r.Text = Ended, workerFailures, "no such model" }, nil, "failed fleet no such model [resume]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := queued()
			tt.make(&r)
			var s Shown
			if tt.shown != nil {
				s = tt.shown(r)
			}
			l := StatusOf(r, s, "/here/f1", noon)
			text := l.Text
			if len(l.Questions) > 0 {
				text = "3 · " + l.Questions[0].Title
			}
			if got := fmt.Sprint(l.State, " ", l.Host, " ", text, " ", l.Can); got != tt.want {
				t.Errorf("it is %q, not %q", got, tt.want)
			}
			if l.LoopID != "f1" || l.Folder != "file:///here/f1" || l.Title != "one" || l.Owned || l.Busy && r.Phase != Running {
				t.Errorf("it is %+v", l)
			}
			data, err := json.Marshal(l)
			if err != nil || strings.Contains(string(data), "/w/loops") || strings.Contains(string(data), "ralph-1") {
				t.Errorf("it names what is on the worker: %s, %v", data, err)
			}
			if tt.name == "asking" && (!strings.Contains(string(data), `"disallow":["Bash(make:*)"]`) || !strings.Contains(string(data), `"loopId":"f1","folder":"file:///here/f1","id":"q1","answer":"loop"`)) {
				t.Errorf("its offers are %s", data)
			}
			if l.Pausing != (r.Wish == WishPause) {
				t.Errorf("it pauses soon: %v", l.Pausing)
			}
			offers := slices.ContainsFunc(l.Offers, func(c wire.Command) bool { return c.Command == wire.CommandResume })
			if offers != (tt.name == "at its limit") || len(l.Offers) > 1 {
				t.Errorf("it offers %+v", l.Offers)
			}
		})
	}
}

func TestWhatIsGathered(t *testing.T) {
	bus := newMemory()
	var all []Record
	for i, phase := range []Phase{Running, Running, Queued} {
		r := queued()
		r.ID, r.Phase, r.Attempt, r.Worker = fmt.Sprint("f", i), phase, 2, fmt.Sprint("w", i)
		all = append(all, r)
	}
	for _, s := range []Shown{{ID: "f0", Attempt: 1, Status: []byte("lost")}, {ID: "f2", Attempt: 2, Status: []byte("of one that waits")}} {
		bus.Show(t.Context(), s)
	}
	got, err := Gather(t.Context(), bus, all[2:], time.Hour) // nothing to wait for
	if err != nil || len(got) != 0 {
		t.Errorf("gathered %v, %v", got, err)
	}
	bus.Show(t.Context(), Shown{ID: "f0", Attempt: 2, Status: []byte("now")})
	if got, err = Gather(t.Context(), bus, all, time.Millisecond); err != nil || len(got) > 1 {
		t.Errorf("gathered %v, %v", got, err)
	}
	bus.Show(t.Context(), Shown{Worker: "w1", Status: []byte("its checkout isn't there yet")})
	if got, err = Gather(t.Context(), bus, all, time.Hour); err != nil || len(got) != 1 {
		t.Errorf("when its worker has said all: gathered %v, %v", got, err)
	}
	bus.Show(t.Context(), Shown{Worker: "w1"})
	bus.Show(t.Context(), Shown{ID: "f1", Attempt: 2, Status: []byte("now")})
	if got, err = Gather(t.Context(), bus, all, time.Hour); err != nil || len(got) != 2 || string(got["f0"].Status) != "now" {
		t.Errorf("gathered %v, %v", got, err)
	}
}
