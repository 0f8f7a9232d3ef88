package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// child is a stand-in for ralph-lsp: it counts its runs in the checkout, costs a dollar each
// time, and promises in the third.
const standIn = `#!/bin/sh
[ "$PWD" = / ] || { echo "it works in $PWD" >&2; exit 9; } # what the agent has written there must not count
said=$*; at=; for word; do [ "$at" = -C ] && cd "$word"; at=$word; [ "$word" = -- ] && break; done
[ "$PWD" != / ] || { echo "no folder in $said" >&2; exit 9; }
case "$1" in trust) echo trusted >trusted; exit;; setup) shift 6; for c; do sh -c "$c" || exit; done; exit;; esac
n=$(($(cat count 2>/dev/null || echo 0) + 1))
echo "$* [$n]" >>"$RALPH_TEST_LOG"
echo $$ >>"$RALPH_TEST_LOG.pids"
end() { echo '{"sessionUpdate":"_ralph/end","stopReason":"'$1'","iterations":'$n',"costUsd":'$n',"text":"'$1'"}'; }
if [ -f "$RALPH_TEST_LOG.hang" ]; then rm "$RALPH_TEST_LOG.hang"; echo hangs; echo '{"sessionUpdate":"_ralph/status","status":{"state":"running","line":"1/3"},"loopId":"x"}'; cat >/dev/null; end interrupted; exit 130; fi
if [ -f "$RALPH_TEST_LOG.does" ]; then . "$RALPH_TEST_LOG.does"; fi
if [ -f "$RALPH_TEST_LOG.dies" ]; then echo "no such model" >&2; exit 1; fi
echo $n >count
if [ -f "$RALPH_TEST_LOG.free" ]; then end() { echo '{"sessionUpdate":"_ralph/end","stopReason":"'$1'","iterations":'$n',"text":"'$1'"}'; }; fi
if [ $n -ge 3 ]; then rm -f .pi/ralph-loop.local.md; end promise; exit 0; fi
mkdir -p .pi
test -f .pi/ralph-loop.local.md && grep 'mind the gap' .pi/ralph-loop.local.md >>"$RALPH_TEST_LOG"
active=true
if [ -f "$RALPH_TEST_LOG.pauses" ]; then rm "$RALPH_TEST_LOG.pauses"; active=false; fi
printf -- '---\nactive: %s\niteration: %d\n%s\n---\nDo it\n' $active $((n + 1)) "${resume:-}" >.pi/ralph-loop.local.md
end once
if [ -f "$RALPH_TEST_LOG.stays" ]; then while read -r wish && [ "$wish" != leave ]; do if [ "$wish" = next ]; then cd /; exec "$0" "$@"; fi; done; fi
exit 3
`

// works is a worker and a bus on which one loop stands.
type works struct {
	t      *testing.T
	bus    *memory
	log    string
	dir    string
	repo   string
	task   Task
	worker *Worker
}

func hasEach(string) bool { return true }

func newWorks(t *testing.T) *works {
	t.Helper()
	w := &works{t: t, bus: newMemory(), dir: t.TempDir()}
	w.log, w.repo = filepath.Join(w.dir, "log"), filepath.Join(w.dir, "repo")
	t.Setenv("RALPH_TEST_LOG", w.log)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(w.dir, "config"))
	program := filepath.Join(w.dir, "ralph-lsp")
	if err := os.WriteFile(program, []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q", w.repo)
	w.git("-C", w.repo, "-c", "user.name=U", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", "base")
	w.worker = &Worker{Bus: w.bus, Name: "w", Dir: filepath.Join(w.dir, "w"), Program: program, Slots: 1, Keep: 10, HasAgent: hasEach, Log: slog.New(slog.DiscardHandler)}
	return w
}

func (w *works) git(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// submit puts the loop on the bus.
func (w *works) submit() Record {
	w.t.Helper()
	var r Record
	w.task.Priority = Normal
	err := Submit(w.t.Context(), Door{w.bus}, Submission{Repo: w.repo, Prompt: "Do it", Name: "one", Task: w.task}, func(s Submitted) { r = s.Record })
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// until runs the worker until the loop is as it should be.
func (w *works) until(r Record, is func(Record) bool) Record {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), proctest.Patience)
	ended := make(chan error, 1)
	go func() { ended <- w.worker.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	}()
	for begun := time.Now(); ctx.Err() == nil; proctest.Pause(begun) {
		now, _, err := w.bus.Get(ctx, r.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		if is(now) {
			return now
		}
	}
	now, _, _ := w.bus.Get(context.Background(), r.ID)
	w.t.Fatalf("it is %+v\n%s", now, w.said())
	return now
}

func (w *works) said() string { return w.read("log") }

func (w *works) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(w.dir, name))
	return string(data)
}

