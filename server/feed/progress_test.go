package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

var progressClient = client.Info{WorkDoneProgress: true}

// shownLoop is a loop's status that a test changes.
type shownLoop struct {
	mu sync.Mutex
	s  loop.Status
}

func (l *shownLoop) status() loop.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.s
}

func (l *shownLoop) set(change func(*loop.Status)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.s)
}

// progressFeed starts a feed whose progress shows l, and lets it begin.
func progressFeed(ed *clienttest.Editor, l *shownLoop) *fed {
	f := newFeed(ed, func(bool) {})
	f.begin(l.status)
	synctest.Wait()
	return f
}

func messages(t *testing.T, ed *clienttest.Editor) (kinds, texts []string, at []time.Time) {
	t.Helper()
	params, at := clienttest.Received[ProgressParams](ed, MethodProgress)
	for _, p := range params {
		if p.Token != "ralph/l1" {
			t.Errorf("token %q", p.Token)
		}
		kinds, texts = append(kinds, p.Value.Kind), append(texts, p.Value.Message)
	}
	return kinds, texts, at
}

func TestProgressOfALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: progressClient}
		l := &shownLoop{s: loop.Status{State: loop.StateStarting, Iteration: 1, Session: stream.SessionStart{Backend: "pi"}, Limits: loop.Limits{MaxIterations: 50}}}
		f := progressFeed(ed, l)
		l.set(func(s *loop.Status) { s.State = loop.StateRunning })
		f.HandleLoop(loop.IterationStart{Iteration: 1})
		synctest.Wait()
		call := stream.ToolCall{ID: "t1", Name: "bash", Input: []byte(`{"command":"go test ./..."}`)}
		l.set(func(s *loop.Status) {
			s.Iteration, s.Cost, s.Tool = 3, stream.USD(1.42), &loop.ToolStatus{Call: call}
		})
		f.Handle(call)
		time.Sleep(time.Second)
		f.HandleLoop(loop.End{Reason: loop.StopPromise, Promise: "DONE", Iterations: 7, Cost: stream.USD(3.1), Duration: stream.Duration(12*time.Minute + 3*time.Second)})
		f.Close()

		var got []string
		for _, n := range ed.Got {
			got = append(got, n.Method+" "+string(lsptest.JSON(n.Params)))
		}
		want := []string{
			`window/workDoneProgress/create {"token":"ralph/l1"}`,
			`$/progress {"token":"ralph/l1","value":{"kind":"begin","title":"Ralph","cancellable":true,"message":"1/50 · pi · starting","percentage":0}}`,
			`$/progress {"token":"ralph/l1","value":{"kind":"report","message":"1/50 · working","percentage":0}}`,
			`$/progress {"token":"ralph/l1","value":{"kind":"report","message":"3/50 · $1.42 · bash go test ./...","percentage":4}}`,
			`$/progress {"token":"ralph/l1","value":{"kind":"end","message":"done: DONE after 7 iterations · $3.10 · 12m03s · nothing verified this"}}`,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got:\n%v\nwant:\n%v", got, want)
		}
	})
}

func TestReportText(t *testing.T) {
	limits := loop.Limits{MaxIterations: 50}
	problem := "529 overloaded"
	tests := []struct {
		name    string
		s       loop.Status
		problem *string
		want    string
		percent int // -1: none
	}{
		{"text", loop.Status{State: loop.StateRunning, Iteration: 26, Limits: limits, Work: loop.Work{LastLine: "Now the tests."}}, nil, "26/50 · Now the tests.", 50},
		{"unlimited", loop.Status{State: loop.StateRunning, Iteration: 4, Work: loop.Work{LastLine: "x"}}, nil, "4 · x", -1},
		{"part of the cost is unknown", loop.Status{State: loop.StateRunning, Iteration: 1, Usage: loop.Usage{Cost: stream.USD(2), UnknownCosts: 4}}, nil, "1 · $2.00 and 4 runs of unknown cost · working", -1},
		{"no iteration yet", loop.Status{State: loop.StateStarting, Limits: limits}, nil, "1/50 · starting", 0},
		{"the limit was lowered", loop.Status{State: loop.StateRunning, Iteration: 7, Limits: loop.Limits{MaxIterations: 2}}, nil, "7/2 · working", 100},
		{"tool without input", loop.Status{State: loop.StateRunning, Iteration: 1, Work: loop.Work{Tool: &loop.ToolStatus{Call: stream.ToolCall{Name: "ask"}}, LastLine: "x"}}, nil, "1 · ask", -1},
		{"error", loop.Status{State: loop.StateRunning, Iteration: 1, Work: loop.Work{LastLine: "x"}}, &problem, "1 · error: 529 overloaded", -1},
		{"rate limit", loop.Status{State: loop.StateWaiting, Iteration: 1, Work: loop.Work{Retry: &loop.RetryStatus{Reason: "rate_limit", ResumeAt: time.Date(2026, 1, 2, 14, 5, 0, 0, time.Local)}}}, nil, "1 · waiting (rate limit) until 14:05", -1},
		{"paused", loop.Status{State: loop.StatePaused, Iteration: 1}, nil, "1 · paused", -1},
		{"cancelling", loop.Status{State: loop.StateCancelling, Iteration: 1}, nil, "1 · stopping", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := ReportOf(tt.s, tt.problem)
			percent := -1
			if v.Percentage != nil {
				percent = *v.Percentage
			}
			if v.Message != tt.want || percent != tt.percent {
				t.Errorf("got %q %d, want %q %d", v.Message, percent, tt.want, tt.percent)
			}
		})
	}
}

