package notify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestLoopsOfOtherMachinesCall(t *testing.T) {
	status := func(s loop.Status) wire.LoopStatus {
		s.LoopID, s.Title, s.Error, s.LastLine, s.Iteration = "f1", secret, secret, secret, 3
		return wire.StatusOf(s, false)
	}
	runs, queued := status(loop.Status{State: loop.StateRunning}), status(loop.Status{State: loop.StateStarting})
	pausing := status(loop.Status{State: loop.StateRunning, Condition: loop.Condition{Pausing: true}})
	asks := runs
	asks.Questions = make([]wire.Question, 1)
	asks.Questions[0].ID, asks.Questions[0].Title = "q1", secret
	runs.Busy, pausing.Busy, queued.Busy = true, true, false
	waits := func(d time.Duration) wire.LoopStatus {
		return status(loop.Status{State: loop.StateWaiting, Work: loop.Work{Retry: &loop.RetryStatus{Reason: loop.WaitRateLimit, ResumeAt: time.Now().Add(d)}}})
	}
	over := func(why loop.StopReason) wire.LoopStatus {
		return status(loop.Status{State: why.Ending().State, Ended: loop.Ended{StopReason: why, EndedAt: time.Unix(1_700_000_000, 0)}})
	}
	paused := status(loop.Status{State: loop.StatePaused})
	for name, tt := range map[string]struct {
		stood []wire.LoopStatus
		want  string
	}{
		"done":              {[]wire.LoopStatus{queued, runs, over(loop.StopPromise), over(loop.StopPromise)}, "end ok done after 3 iterations"},
		"a limit":           {[]wire.LoopStatus{runs, over(loop.StopMaxCost)}, "end warning stopped after 3 iterations: cost limit reached"},
		"failed":            {[]wire.LoopStatus{runs, over(loop.StopFailures)}, "failed error failed after 3 iterations"},
		"by its workers":    {[]wire.LoopStatus{queued, status(loop.Status{State: loop.StateFailed, Ended: loop.Ended{StopReason: "worker_failures"}})}, "failed error ended after 3 iterations: worker failures"},
		"failed twice":      {[]wire.LoopStatus{runs, over(loop.StopFailures), runs, status(loop.Status{State: loop.StateFailed, Ended: loop.Ended{StopReason: loop.StopFailures}})}, "failed error failed after 3\nfailed error failed after 3"},
		"cancelled":         {[]wire.LoopStatus{runs, over(loop.StopCancelled)}, ""},
		"known as ended":    {[]wire.LoopStatus{over(loop.StopPromise)}, ""},
		"asks":              {[]wire.LoopStatus{runs, asks, asks, runs, asks}, "question warning it has a question"},
		"paused by itself":  {[]wire.LoopStatus{runs, paused}, "paused warning it has paused by itself"},
		"paused":            {[]wire.LoopStatus{runs, pausing, paused, queued, paused}, ""},
		"waits long":        {[]wire.LoopStatus{runs, waits(time.Hour), runs, waits(time.Hour)}, "waiting warning waiting (rate limit) until"},
		"waits for a bit":   {[]wire.LoopStatus{runs, waits(time.Second)}, ""},
		"waits on":          {[]wire.LoopStatus{waits(time.Hour), waits(time.Hour)}, ""},
		"waits for a word":  {[]wire.LoopStatus{runs, status(loop.Status{State: loop.StateWaiting})}, ""},
		"waits for a place": {[]wire.LoopStatus{runs, waits(-time.Hour)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var got []string
			for range 2 { // two editors have it
				s := &said{}
				a := NewRemote(settings.Notify{On: settings.NotifyEvents()}, At{Warn: s.warn}, dir)
				a.ways = []way{{Name: "test", send: s.take}}
				for _, l := range tt.stood {
					a.Stands(l)
					a.under.Wait()
				}
				a.Close()
				for _, n := range s.notes {
					got = append(got, n.Event+" "+string(n.Class)+" "+n.Text)
					if n.LoopID != "f1" || n.Title != "Ralph loop f1" || strings.Contains(n.Text, secret) {
						t.Errorf("%+v", n)
					}
				}
			}
			want := strings.Split(tt.want, "\n")
			if tt.want == "" {
				want = nil
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
					t.Fatalf("got %q, want %q", got, want)
				}
			}
		})
	}
}

// What was told is forgotten in time, and what isn't wanted isn't remembered.
func TestWhatWasToldIsForgotten(t *testing.T) {
	dir := t.TempDir()
	tell := func(on ...string) *said {
		s := &said{}
		a := NewRemote(settings.Notify{On: on}, At{Warn: s.warn}, dir)
		a.ways = []way{{Name: "test", send: s.take}}
		a.Asked("f1", "q1")
		a.Finish()
		return s
	}
	if s := tell(settings.NotifyEnd); len(s.notes) > 0 {
		t.Errorf("%+v", s.notes)
	}
	if s := tell(settings.NotifyQuestion); len(s.notes) != 1 {
		t.Errorf("%+v", s.notes)
	}
	for _, f := range paths.Newest(dir, "*") {
		age(t, dir, f.Name(), toldFor-time.Hour)
	}
	if s := tell(settings.NotifyQuestion); len(s.notes) > 0 {
		t.Errorf("%+v", s.notes)
	}
	for _, f := range paths.Newest(dir, "*") {
		age(t, dir, f.Name(), toldFor+time.Hour)
	}
	if s := tell(settings.NotifyQuestion); len(s.notes) != 1 {
		t.Errorf("%+v", s.notes)
	}
}

func age(t *testing.T, dir, name string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	must.OK(t, os.Chtimes(filepath.Join(dir, name), then, then))
}