func (w *works) change(r Record, change func(*Record) error) {
	w.t.Helper()
	if _, err := Change(w.t.Context(), w.bus, r.ID, change); err != nil {
		w.t.Fatal(err)
	}
}

func isEnded(r Record) bool  { return r.Phase == Ended }
func isPaused(r Record) bool { return r.Phase == Paused }

func TestAWorkerTakesALoopToItsEnd(t *testing.T) {
	w := newWorks(t)
	w.task.Flags, w.task.Setup, w.task.Trust = []string{"--backend=pi"}, []string{"echo ready >prepared"}, true
	r := w.until(w.submit(), isEnded)
	if r.StopReason != "promise" || r.Iterations != 3 || r.CostUSD != 3 || r.Committed != 3 || len(r.Kept) != 3 || r.HasState {
		t.Errorf("it is %+v", r)
	}
	lines := strings.Split(strings.TrimSpace(w.said()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "--prompt-file") || !strings.Contains(lines[1], "--continue") || !strings.HasSuffix(lines[2], "--backend=pi [3]") {
		t.Errorf("the child ran as\n%s", w.said())
	}
	l, _ := ledger.Whole(t.Context(), w.bus)
	if l.Spent != 3 || len(l.Running) != 0 {
		t.Errorf("the ledger says %+v", l)
	}
	if _, err := os.Stat(filepath.Join(w.worker.Dir, "loops", r.ID)); err == nil {
		t.Error("the checkout of a loop that is over stays")
	}
	w.git("-C", w.repo, "config", "user.name", "U")
	w.git("-C", w.repo, "config", "user.email", "u@x")
	branch, err := Fetch(t.Context(), w.bus, r, w.repo)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.git("-C", w.repo, "ls-tree", "--name-only", branch); got != "count\nprepared\ntrusted" {
		t.Errorf("%s has\n%s", branch, got)
	}
}

func TestAnotherWorkerGoesOn(t *testing.T) {
	w := newWorks(t)
	os.WriteFile(w.log+".pauses", nil, 0o600)
	r := w.until(w.submit(), isPaused)
	if r.Committed != 1 {
		t.Fatalf("it is %+v", r)
	}
	w.change(r, func(r *Record) error { return r.Steer("mind the gap", time.Now()) })
	if err := handle(t, w.bus, r).Resume(loop.Patch{}); err != nil {
		t.Fatal(err)
	}
	w.worker = &Worker{Bus: w.bus, Name: "other", Dir: filepath.Join(w.dir, "other"), Program: w.worker.Program, Slots: 1, Keep: 10, HasAgent: hasEach, Log: w.worker.Log}
	if r = w.until(r, isEnded); r.StopReason != "promise" || r.Iterations != 3 || r.Worker != "other" || len(r.Guidance) != 0 || r.Told != 1 {
		t.Errorf("it is %+v", r)
	}
	if n := strings.Count(w.said(), "mind the gap"); n != 1 {
		t.Errorf("it was told %d times\n%s", n, w.said())
	}
}

func TestAnAttemptThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		does string
		cost float64 // of an attempt, with a reservation of 2
	}{
		"before its agent ran":                   {"", 0},
		"nobody knows what its agent has cost":   {`echo '{"sessionUpdate":"_ralph/iteration"}'`, 2},
		"what it says of its cost is what it is": {`echo '{"sessionUpdate":"_ralph/iteration"}'; echo '{"sessionUpdate":"_ralph/end","stopReason":"unauthorized","costUsd":0.5,"text":"no such model"}'; exit 1`, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.write("log.dies", "")
			w.write("log.does", test.does)
			w.task.Reserve = 2
			submitted := w.submit()
			r := w.until(submitted, func(r Record) bool { return r.Failures > 0 })
			if !strings.HasPrefix(r.Text, "no such model") || strings.Contains(r.Text, "ended with exit status 1") == strings.Contains(test.does, "end") || !r.ResumeAt.After(r.UpdatedAt) {
				t.Errorf("it is %+v", r)
			}
			r, _, _ = w.bus.Get(t.Context(), submitted.ID)
			if l, _ := ledger.Whole(t.Context(), w.bus); l.Spent != test.cost*float64(r.Attempt) {
				t.Errorf("%d failed attempts have cost %+v", r.Attempt, l)
			}
			os.Remove(w.log + ".dies")
			os.Remove(w.log + ".does")
			w.change(r, func(r *Record) error { r.ResumeAt = time.Time{}; return nil })
			if r = w.until(submitted, isEnded); r.StopReason != "promise" || r.Failures != 0 || r.FailedOn != nil {
				t.Errorf("it is %+v", r)
			}
		})
	}
}