func TestEndText(t *testing.T) {
	for want, e := range map[string]loop.End{
		"done: ALL GREEN after 1 iteration · $0.00 · 9s · nothing verified this":                              {Reason: loop.StopPromise, Promise: "ALL GREEN", Iterations: 1, Cost: stream.USD(0), Duration: stream.Duration(9 * time.Second)},
		"stopped after 50 iterations: iteration limit reached · cost unknown · 1h02m":                         {Reason: loop.StopMaxIterations, Iterations: 50, Duration: stream.Duration(62 * time.Minute)},
		"done: ALL GREEN after 2 iterations · cost unknown · 9s · verified: make passed · no file changed":    {Reason: loop.StopPromise, Promise: "ALL GREEN", Iterations: 2, Duration: stream.Duration(9 * time.Second), Verified: "make passed", Changes: &changes.Summary{}},
		"cancelled after 0 iterations · cost unknown · 0s":                                                    {Reason: loop.StopCancelled},
		"failed after 5 iterations: too many failures in a row · cost unknown · 3s · 401 key is not accepted": {Reason: loop.StopFailures, Iterations: 5, Duration: stream.Duration(3 * time.Second), Error: "401 key is not accepted"},
		"ended after 2 iterations: new reason · cost unknown · 0s":                                            {Reason: "new_reason", Iterations: 2},
	} {
		if got := wire.EndText(e); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// The agent writes a line each millisecond.
func TestReportsKeepTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: progressClient}
		l := &shownLoop{s: loop.Status{State: loop.StateRunning, Iteration: 1}}
		f := progressFeed(ed, l)
		for i := range 10_000 {
			l.set(func(s *loop.Status) { s.LastLine = fmt.Sprint("line ", i) })
			say(f, "x")
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		_, texts, at := messages(t, ed)
		if len(at) < 38 || len(at) > 43 {
			t.Errorf("%d messages in 10 s, want 4 a second", len(at))
		}
		if got := clienttest.Shortest(clienttest.Gaps(at[1:])); got < reportInterval {
			t.Errorf("two reports within %v", got)
		}
		if last := texts[len(texts)-1]; last != "1 · line 9999" {
			t.Errorf("the last report is %q", last)
		}
		f.Close()
	})
}

func TestImportantReportsComeAtOnce(t *testing.T) {
	same := func(*loop.Status) {}
	tests := []struct {
		name   string
		change func(s *loop.Status)
		event  func(f *fed)
		want   string
	}{
		{
			"iteration", func(s *loop.Status) { s.Iteration++ },
			func(f *fed) { f.HandleLoop(loop.IterationStart{Iteration: 2}) }, "2 · working",
		},
		{"error", same, func(f *fed) { f.Handle(stream.Error{Message: "503"}) }, "1 · error: 503"},
		{"failed run", same, func(f *fed) { f.HandleLoop(loop.IterationEnd{Error: "exit status 1"}) }, "1 · error: exit status 1"},
		{
			"pause", func(s *loop.Status) { s.State = loop.StatePaused },
			func(f *fed) { f.HandleLoop(loop.StateChanged{State: loop.StatePaused}) }, "1 · paused",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ed := &clienttest.Editor{Is: progressClient}
				l := &shownLoop{s: loop.Status{State: loop.StateRunning, Iteration: 1}}
				f := progressFeed(ed, l)
				defer f.Close()
				say(f, "x")
				synctest.Wait() // a report a moment ago
				l.set(tt.change)
				tt.event(f)
				time.Sleep(flushInterval) // as the update itself
				synctest.Wait()
				_, texts, _ := messages(t, ed)
				if got := texts[len(texts)-1]; got != tt.want {
					t.Errorf("at once came %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestErrorIsHistoryWhenTheAgentGoesOn(t *testing.T) {
	for name, goOn := range map[string]func(f *fed){
		"text": func(f *fed) { say(f, "x") }, "tool": func(f *fed) { f.Handle(stream.ToolCall{ID: "t"}) },
		"iteration": func(f *fed) { f.HandleLoop(loop.IterationStart{Iteration: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ed := &clienttest.Editor{Is: progressClient}
				f := progressFeed(ed, &shownLoop{s: loop.Status{State: loop.StateRunning}})
				defer f.Close()
				f.Handle(stream.Error{Message: "503"})
				time.Sleep(time.Second)
				goOn(f)
				time.Sleep(time.Second)
				if _, texts, _ := messages(t, ed); fmt.Sprint(texts[1:]) != "[1 · error: 503 1 · working]" {
					t.Errorf("got %q", texts)
				}
			})
		})
	}
}

// Even what comes at once has a rate: an agent may print nothing but errors.
func TestFloodOfErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: progressClient}
		f := progressFeed(ed, &shownLoop{s: loop.Status{State: loop.StateRunning}})
		defer f.Close()
		for i := range 5000 {
			f.Handle(stream.Error{Message: fmt.Sprint("error ", i)})
			time.Sleep(time.Millisecond)
		}
		if _, texts, _ := messages(t, ed); len(texts) > 5*(urgentBurst+4)+2 {
			t.Errorf("%d reports in 5 s", len(texts))
		}
	})
}

func TestSameTextIsNotToldTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: progressClient}
		f := progressFeed(ed, &shownLoop{s: loop.Status{State: loop.StateRunning, Work: loop.Work{LastLine: "same"}}})
		for range 100 {
			say(f, "x")
			f.HandleLoop(loop.StateChanged{State: loop.StateRunning})
			time.Sleep(50 * time.Millisecond)
		}
		f.Close()
		if kinds, texts, _ := messages(t, ed); len(kinds) != 2 {
			t.Errorf("got %v %v, want a begin and an end", kinds, texts)
		}
	})
}

// Whatever the editor does, there is one end for a begin, none without, and
// nothing after it.
func TestOneEndForEachBegin(t *testing.T) {
	refuse := errors.New("no")
	end := loop.End{Reason: loop.StopCancelled}
	tests := []struct {
		name   string
		client client.Info
		create func(context.Context) error
		run    func(f *fed)
		want   string
	}{
		{"a loop that ends", progressClient, nil, func(f *fed) { f.HandleLoop(end) }, "[begin end]"},
		{"a loop that ends and still speaks", progressClient, nil, func(f *fed) {
			f.HandleLoop(end)
			say(f, "x")
			f.HandleLoop(loop.StateChanged{State: loop.StateEnded})
		}, "[begin end]"},
		{"two ends", progressClient, nil, func(f *fed) { f.HandleLoop(end); f.HandleLoop(end) }, "[begin end]"},
		{"a feed that is closed without an end", progressClient, nil, func(*fed) {}, "[begin end]"},
		{"refused", progressClient, func(context.Context) error { return refuse }, func(f *fed) { f.HandleLoop(end) }, "[]"},
		{"unsupported", client.Info{}, nil, func(f *fed) { f.HandleLoop(end) }, "[]"},
		{"never answered", progressClient, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, func(f *fed) { f.HandleLoop(end) }, "[]"},
		{"answered late", progressClient, func(context.Context) error { time.Sleep(time.Minute); return nil }, func(f *fed) {
			f.HandleLoop(end)
			time.Sleep(time.Hour)
		}, "[begin end]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ed := &clienttest.Editor{Is: tt.client, Create: tt.create}
				f := progressFeed(ed, &shownLoop{})
				tt.run(f)
				f.Close()
				time.Sleep(time.Minute)
				if kinds, _, _ := messages(t, ed); fmt.Sprint(kinds) != tt.want {
					t.Errorf("got %v, want %s", kinds, tt.want)
				}
			})
		})
	}
}

// A report that waits for a slow editor must not come after the end.
func TestEndOvertakesNoReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ed := &clienttest.Editor{Is: progressClient, Slow: true}
		l := &shownLoop{}
		f := progressFeed(ed, l)
		l.set(func(s *loop.Status) { s.LastLine = "news" })
		f.HandleLoop(loop.IterationStart{Iteration: 1})
		synctest.Wait()
		f.HandleLoop(loop.End{Reason: loop.StopCancelled})
		f.Close()
		ed.Deliver()
		kinds, _, _ := messages(t, ed)
		if fmt.Sprint(kinds) != "[begin end]" {
			t.Errorf("the slow editor got %v, want a begin and an end", kinds)
		}
	})
}

// A loop in which nothing happens costs nothing.
func TestIdleFeedsSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looked := 0
		var mu sync.Mutex
		var feeds []*fed
		client := clienttest.Full
		client.WorkDoneProgress = true
		ed := &clienttest.Editor{Is: client}
		for i := range 100 {
			f := newFeed(ed, func(bool) {})
			f.beginAs(fmt.Sprint("l", i), func() loop.Status {
				mu.Lock()
				defer mu.Unlock()
				looked++
				return loop.Status{}
			})
			say(f, "hi")
			feeds = append(feeds, f)
		}
		time.Sleep(loop.SilentAfter + time.Minute) // once, whether the agent is silent
		mu.Lock()
		before := looked
		mu.Unlock()
		time.Sleep(24 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if looked != before || before > 500 { // a begin, a sign, two reports and a silence of each
			t.Errorf("looked %d times while there was little to see, then %d times while nothing was", before, looked-before)
		}
		for _, f := range feeds {
			f.Close()
		}
	})
}
