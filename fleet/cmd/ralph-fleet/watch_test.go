package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/client"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// yard is a bus with loops on it, and what a worker says of them.
type yard struct {
	t   *testing.T
	url string
	bus *natsbus.Bus
}

func newYard(t *testing.T) *yard {
	t.Helper()
	home(t)
	served, err := natsbus.Serve(natsbus.ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	bus, err := natsbus.Dial(t.Context(), natsbus.Options{URL: served.URL(), Name: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	return &yard{t, served.URL(), bus}
}

func (y *yard) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

// put puts a loop on the bus.
func (y *yard) put(id, name string) {
	y.t.Helper()
	r := fleet.Record{Task: fleet.Task{ID: id, Name: name, Repo: "/w/app", Base: strings.Repeat("c0ffee00", 5), At: time.Now()}, Phase: fleet.Queued, UpdatedAt: time.Now()}
	y.must(y.bus.Create(y.t.Context(), r))
}

func (y *yard) change(id string, do func(*fleet.Record)) {
	y.t.Helper()
	_, err := fleet.Change(y.t.Context(), y.bus, id, func(r *fleet.Record) error { do(r); return nil })
	y.must(err)
}

// begin lets a worker begin an iteration.
func (y *yard) begin(id, worker string) {
	y.change(id, func(r *fleet.Record) { r.Begin(worker, time.Now()) })
}

// say says lines of an attempt live, the first of them as number from.
func (y *yard) say(id string, attempt, from int, lines ...string) {
	for i, line := range lines {
		y.must(y.bus.Tell(y.t.Context(), id, livelog.Tag([]byte(line+"\n"), attempt, from+i)))
	}
}

// commit lets an attempt count: what it said is a file now, and is said live no more.
func (y *yard) commit(id string, attempt int, o fleet.Outcome, lines ...string) {
	y.t.Helper()
	name := fleet.Record{Task: fleet.Task{ID: id}}.TranscriptFile(attempt)
	y.must(y.bus.PutFile(y.t.Context(), name, strings.NewReader(strings.Join(lines, "\n")+"\n")))
	y.change(id, func(r *fleet.Record) {
		if err := r.Commit(attempt, o, time.Now()); err != nil {
			y.t.Error(err)
		}
	})
	y.must(y.bus.Forget(y.t.Context(), id))
}

// asks shows a question of a loop's iteration.
func (y *yard) asks(id string, attempt int, questions ...ask.Question) {
	y.t.Helper()
	l := wire.StatusOf(loop.Status{LoopID: "ralph-1", Folder: "/box", State: loop.StateWaiting, Iteration: 1, Work: loop.Work{Questions: questions}}, true)
	y.must(y.bus.Show(y.t.Context(), fleet.Shown{ID: id, Attempt: attempt, Status: lsptest.JSON(l)}))
}

// said is what a command has printed so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// run runs a command of the user's.
func (y *yard) run(args ...string) (code int, out string) {
	var all said
	code = execute(y.t.Context(), append(args, "--bus", y.url), strings.NewReader(""), &all, &all)
	return code, all.String()
}

// watches begins to watch.
func (y *yard) watches(ctx context.Context, args ...string) (out *said, code chan int) {
	out, code = &said{}, make(chan int, 1)
	go func() {
		code <- execute(ctx, append(append([]string{"watch"}, args...), "--bus", y.url), strings.NewReader(""), out, out)
	}()
	return out, code
}

// until waits for what a command prints.
func (y *yard) until(out *said, part string) {
	y.t.Helper()
	for late := time.After(lsptest.Patience); !strings.Contains(out.String(), part); {
		select {
		case <-late:
			y.t.Fatalf("it doesn't say %q:\n%s", part, out)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func begins(n int) string {
	return string(lsptest.JSON(new(wire.Projector).Loop(loop.IterationStart{Iteration: n, MaxIterations: 9, Hat: "builder"})))
}

func ends(n int) string {
	return string(lsptest.JSON(new(wire.Projector).Loop(loop.IterationEnd{Iteration: n, Outcome: loop.OutcomeOK, Cost: stream.USD(0.1), Duration: stream.Duration(time.Minute)})))
}

func chunk(text string) string {
	return string(lsptest.JSON(wire.Chunk{SessionUpdate: wire.KindMessageChunk, MessageID: "m1", Content: wire.TextContent{Type: "text", Text: text}}))
}

func TestWatchReadsLikeARun(t *testing.T) {
	y := newYard(t)
	y.put("f1", "one")
	first := []string{begins(1), chunk("I look "), chunk("at it.\nNow"), `{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Bash make","status":"in_progress"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed","spent":{"durationMs":2000},"facts":"2s","content":[{"type":"content","content":{"type":"text","text":"no rule\nmore\n"}}]}`,
		`{"sessionUpdate":"usage_update","used":7}`, `{"sessionUpdate":"_ralph/warning","message":"mind the gap","text":"mind the gap"}`, ends(1), `{"sessionUpdate":"_ralph/end","stopReason":"once","text":"left"}`}
	y.begin("f1", "box")
	y.say("f1", 1, 1, first[:3]...)
	out, code := y.watches(t.Context(), "one")
	y.until(out, "I look at it.")         // what is still to come of a line comes with what is behind it
	y.say("f1", 1, 3, first[2], first[3]) // the first of them again
	y.until(out, "> Bash make")
	y.commit("f1", 1, fleet.Outcome{Iterations: 1}, first...) // the rest was said while nobody heard it
	y.begin("f1", "other")
	y.say("f1", 2, 1, begins(2), ends(2)) // its end is shown once it counts
	y.until(out, "iteration 2/9")
	y.commit("f1", 2, fleet.Outcome{Iterations: 2, CostUSD: 0.2, StopReason: "promise", Text: "done: DONE after 2 iterations · $0.20"}, begins(2), chunk("done"), ends(2))
	if got := <-code; got != 0 {
		t.Errorf("it ends with %d", got)
	}
	want := `(runs on box)
--- iteration 1/9 · builder ---
I look at it.
Now
> Bash make
  failed · 2s · no rule (+ 1 line)
warning: mind the gap
--- iteration 1: ok · $0.10 · 1m00s
(waits for a worker)
(runs on other)
--- iteration 2/9 · builder ---
done
--- iteration 2: ok · $0.10 · 1m00s
done: DONE after 2 iterations · $0.20
`
	got := strings.Replace(out.String(), "(waits for a worker)\n", "", 1)
	if got != strings.Replace(want, "(waits for a worker)\n", "", 1) {
		t.Errorf("it prints\n%s", out)
	}
}

// A loop that goes on at once where it was has nothing to say of that.
func TestWhereALoopRunsIsSaidWhenThatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var out bytes.Buffer
		s := newStory(&mu, &out, "f1", "", "")
		stands := func(phase fleet.Phase, worker string) {
			mu.Lock()
			defer mu.Unlock()
			s.stands(fleet.Record{Phase: phase, Worker: worker})
		}
		for _, worker := range []string{"box", "box", "other"} {
			stands(fleet.Running, worker)
			stands(fleet.Queued, "")
			stands(fleet.Queued, "")
		}
		time.Sleep(2 * brief)
		stands(fleet.Queued, "")
		stands(fleet.Running, "other")
		if want := "(runs on box)\n(runs on other)\n(waits for a worker)\n(runs on other)\n"; out.String() != want {
			t.Errorf("it prints\n%s", out.String())
		}
	})
}

func TestWhoWatchesSeveralLoopsSeesWhichOneSpeaks(t *testing.T) {
	y := newYard(t)
	y.put("f1", "one")
	y.put("f2", "two")
	y.begin("f1", "box")
	y.begin("f2", "box")
	out, code := y.watches(t.Context(), "one", "two")
	y.say("f1", 1, 1, chunk("half a "))
	y.say("f2", 1, 1, chunk("mine\nand"), begins(1))
	y.until(out, "two | --- iteration 1")
	y.say("f1", 1, 2, chunk("line\n"))
	y.until(out, "one | half a line\n")
	for _, whole := range []string{"two | mine\n", "two | and\n"} {
		if !strings.Contains(out.String(), whole) {
			t.Errorf("%q isn't whole:\n%s", whole, out)
		}
	}
	y.commit("f1", 1, fleet.Outcome{Iterations: 1, StopReason: "max_iterations", Text: "stopped after 1 iteration"}, chunk("half a "), chunk("line\n"))
	y.until(out, "one | stopped after 1 iteration")
	y.commit("f2", 1, fleet.Outcome{Iterations: 1, StopReason: "promise", Text: "done"}, chunk("mine\nand"), begins(1))
	if got := <-code; got != terminal.ExitCapped {
		t.Errorf("it ends with %d", got)
	}
}

func TestCtrlCLeavesAWatchedLoopAlone(t *testing.T) {
	y := newYard(t)
	y.put("f1", "one")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out, code := y.watches(ctx, "one")
	y.until(out, "(waits for a worker)")
	interrupt()
	if got := <-code; got != terminal.ExitCancelled || !strings.Contains(out.String(), "one goes on without being watched; ralph-fleet cancel f1 --bus "+y.url+" ends it") {
		t.Errorf("it ends with %d and\n%s", got, out)
	}
	if r, _, err := y.bus.Get(t.Context(), "f1"); err != nil || r.Phase != fleet.Queued || r.Wish != "" {
		t.Errorf("the loop is %s %q, %v", r.Phase, r.Wish, err)
	}
}

// cable leads to the bus, and can be cut.
type cable struct {
	mu    sync.Mutex
	isCut bool
	ends  []net.Conn
}

func (c *cable) cut(isCut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.isCut = isCut; len(c.ends) > 0; c.ends = c.ends[1:] {
		c.ends[0].Close()
	}
}

// cable leads what asks for the bus over one.
func (y *yard) cable() *cable {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	y.must(err)
	y.t.Cleanup(func() { l.Close() })
	c, bus := &cable{}, strings.TrimPrefix(y.url, "nats://")
	y.url = "nats://" + l.Addr().String()
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			if c.isCut {
				here.Close()
			} else if there, err := net.Dial("tcp", bus); err != nil {
				here.Close()
			} else {
				c.ends = append(c.ends, here, there)
				go func() { io.Copy(there, here); there.Close() }()
				go func() { io.Copy(here, there); here.Close() }()
			}
			c.mu.Unlock()
		}
	}()
	y.t.Cleanup(func() { c.cut(true) })
	return c
}

func TestWhoWatchesIsToldThatTheBusIsAway(t *testing.T) {
	for _, tt := range []struct{ flag, away, back string }{
		{"--json=false", "(the bus is away: loops go on, ", "(the bus is there again)\n"},
		{"--json", `{"sessionUpdate":"_ralph/warning","message":"the bus is away: loops go on, `, `"message":"the bus is there again"`},
	} {
		y := newYard(t)
		c := y.cable()
		y.put("f1", "one")
		y.begin("f1", "box")
		y.say("f1", 1, 1, begins(1))
		out, code := y.watches(t.Context(), "one", tt.flag)
		y.until(out, "iteration 1")
		c.cut(true)
		y.until(out, tt.away)
		c.cut(false)
		y.until(out, tt.back)
		y.commit("f1", 1, fleet.Outcome{Iterations: 1, StopReason: "promise", Text: "done"}, begins(1), ends(1))
		if got := <-code; got != 0 || strings.Count(out.String(), tt.away) != 1 || strings.Count(out.String(), tt.back) != 1 {
			t.Errorf("it ends with %d and\n%s", got, out)
		}
	}
}

// lossy is a bus whose first answers get lost.
type lossy struct {
	fleet.Bus
	left int
}

func (l *lossy) Get(ctx context.Context, id string) (fleet.Record, uint64, error) {
	if l.left--; l.left >= 0 {
		return fleet.Record{}, 0, context.DeadlineExceeded
	}
	return l.Bus.Get(ctx, id)
}

func TestAnAnswerThatGotLostIsAskedForAgain(t *testing.T) {
	y := newYard(t)
	y.put("f1", "one")
	y.begin("f1", "box")
	y.commit("f1", 1, fleet.Outcome{Iterations: 1, StopReason: "promise", Text: "done"}, begins(1), ends(1))
	var out strings.Builder
	show := func(line []byte, _ bool) error {
		_, err := out.Write(line)
		return err
	}
	if r, err := client.Watch(t.Context(), &lossy{y.bus, 2}, "f1", false, show, func(fleet.Record) {}); err != nil || r.Phase != fleet.Ended || out.String() != begins(1)+"\n"+ends(1)+"\n" {
		t.Errorf("it is %s, %v, and said\n%s", r.Phase, err, &out)
	}
}

func TestWatchForPrograms(t *testing.T) {
	y := newYard(t)
	y.put("f1", "one")
	y.begin("f1", "box")
	y.commit("f1", 1, fleet.Outcome{Iterations: 1, StopReason: "failures", Text: "failed"}, begins(1), ends(1))
	code, out := y.run("watch", "one", "--json")
	if code != terminal.ExitFailed || out != begins(1)+"\n"+ends(1)+"\n" {
		t.Errorf("it ends with %d and\n%s", code, out)
	}
	y.put("f2", "two")
	if code, out := y.run("watch", "--json", "one", "two"); code != 1 || !strings.Contains(out, "--json is of one loop") {
		t.Errorf("it ends with %d and\n%s", code, out)
	}
	if code, out := y.run("watch", "two", "--now"); code != 0 || out != "(waits for a worker)\n" {
		t.Errorf("it ends with %d and\n%s", code, out)
	}
}

func TestWhoAnswersSeesWhatIsAskedAndHow(t *testing.T) {
	y := newYard(t)
	y.put("f1", "one two's")
	y.begin("f1", "box")
	push := ask.Question{ID: "q1abc", Kind: ask.Permission, Title: "Bash git push …", Detail: "git push\n  --force", Rule: "Bash(git push:*)"}
	which := ask.Question{ID: "q2abc", Kind: ask.Select, Title: "Which?", Options: []string{"A", "B C"}}
	y.asks("f1", 1, push, which)
	code, out := y.run("answer", "one two's")
	want := `asks: Bash git push … [q1abc]
  git push
    --force
  answer: ralph-fleet answer 'one two'\''s' --bus ` + y.url + ` q1abc ... (deny [words for the agent], once, loop (Bash(git push:*)))
asks: Which? [q2abc]
  1: A
  2: B C
  answer: ralph-fleet answer 'one two'\''s' --bus ` + y.url + ` q2abc ... (deny, or a number)
`
	if code != 0 || out != want {
		t.Errorf("it ends with %d and\n%s", code, out)
	}
	var asked []string
	stop, err := y.bus.Listen(t.Context(), "f1", func(text []byte) []byte {
		var q loop.Request
		y.must(json.Unmarshal(text, &q))
		asked = append(asked, fmt.Sprint(q.Do, " ", q.ID, " ", q.Answer))
		return []byte(`{"iteration":3}`)
	})
	y.must(err)
	defer stop()
	for _, tt := range []struct{ args, says string }{
		{"q2abc 2", "answered: Which?: B C\n"},
		{"q1abc no not that branch", "denied: Bash git push …: not that branch\n"},
		{"q1abc maybe", "one two's: \"maybe\" is no answer: deny [words for the agent], once"},
		{"q1abc", "one two's: the answer is missing: deny"},
		{"once", "one two's: 2 questions are open: say which one is meant, as in ralph-fleet answer 'one two'\\''s' q1abc deny"},
		{"q9 once", "one two's: 2 questions are open: say which one is meant"},
	} {
		code, out := y.run(append([]string{"answer", "one two's"}, strings.Fields(tt.args)...)...)
		if wantCode := map[bool]int{true: 0, false: 1}[strings.HasSuffix(tt.says, "\n")]; code != wantCode || !strings.Contains(out, tt.says) {
			t.Errorf("answer %s ends with %d and says %s", tt.args, code, out)
		}
	}
	if got := strings.Join(asked, "\n"); got != "answer q2abc {value B C terminal}\nanswer q1abc {deny not that branch terminal}" {
		t.Errorf("the worker is asked\n%s", got)
	}
	if _, out := y.run("status"); !strings.Contains(out, "one two's waits for an answer: ralph-fleet answer f1 --bus "+y.url+"\n") {
		t.Errorf("the status says\n%s", out)
	}
	stop()
	y.change("f1", func(r *fleet.Record) { r.Phase, r.StopReason, r.Text = fleet.Ended, "promise", "done" })
	if code, out := y.run("answer", "f1"); code != 1 || !strings.Contains(out, "one two's has ended (done): its agent asks nothing any more") {
		t.Errorf("of an ended loop it ends with %d and says %s", code, out)
	}
}