func TestALoopIsCancelledWhileItRuns(t *testing.T) { newWorks(t).cancelWhileItRuns() }

// A bus that is away as an iteration begins is asked again, or nobody could cancel it.
func TestALoopIsCancelledThatCouldNotBeWatched(t *testing.T) {
	w := newWorks(t)
	w.bus.deaf = 1
	if err := ledger.Change(t.Context(), w.bus, func(l *ledger.Ledger) bool { l.Limits.Lease = 300 * time.Millisecond; return true }); err != nil {
		t.Fatal(err)
	}
	w.cancelWhileItRuns()
}

func (w *works) cancelWhileItRuns() {
	w.t.Helper()
	os.WriteFile(w.log+".hang", nil, 0o600)
	submitted := w.submit()
	cancelled := false
	r := w.until(submitted, func(r Record) bool {
		if !cancelled && strings.Contains(w.said(), "[1]") {
			cancelled = true
			w.change(r, func(r *Record) error { return r.Cancel(time.Now()) })
		}
		return r.Phase == Ended
	})
	if r.StopReason != "cancelled" || r.HasState || r.Committed != 1 {
		w.t.Errorf("it is %+v", r)
	}
}

// late is a bus that says once how a loop was before.
type late struct {
	*memory
	before []Record
}

func (l *late) Get(ctx context.Context, id string) (Record, uint64, error) {
	r, revision, err := l.memory.Get(ctx, id)
	if len(l.before) > 0 {
		r, revision, l.before = l.before[0], revision-1, nil
	}
	return r, revision, err
}

// Who comes too late for an attempt leaves alone what is reserved for who has it.
func TestAnAttemptThatAnotherWorkerHas(t *testing.T) {
	tests := map[string]struct {
		meanwhile func(*Record) error
		reserved  int
	}{
		"another worker":     {func(r *Record) error { r.Begin("other", time.Now()); return nil }, 1},
		"its user, a change": {func(r *Record) error { return r.Pause(time.Now()) }, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.task.Reserve = 2
			r := w.submit()
			ticket, err := w.bus.Take(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			w.change(r, test.meanwhile)
			w.worker.Bus = &late{w.bus, []Record{r}}
			if a, later, err := w.worker.begin(t.Context(), ticket); a != nil || later != 0 || err != nil {
				t.Errorf("it is begun as %+v, in %s, %v", a, later, err)
			}
			if l, _ := ledger.Whole(t.Context(), w.bus); len(l.Running) != test.reserved || l.Spent != 0 {
				t.Errorf("the ledger is %+v, want %d reservations", l, test.reserved)
			}
		})
	}
}

