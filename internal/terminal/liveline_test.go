package terminal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The goldens have times of UTC. A timer that fires reads the zone, so it is set before any is there.
func init() { time.Local = time.UTC }

func TestLiveLine(t *testing.T) {
	running := loop.Status{
		State: loop.StateRunning, Iteration: 3, Limits: loop.Limits{MaxIterations: 50},
		Usage: loop.Usage{Cost: stream.USD(1.42), Elapsed: 133*time.Second + 400*time.Millisecond}, Session: stream.SessionStart{Model: "opus"},
	}
	with := func(change func(*loop.Status)) loop.Status {
		st := running
		change(&st)
		return st
	}
	tool := &loop.ToolStatus{Call: stream.ToolCall{Name: "bash", Input: json.RawMessage(`{"command":"go test ./..."}`)}}
	tests := []struct {
		name  string
		st    loop.Status
		width int
		want  string
	}{
		{"a tool", with(func(s *loop.Status) { s.Tool = tool }), 80, "⠋ Ralph 3/50 · $1.42 · 2m13s · bash go test ./... · opus"},
		{"no tool", running, 80, "⠋ Ralph 3/50 · $1.42 · 2m13s · working · opus"},
		{"the agent's last line", with(func(s *loop.Status) { s.LastLine = "Now the\x1b[31m parser" }), 80, "⠋ Ralph 3/50 · $1.42 · 2m13s · Now the parser · opus"},
		{"cost unknown", with(func(s *loop.Status) { s.Cost = stream.Cost{} }), 80, "⠋ Ralph 3/50 · 2m13s · working · opus"},
		{"cost partly unknown", with(func(s *loop.Status) { s.UnknownCosts = -1 }), 80, "⠋ Ralph 3/50 · at least $1.42 · 2m13s · working · opus"},
		{"free", with(func(s *loop.Status) { s.Cost = stream.USD(0) }), 80, "⠋ Ralph 3/50 · $0.00 · 2m13s · working · opus"},
		{"unlimited", with(func(s *loop.Status) { s.Limits.MaxIterations = 0 }), 80, "⠋ Ralph 3 · $1.42 · 2m13s · working · opus"},
		{"waiting", with(func(s *loop.Status) {
			s.State, s.Retry = loop.StateWaiting, &loop.RetryStatus{Reason: "rate_limit", ResumeAt: begun.Add(65 * time.Second)}
		}), 80, "⠋ Ralph 3/50 · $1.42 · 2m13s · waiting (rate limit) until 12:01 (1m05s) · opus"},
		{"paused", with(func(s *loop.Status) { s.State = loop.StatePaused }), 80, "‖ Ralph 3/50 · $1.42 · 2m13s · paused, go on with ralph-lsp resume · opus"},
		{"stopping", with(func(s *loop.Status) { s.State = loop.StateCancelling }), 80, "⠋ Ralph 3/50 · $1.42 · 2m13s · stopping · opus"},
		{"narrow: the tool is cut first", with(func(s *loop.Status) { s.Tool = tool }), 54, "⠋ Ralph 3/50 · $1.42 · 2m13s · bash go test ./… · opus"},
		{"narrower: the model gives way", with(func(s *loop.Status) { s.Tool = tool }), 46, "⠋ Ralph 3/50 · $1.42 · 2m13s · bash go test .…"},
		{"very narrow", with(func(s *loop.Status) { s.Tool = tool }), 12, "⠋ Ralph 3/5…"},
		{"no room", running, 0, ""},
		{"wide characters", with(func(s *loop.Status) { s.LastLine = "修正しました修正しました修正しました" }), 46, "⠋ Ralph 3/50 · $1.42 · 2m13s · 修正しました修…"},
		{"ended", with(func(s *loop.Status) { s.State = loop.StateEnded }), 80, ""},
		{"not begun", loop.Status{State: loop.StateStarting}, 80, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := LiveLine(tt.st, 0, begun, tt.width, Palette{}); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			coloured := LiveLine(tt.st, 0, begun, tt.width, Palette{On: true})
			if Cells(coloured) > tt.width {
				t.Errorf("in colour it takes %d cells of %d", Cells(coloured), tt.width)
			}
		})
	}
}

func TestSpinnerTurns(t *testing.T) {
	st := loop.Status{State: loop.StateRunning, Iteration: 1}
	if a, b := LiveLine(st, 0, begun, 40, Palette{}), LiveLine(st, 1, begun, 40, Palette{}); a == b {
		t.Errorf("frames 0 and 1 are the same: %q", a)
	}
}

func TestScreenKeepsTheLiveLineBelow(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out}
	s.draw("live 1")
	s.draw("live 1") // nothing new: nothing is written
	s.print("above")
	s.draw("live 2")
	s.close()
	s.draw("too late")
	one, two := cutLines+"live 1"+wrapLines+"\r", cutLines+"live 2"+wrapLines+"\r"
	want := hideCursor + clearLive + one + clearLive + "above\n" + one + clearLive + two + clearLive + showCursor
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

// A window that becomes narrower wraps the live line. It goes away as a whole
// when the cursor is before all of it and everything behind it is cleared; one
// that was made for the wider window must not begin another line.
func TestLiveLineLeavesNothingInANarrowerWindow(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out}
	s.draw("live")
	if !strings.HasSuffix(out.String(), "\x1b[?7llive\x1b[?7h\r") {
		t.Errorf("drawn as %q", out.String())
	}
	out.Reset()
	s.print("above")
	if !strings.HasPrefix(out.String(), "\r\x1b[J") {
		t.Errorf("cleared as %q", out.String())
	}
}

func TestScreenWithoutLiveLineWritesNoCodes(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out}
	s.print("a", "b")
	s.close()
	if out.String() != "a\nb\n" {
		t.Errorf("got %q", out.String())
	}
}

// Whatever a loop waits for, the terminal says it: in its live line and in its log.
func TestEveryReasonToWaitIsSaid(t *testing.T) {
	for _, reason := range loop.WaitReasons() {
		for _, wait := range []time.Duration{5 * time.Second, 10 * time.Minute} {
			st := loop.Status{State: loop.StateWaiting, Iteration: 3, Work: loop.Work{Retry: &loop.RetryStatus{Reason: reason, ResumeAt: begun.Add(wait)}}}
			for place, said := range map[string]string{
				"the live line": LiveLine(st, 0, begun, 200, Palette{}),
				"the log":       play(t, []step{{own: loop.StateChanged{State: loop.StateWaiting, Reason: reason, ResumeAt: begun.Add(wait)}}}, Console, Config{}),
			} {
				want := loop.WaitText(reason)
				if reason == loop.WaitBackoff && wait < time.Minute {
					want = "trying again in 5s"
				}
				if !strings.Contains(said, want) || wait < time.Minute && !strings.Contains(said, "5s") {
					t.Errorf("%s says %q of %s", place, said, reason)
				}
			}
		}
	}
}
