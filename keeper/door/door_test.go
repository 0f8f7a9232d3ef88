package door

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// house is a loop with a door.
type house struct {
	*journal.Recorder
	t    *testing.T
	door *Door

	until chan struct{} // what the loop is asked for is done when this is closed; nil: at once

	looked chan struct{} // gets a signal each time somebody has looked how the loop stands, and waits for that to be taken; nil: nobody waits

	mu    sync.Mutex
	asked []loop.Request
	title string // of the loop
}

// inHouse has a test done in a bubble, with a loop that has begun unless isComing.
func inHouse(t *testing.T, isComing bool, test func(h *house)) {
	t.Setenv(paths.EnvState, t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		h := &house{Recorder: journal.NewRecorder(nobody{}), t: t, door: New()}
		if !isComing {
			h.begins()
		}
		test(h)
	})
}

func (h *house) begins() { h.door.Begun(h, h.Open("ralph-door", true)) }

func (h *house) ID() string { return "ralph-door" }

func (h *house) Status() loop.Status {
	h.mu.Lock()
	now := loop.Status{LoopID: h.ID(), Iteration: 7, Title: h.title}
	looked := h.looked
	h.mu.Unlock()
	if looked != nil {
		looked <- struct{}{}
	}
	return now
}

func (h *house) Do(pid int, q loop.Request) loop.Reply {
	if h.until != nil {
		<-h.until
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, q)
	h.title = q.Text
	return loop.Reply{Iteration: pid}
}

func (h *house) says(text string) {
	h.Handle(stream.Text{MessageID: text, Delta: text})
	h.Handle(stream.MessageEnd{MessageID: text, Text: text})
}

// nobody hears what a loop tells.
type nobody struct{}

func (nobody) Handle(stream.Event)   {}
func (nobody) HandleLoop(loop.Event) {}

// guest is a process that connects.
type guest struct {
	h    *house
	conn net.Conn
	in   *bufio.Reader
	told []string // kinds of frames, and the journal's lines as "line"
	last client.Frame
}

var guestPID = os.Getpid()

// comes connects, and says hello.
func (h *house) comes(hello client.Hello) *guest {
	theirs, ours := net.Pipe()
	first, err := json.Marshal(client.Frame{Kind: client.Connect, Hello: &hello})
	if err != nil {
		h.t.Fatal(err)
	}
	go h.door.Connect(first, control.Conn{ReadWriteCloser: ours, In: bufio.NewReader(ours), PID: guestPID})
	return &guest{h: h, conn: theirs, in: bufio.NewReader(theirs)}
}

// hears reads up to the first frame of a kind, or the end of the connection.
func (g *guest) hears(kind string) client.Frame {
	g.h.t.Helper()
	for g.hearsAny(); g.last.Kind != kind; g.hearsAny() {
	}
	return g.last
}

// hearsAny reads up to the next frame.
func (g *guest) hearsAny() {
	g.h.t.Helper()
	for {
		line, err := g.in.ReadBytes('\n')
		switch {
		case err != nil:
			g.h.t.Fatalf("%v behind %q", err, g.told)
		case bytes.HasPrefix(line, []byte(journal.LineHead)):
			g.told = append(g.told, "line")
			continue
		}
		g.last = client.Frame{}
		if err := json.Unmarshal(line, &g.last); err != nil {
			g.h.t.Fatal(err)
		}
		g.told = append(g.told, g.last.Kind)
		return
	}
}