// An iteration that ends while the bus is away counts when that is back: it isn't run again.
func TestAnIterationThatEndsWhileTheBusIsAway(t *testing.T) {
	w := newWorks(t)
	submitted := w.submit()
	w.bus.away = 3
	r := w.until(submitted, isEnded)
	if r.Attempt != 3 || strings.Count(w.said(), "--once") != 3 || w.bus.away != 0 {
		t.Errorf("it has %d attempts:\n%s", r.Attempt, w.said())
	}
}

func TestALoopThatIsTakenAwayDoesNotCount(t *testing.T) {
	w := newWorks(t)
	os.WriteFile(w.log+".hang", nil, 0o600)
	submitted := w.submit()
	taken := false
	r := w.until(submitted, func(r Record) bool {
		if !taken && strings.Contains(w.said(), "[1]") {
			taken = true
			w.change(r, func(r *Record) error { r.Begin("thief", time.Now()); return nil })
		}
		return taken && r.Worker == "thief"
	})
	r, _, _ = w.bus.Get(t.Context(), r.ID) // now that the worker has ended
	if r.Phase != Running || r.Committed != 0 || r.Attempt != 2 {
		t.Errorf("it is %+v", r)
	}
}

func TestAPausedLoopWaitsForItsUser(t *testing.T) {
	w := newWorks(t)
	submitted := w.submit()
	w.change(submitted, func(r *Record) error { return r.Pause(time.Now()) })
	if r := w.until(submitted, isPaused); r.Attempt != 0 {
		t.Errorf("it is %+v", r)
	}
	if err := handle(t, w.bus, submitted).Resume(loop.Patch{}); err != nil {
		t.Fatal(err)
	}
	if r := w.until(submitted, isEnded); r.Iterations != 3 {
		t.Errorf("it is %+v", r)
	}
}

func TestAWorkerThatIsStoppedGivesBack(t *testing.T) {
	w := newWorks(t)
	os.WriteFile(w.log+".hang", nil, 0o600)
	submitted := w.submit()
	w.until(submitted, func(r Record) bool { return strings.Contains(w.said(), "[1]") }) // and the worker is stopped
	r, _, err := w.bus.Get(t.Context(), submitted.ID)
	if err != nil || r.Phase != Queued || r.Failures != 0 || r.Committed != 0 {
		t.Errorf("it is %+v, %v", r, err)
	}
	if r = w.until(submitted, isEnded); r.StopReason != "promise" || r.Attempt != 4 {
		t.Errorf("it is %+v", fmt.Sprint(r))
	}
}

// What an iteration shows goes to the bus, and not into the log; what is asked of it is
// answered as long as it runs.
func TestWhatAnIterationShowsAndIsAsked(t *testing.T) {
	w := newWorks(t)
	os.WriteFile(w.log+".hang", nil, 0o600)
	submitted := w.submit()
	shown, _ := w.bus.Shown(t.Context())
	ask := func() error {
		_, err := handle(t, w.bus, submitted).Next()
		return err
	}
	if err := ask(); !errors.Is(err, ErrNobody) {
		t.Errorf("before its iteration: %v", err)
	}
	w.until(submitted, func(now Record) bool {
		if now.Phase != Running {
			return false
		}
		s := <-shown
		if !now.IsNow(s) || string(s.Status) != `{"state":"running","line":"1/3"}` {
			t.Errorf("shown is %+v: %s", s, s.Status)
		}
		if err := ask(); !errors.Is(err, loop.ErrNotRunning) || errors.Is(err, ErrNobody) {
			t.Errorf("of a child without a state: %v", err)
		}
		return true
	})
	if err := ask(); !errors.Is(err, ErrNobody) {
		t.Errorf("behind its iteration: %v", err)
	}
	if all := fmt.Sprintf("%s", w.bus.live[submitted.ID]); !strings.Contains(all, "hangs") || strings.Contains(all, "_ralph/status") {
		t.Errorf("said live is %s", all)
	}
	if len(w.bus.shown) != 0 {
		t.Errorf("shown is yet %v", w.bus.shown)
	}
}

