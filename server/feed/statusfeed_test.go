package feed

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestStatusOfLoops(t *testing.T) {
	cost := func(amount float64) *wire.CostStatus { return &wire.CostStatus{Amount: amount, Currency: "USD"} }
	at := time.Date(2026, 1, 2, 14, 5, 0, 0, time.Local)
	tests := []struct {
		name    string
		loops   []wire.LoopStatus
		health  string
		busy    bool
		message string
	}{
		{"none", nil, "ok", false, "Ralph"},
		{"a folder without a loop", []wire.LoopStatus{{State: "idle"}}, "ok", false, "Ralph"},
		{"running", []wire.LoopStatus{{State: "running", Iteration: 3, MaxIterations: 50, Usage: wire.Usage{Cost: cost(1.42)}}}, "ok", true, "Ralph 3/50 · $1.42"},
		{"cost unknown", []wire.LoopStatus{{State: "running", Iteration: 3}}, "ok", true, "Ralph 3"},
		{"cost partly known", []wire.LoopStatus{{State: "running", Iteration: 3, Usage: wire.Usage{Cost: &wire.CostStatus{Amount: 1, Estimated: true}}}}, "ok", true, "Ralph 3 · at least $1.00"},
		{"starting", []wire.LoopStatus{{State: "starting", MaxIterations: 50}}, "ok", true, "Ralph 1/50 · starting"},
		{"stopping", []wire.LoopStatus{{State: "cancelling", Iteration: 2}}, "ok", true, "Ralph 2 · stopping"},
		{"paused", []wire.LoopStatus{{State: "paused", Iteration: 2, MaxIterations: 9}}, "ok", false, "Ralph 2/9 · paused"},
		{"waiting", []wire.LoopStatus{{State: "waiting", Iteration: 2, Work: wire.Work{Retry: &wire.RetryStatus{RetryStatus: loop.RetryStatus{ResumeAt: at, Reason: "rate_limit"}}}}}, "warning", false, "Ralph 2 · waiting (rate limit) until 14:05"},
		{"interrupted", []wire.LoopStatus{{State: "interrupted", Iteration: 4, MaxIterations: 50}}, "warning", false, "Ralph interrupted at 4/50"},
		{"failed and left", []wire.LoopStatus{{State: "failed", Ending: wire.Ending{StopReason: "stalled"}, Iteration: 4, MaxIterations: 50, Usage: wire.Usage{Cost: cost(1)}}}, "error", false, "Ralph failed at 4/50: the agent fell silent"},
		{"done", []wire.LoopStatus{{State: "ended", Ending: wire.Ending{StopReason: "promise"}, Usage: wire.Usage{Cost: cost(3.1)}}}, "ok", false, "Ralph done · $3.10"},
		{"cancelled", []wire.LoopStatus{{State: "ended", Ending: wire.Ending{StopReason: "cancelled"}}}, "ok", false, "Ralph cancelled"},
		{"at its limit", []wire.LoopStatus{{State: "ended", Ending: wire.Ending{StopReason: "max_cost"}}}, "warning", false, "Ralph stopped: cost limit reached"},
		{"failed", []wire.LoopStatus{{State: "ended", Ending: wire.Ending{StopReason: "failures"}}}, "error", false, "Ralph failed: too many failures in a row"},
		{"ended for a reason of the future", []wire.LoopStatus{{State: "ended", Ending: wire.Ending{StopReason: "tired"}}}, "error", false, "Ralph ended: tired"},
		{"two loops", []wire.LoopStatus{{Title: "a", State: "paused", Usage: wire.Usage{Cost: cost(2)}}, {Title: "b", State: "running", Iteration: 3, Usage: wire.Usage{Cost: cost(1)}}}, "ok", true, "Ralph \"b\": 3 · $1.00"},
		{"one runs, one failed", []wire.LoopStatus{{Title: "a", State: "running", Iteration: 1}, {Title: "b", State: "failed", Ending: wire.Ending{StopReason: "stalled"}, Iteration: 2}}, "error", true, "Ralph \"b\": failed at 2: the agent fell silent"},
		{"one runs, others are over", []wire.LoopStatus{{Title: "a", State: "ended", Ending: wire.Ending{StopReason: "max_cost"}}, {Title: "b", State: "running"}, {Title: "c", State: "ended", Ending: wire.Ending{StopReason: "promise"}}}, "ok", true, "Ralph \"b\": 1"},
		{"the newest end", []wire.LoopStatus{{Title: "a", State: "ended", Ending: wire.Ending{StopReason: "promise", EndedAt: at}}, {Title: "b", State: "ended", Ending: wire.Ending{StopReason: "cancelled", EndedAt: at.Add(1)}}}, "ok", false, "Ralph \"b\": cancelled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := wire.NewStatus(tt.loops)
			if got.Health != tt.health || got.Busy != tt.busy || got.Message != tt.message {
				t.Errorf("got %s %v %q, want %s %v %q", got.Health, got.Busy, got.Message, tt.health, tt.busy, tt.message)
			}
			if got.Loops == nil {
				t.Error("loops are null on the wire")
			}
		})
	}
}

// counter is a loop that is somewhere else each time it is looked at.
func counter() func() ([]wire.LoopStatus, string) {
	var n atomic.Int64
	return func() ([]wire.LoopStatus, string) {
		return []wire.LoopStatus{{State: "running", Iteration: int(n.Add(1))}}, ""
	}
}

func TestStatusKeepsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: client.Info{OptedIn: true}}
		s := NewStatus(ed, counter())
		for range 10_000 {
			s.Changed(false)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		sent, at := clienttest.Received[wire.StatusParams](ed, wire.MethodStatus)
		if len(sent) < 38 || len(sent) > 42 || clienttest.Shortest(clienttest.Gaps(at)) < reportInterval {
			t.Errorf("%d in 10 s, the closest %v apart; want 4 a second", len(sent), clienttest.Shortest(clienttest.Gaps(at)))
		}
		for i, p := range sent {
			if p.Seq != int64(i+1) {
				t.Fatalf("seq %d is the %d. one", p.Seq, i+1)
			}
		}
		begin := time.Now()
		s.Changed(false)
		synctest.Wait()
		s.Changed(false) // has to wait
		s.Changed(true)  // a state
		synctest.Wait()
		if _, at := clienttest.Received[wire.StatusParams](ed, wire.MethodStatus); !at[len(at)-1].Equal(begin) {
			t.Error("a change of state waits")
		}
		s.Close()
		s.Changed(true)
		time.Sleep(time.Second)
		if after, _ := clienttest.Received[wire.StatusParams](ed, wire.MethodStatus); len(after) != len(sent)+2 {
			t.Errorf("%d snapshots, want %d", len(after), len(sent)+2)
		}
	})
}

func TestStatusThatDoesNotChangeIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: client.Info{OptedIn: true}}
		s := NewStatus(ed, func() ([]wire.LoopStatus, string) {
			return []wire.LoopStatus{{State: "paused", Usage: wire.Usage{Cost: &wire.CostStatus{Amount: 1}}}}, "more"
		})
		defer s.Close()
		for range 10 {
			s.Changed(true)
			time.Sleep(time.Second)
		}
		if sent, _ := clienttest.Received[wire.StatusParams](ed, wire.MethodStatus); len(sent) != 1 || sent[0].Text != "more" {
			t.Errorf("sent %v", sent)
		}
	})
}

func TestPlainClientGetsNoStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{}
		s := NewStatus(ed, counter())
		s.Changed(true)
		time.Sleep(time.Second)
		s.Close()
		if len(ed.Got) != 0 {
			t.Errorf("got %v", ed.Got)
		}
	})
}