// Who hears that something was done sees it: the answer comes behind the status, even where that was looked at just before.
func TestAnAnswerComesBehindTheStatusThatItBrought(t *testing.T) {
	inHouse(t, false, func(h *house) {
		g := h.comes(client.Hello{})
		g.hears(client.Status)
		looked := make(chan struct{})
		h.mu.Lock()
		h.looked = looked
		h.mu.Unlock()
		synctest.Wait()
		time.Sleep(2 * statusEvery) // it is looked at now, and waits to tell what it has seen
		go func() {
			data, _ := json.Marshal(client.Frame{Kind: client.Do, N: 1, Request: &loop.Request{Do: loop.DoPause, Steering: loop.Steering{Text: "done"}}})
			_, _ = g.conn.Write(append(data, '\n'))
		}()
		synctest.Wait() // it is done
		h.mu.Lock()
		h.looked = nil
		h.mu.Unlock()
		<-looked
		seen := ""
		for g.last.Kind != client.Reply {
			if g.hearsAny(); g.last.Kind == client.Status {
				seen = g.last.Status.Title
			}
		}
		if seen != "done" {
			t.Errorf("behind %q it is answered, and the status is of before: %q", g.told, seen)
		}
		g.conn.Close()
	})
}

// What the journal doesn't tell of how a loop stands is told when the loop says so, and a while later where it doesn't.
func TestHowALoopStandsIsTold(t *testing.T) {
	inHouse(t, false, func(h *house) {
		g := h.comes(client.Hello{})
		g.hears(client.Status)
		for title, most := range map[string]time.Duration{"said": statusPace, "unsaid": statusEvery} {
			synctest.Wait()
			began := time.Now()
			h.mu.Lock()
			h.title = title
			h.mu.Unlock()
			if title == "said" {
				h.door.Look()
			}
			if got, took := g.hears(client.Status).Status.Title, time.Since(began); got != title || took > most {
				t.Errorf("%q is told after %v, want %q", got, took, title)
			}
		}
		g.conn.Close()
	})
}

func TestAWindowIsToldToTheEnd(t *testing.T) {
	inHouse(t, false, func(h *house) {
		h.says("before")
		g := h.comes(client.Hello{})
		welcome := g.hears(client.Welcome)
		if welcome.LoopID != "ralph-door" || welcome.PID != os.Getpid() || welcome.Status.Iteration != 7 {
			t.Errorf("it is welcomed with %+v", welcome)
		}
		at := g.hears(client.At)
		late := h.comes(client.Hello{Cursor: at.Cursor})
		late.hears(client.Status)
		go func() {
			data, _ := json.Marshal(client.Frame{Kind: client.Do, N: 3, Request: &loop.Request{Do: loop.DoPause}})
			_, _ = g.conn.Write(append(data, '\n'))
		}()
		if reply := g.hears(client.Reply); reply.N != 3 || reply.Reply.Iteration != guestPID || len(h.asked) != 1 || h.asked[0].Do != loop.DoPause {
			t.Errorf("it is answered %+v, asked was %+v", reply, h.asked)
		}
		h.says("behind")
		end := loop.End{Reason: loop.StopMaxIterations, Iterations: 1}
		h.HandleLoop(end)
		finished := make(chan struct{})
		go func() { h.door.Finish(end); close(finished) }()
		for _, each := range []*guest{g, late} {
			if over := each.hears(client.Over); over.End.Reason != end.Reason || over.Status == nil {
				t.Errorf("its end is %+v", over)
			}
		}
		<-finished
		want := []string{"welcome", "status", "line", "at", "over"} // what was before its cursor isn't told again
		if diff := cmp.Diff(want, compact(late.told)); diff != "" {
			t.Error(diff)
		}
		refused := h.comes(client.Hello{}).hears(client.Refused)
		if err := refused.Reply.Err(); err != loop.ErrNotRunning {
			t.Errorf("who comes behind the end hears %v", err)
		}
	})
}

// compact leaves one of equal neighbours: how many lines and blocks there are is a matter of time.
func compact(kinds []string) (out []string) {
	for _, kind := range kinds {
		if n := len(out); n >= 2 && kind == out[n-2] || n >= 1 && kind == out[n-1] {
			continue
		}
		out = append(out, kind)
	}
	return out
}