func TestNewLimitsReachAllChildren(t *testing.T) {
	w := newWorks(t)
	w.task.Flags = []string{"--max-iterations=2", "--backend=pi"}
	submitted := w.submit()
	h := handle(t, w.bus, submitted)
	if err := h.Update(loop.Patch{Given: limits.Given{MaxIterations: new(8)}}); err != nil || !strings.HasPrefix(h.Result().Text, "8 iterations") {
		t.Errorf("changed to %+v, %v", h.Result(), err)
	}
	if err := h.Update(loop.Patch{Prompt: new("Do more")}); !errors.Is(err, ErrNobody) {
		t.Errorf("the prompt of a loop that nobody runs: %v", err)
	}
	h.Record = w.until(submitted, isEnded)
	for line := range strings.Lines(w.said()) {
		if !strings.Contains(line, "--max-iterations=2 --backend=pi --max-iterations=8 [") {
			t.Errorf("the child ran as %s", line)
		}
	}
	for _, p := range []loop.Patch{{}, {Prompt: new("Do more")}} {
		if err := h.Update(p); !errors.Is(err, ErrEnded) {
			t.Errorf("of one that has ended: %v", err)
		}
	}
}

// A worker goes by the clock of the bus: it neither passes a wait over nor makes one longer.
func TestAClockThatIsWrong(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		w := newWorks(t)
		w.bus.ahead = ahead
		w.write("log.pauses", "") // it waits until three hours of its own clock from now
		w.write("log.does", `resume="record: '{\"resumeAt\":\"$(date -u -d '+3 hours' +%FT%TZ)\"}'"`)
		r := w.until(w.submit(), isPaused)
		if in := time.Until(r.ResumeAt.Add(ahead)); in < 2*time.Hour || in > 3*time.Hour {
			t.Errorf("%v ahead it waits until %v", ahead, r.ResumeAt)
		}
		var l ledger.Ledger
		proctest.Until(t, "a sweep", func() bool { l, _ = ledger.Whole(t.Context(), w.bus); return !l.Swept.IsZero() })
		if off := time.Until(l.Swept.Add(ahead)); off.Abs() > time.Hour/2 {
			t.Errorf("%v ahead it sweeps as if it were %v", ahead, l.Swept)
		}
		clear(w.bus.ledger)
		held := time.Now().Add(-ahead + 30*time.Minute).UTC()
		ledger.Change(t.Context(), w.bus, func(l *ledger.Ledger) bool { l.Hold("", held); return true })
		os.Remove(w.log + ".does")
		if err := handle(t, w.bus, r).Resume(loop.Patch{}); err != nil {
			t.Fatal(err)
		}
		r = w.until(r, func(r Record) bool { return r.Reason != "" || r.Phase == Ended })
		if l, _ := ledger.Whole(t.Context(), w.bus); r.Phase == Ended || !l.Held[""].Equal(held) {
			t.Errorf("%v ahead the hold of a key is passed over: %+v", ahead, r)
		}
	}
}

// A provider that refuses a loop holds all that have its key.
func TestARefusalHoldsTheKey(t *testing.T) {
	w := newWorks(t)
	w.task.Key = "anthropic"
	w.write("log.does", `resume="record: '{\"inARow\":{\"RateLimits\":1},\"resumeAt\":\"2100-01-01T00:00:00Z\"}'"`)
	w.until(w.submit(), func(Record) bool {
		l, err := ledger.Whole(t.Context(), w.bus)
		return err == nil && l.Held["anthropic"].Year() == 2100
	})
}

// noLedger is a bus whose ledger isn't one.
type noLedger struct{ *memory }

func (noLedger) Ledger(context.Context, string) (ledger.Ledger, uint64, error) {
	return ledger.Ledger{}, 0, ledger.ErrBroken
}

func TestALoopWaitsForALedger(t *testing.T) {
	w := newWorks(t)
	w.worker.Bus = noLedger{w.bus}
	r := w.until(w.submit(), func(r Record) bool { return r.Reason != "" })
	if r.Phase != Queued || r.Attempt != 0 || r.Reason != ledger.ErrBroken.Error() {
		t.Errorf("it is %+v", r)
	}
}
