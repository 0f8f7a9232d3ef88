package tooluse

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// run is a log of calls with the same input, or of others where it says so.
type run struct {
	Log
	now time.Time
}

func (r *run) begin(id, tool, input string) {
	r.Follow(stream.ToolCall{ID: id, Name: tool, Input: []byte(input)}, r.now)
}

func (r *run) end(id string, took time.Duration, fails bool) {
	r.now = r.now.Add(took)
	r.Follow(stream.ToolResult{ID: id, IsError: fails}, r.now)
}

// A call that fails again and again is named, until it goes well. Another input is another call.
func TestACallThatFailsAgainAndAgain(t *testing.T) {
	r := &run{now: time.Now()}
	fail := func(input string, times int) {
		for range times {
			r.begin("c", "bash", input)
			r.end("c", 0, true)
		}
	}
	is := func(when, want string) {
		t.Helper()
		if got := r.Repeated(); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	fail(`{"command":"make"}`, MaxSame)
	is("as often as it may", "")
	fail(`{"command":"test"}`, MaxSame)
	is("another one", "")
	fail(`{"command":"make"}`, 1)
	is("once more", "`make` failed 21 times")
	fail(`{"command":"test"}`, 1)
	is("the other one as often", "`make` failed 21 times")
	fail(`{"command":"test"}`, 1)
	is("the other one more often", "`test` failed 22 times")
	r.begin("c", "bash", `{"command":"make"}`)
	r.end("c", 0, false)
	is("the first goes well", "`test` failed 22 times")
	r.begin("c", "bash", `{"command":"test"}`)
	r.end("c", 0, false)
	is("both went well", "")
	fail(`{"command":"test"}`, MaxSame)
	is("it begins anew", "")
	for range MaxSame + 1 { // another tool with the same input
		r.begin("c", "shell", `{"command":"test"}`)
		r.end("c", 0, true)
	}
	is("another tool", "`test` failed 21 times")
}

func TestWhoWaitsOnPurpose(t *testing.T) {
	for name, tt := range map[string]struct {
		command string
		took    time.Duration
		fails   bool
		want    bool
	}{
		"a sleep":             {"sleep 60", minWait, false, true},
		"one that fails":      {"sleep 60", minWait, true, true},
		"a short one":         {"sleep 60", minWait - 1, false, false},
		"a build":             {"make", minWait, false, false},
		"a long build":        {"make", LongWork, false, true},
		"nearly":              {"make", LongWork - 1, false, false},
		"a long one to crash": {"make", LongWork, true, false},
	} {
		r := &run{now: time.Now()}
		r.begin("c", "bash", `{"command":"`+tt.command+`"}`)
		r.end("c", tt.took, tt.fails)
		if r.Waited != tt.want {
			t.Errorf("%s: %t", name, r.Waited)
		}
		r.begin("d", "bash", `{"command":"true"}`)
		if r.end("d", 0, false); r.Waited != tt.want {
			t.Errorf("%s, and another call: %t", name, r.Waited)
		}
	}
}

// When a tool was at work, and whether one is.
func TestWhenToolsWereAtWork(t *testing.T) {
	r := &run{now: time.Now()}
	if !r.MayBe() || r.IsOpen() {
		t.Error("nothing is told of tools, so one may be at work, and is none that is known")
	}
	began := r.now
	r.begin("a", "bash", "{}")
	if !r.MayBe() || !r.IsOpen() {
		t.Error("a call isn't open")
	}
	if w := r.Work[0]; w.Tool != "bash" || !w.Spans(began.Add(time.Hour)) || w.Spans(began.Add(-2*ReportSlack)) || !w.Spans(began.Add(-ReportSlack)) {
		t.Errorf("a call that is open: %+v", w)
	}
	r.end("a", time.Minute, false)
	if r.MayBe() || r.IsOpen() {
		t.Error("a call that ended is open")
	}
	r.begin("", "print", "{}") // whose end nobody can tell
	r.end("", time.Minute, false)
	r.begin("a", "bash", "{}") // an id that comes again
	r.end("a", time.Minute, false)
	if w := r.Work[0]; !w.Spans(began.Add(time.Minute)) || w.Spans(began.Add(time.Minute+1)) {
		t.Errorf("a call that ended: %+v", w)
	}
	if w := r.Work[1]; !w.to.IsZero() {
		t.Errorf("a call without an id: %+v", w)
	}
	if w := r.Work[2]; !w.Spans(began.Add(3*time.Minute)) || w.Spans(began.Add(4*time.Minute)) {
		t.Errorf("an id that came again: %+v", w)
	}
}

// The last of the calls that are told apart stands for all that follow.
func TestTheLastCallStandsForAllThatFollow(t *testing.T) {
	r := &run{now: time.Now()}
	for range maxWork {
		r.begin("a", "bash", "{}")
		r.end("a", time.Second, false)
	}
	last := r.now
	r.begin("b", "write", `{"path":"f"}`)
	r.end("b", time.Hour, false)
	if w := r.Work[maxWork-1]; len(r.Work) != maxWork || !w.Spans(last.Add(time.Minute)) || w.Spans(last.Add(-time.Minute)) || w.Tool != "" {
		t.Errorf("%d calls, the last is %+v", len(r.Work), w)
	}
	if strings.Join(r.Wrote, " ") != "f" {
		t.Errorf("it wrote %q", r.Wrote)
	}
}