func TestWhoComesBeforeTheLoopBeginsWaits(t *testing.T) {
	for name, begins := range map[string]bool{"it begins": true, "it fails": false} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, true, func(h *house) {
				g := h.comes(client.Hello{})
				synctest.Wait()
				want := client.Refused
				if begins {
					want = client.Welcome
					h.begins()
				} else {
					h.door.Failed()
				}
				g.hears(want)
				if len(g.told) != 1 {
					t.Errorf("it was told %q", g.told)
				}
				g.conn.Close()
				h.door.Finish(loop.End{})
			})
		})
	}
}

// Whoever ends a loop is told that this was done, and then how it ended.
func TestWhatEndsALoopIsAnsweredBeforeTheEnd(t *testing.T) {
	inHouse(t, false, func(h *house) {
		h.until = make(chan struct{})
		g := h.comes(client.Hello{})
		g.hears(client.Welcome)
		data, err := json.Marshal(client.Frame{Kind: client.Do, N: 1, Request: &loop.Request{Do: "cancel"}})
		if err == nil {
			_, err = g.conn.Write(append(data, '\n'))
		}
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // it is being done
		go func() {
			time.Sleep(time.Second) // as an answer that is on its way
			close(h.until)
		}()
		go h.door.Finish(loop.End{})
		g.told = nil
		g.hears(client.Over)
		if i := slices.Index(g.told, client.Reply); i < 0 {
			t.Errorf("it hears %q", g.told)
		}
	})
}

// A window that takes nothing delays an end for two seconds, one that owns the loop for thirty.
func TestFinishWaitsForNobodyForEver(t *testing.T) {
	for name, tt := range map[string]struct {
		owns bool
		want time.Duration
	}{"an onlooker": {false, otherWords}, "an owner": {true, lastWords}} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, false, func(h *house) {
				theirs, ours := net.Pipe()
				defer theirs.Close()
				w := NewWindow(ours, client.Hello{Owns: tt.owns})
				go h.door.Serve(w, bufio.NewReader(ours))
				in := bufio.NewReader(theirs)
				if f, err := client.ReadFrame(in); err != nil || f.Kind != client.Welcome {
					t.Fatal(f, err)
				}
				h.says("nobody reads this")
				h.HandleLoop(loop.End{})
				synctest.Wait()
				began := time.Now()
				h.door.Finish(loop.End{})
				if took := time.Since(began); took != tt.want || !w.IsGone() {
					t.Errorf("it took %v, want %v; it is gone: %t", took, tt.want, w.IsGone())
				}
			})
		})
	}
}

func TestAnswersAttendALoop(t *testing.T) {
	inHouse(t, false, func(h *house) {
		looks := h.comes(client.Hello{})
		looks.hears(client.Welcome)
		if h.door.IsAttended() {
			t.Error("who looks on attends it")
		}
		theirs, ours := net.Pipe()
		w := NewWindow(ours, client.Hello{Answers: true})
		go h.door.Serve(w, bufio.NewReader(ours))
		g := &guest{h: h, conn: theirs, in: bufio.NewReader(theirs)}
		g.hears(client.Welcome)
		if !h.door.IsAttended() {
			t.Error("who answers doesn't attend it")
		}
		theirs.Close()
		synctest.Wait()
		if h.door.IsAttended() {
			t.Error("who is gone attends it")
		}
		looks.conn.Close()
		h.door.Finish(loop.End{})
	})
}

// What isn't a window's hello is a request, for whoever answers those.
func TestWhatIsNoHello(t *testing.T) {
	d := New()
	for _, line := range []string{"", "{}", `{"do":"pause"}`, `{"k":"do"}`, `{"k":"hello"}`, `{"k":"hello","hello":{}`, `{"k":"over","hello":{}}`, ` {"k":"hello","hello":{}}`} {
		if d.Connect([]byte(line), control.Conn{}) {
			t.Errorf("%q is served as a window", line)
		}
	}
}
