package window

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/keeper/door"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const loopID = "ralph-watched"

// place is a folder with a loop.
type place struct {
	t    *testing.T
	dir  string
	file *loopstate.File
}

func newPlace(t *testing.T) *place {
	t.Setenv(paths.EnvState, t.TempDir())
	p := &place{t: t, dir: t.TempDir()}
	var err error
	if p.file, err = loopstate.Open(p.dir); err != nil {
		t.Fatal(err)
	}
	return p
}

// locked takes the folder for an owner, and lets it go with release.
func (p *place) locked(owner loopstate.Owner) (release func()) {
	owner.LoopID, owner.PID = loopID, os.Getpid()
	lock, err := p.file.Lock(owner)
	must.OK(p.t, err)
	return func() {
		if err := lock.Release(); err != nil {
			p.t.Error(err)
		}
	}
}

// driver drives the loop, as far as others see that.
type driver struct {
	*journal.Recorder
	*place
	door   *door.Door
	server *control.Server
	free   func()

	mu    sync.Mutex
	asked []loop.Request
	open  []ask.Question
}

// drives has a process drive the loop.
func (p *place) drives() *driver {
	d := &driver{Recorder: journal.NewRecorder(nobody{}), place: p, door: door.New()}
	d.serve(d.Open(loopID, true))
	return d
}

// serve lets windows in.
func (d *driver) serve(log *journal.Log) {
	var err error
	if d.server, err = control.Serve(filepath.Join(d.t.TempDir(), "loop"), loop.Answering(d.Do), d.door.Connect); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(d.server.Close)
	d.door.Begun(d, log)
	d.free = d.locked(loopstate.Owner{Standing: loopstate.Standing{Control: d.server.Path}})
}

func (d *driver) ID() string { return loopID }
func (d *driver) Status() loop.Status {
	return loop.Status{LoopID: loopID, Folder: d.dir, State: loop.StateRunning, Work: loop.Work{Questions: d.open}}
}

func (d *driver) Do(_ int, q loop.Request) loop.Reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, q)
	return loop.Reply{}
}

// runs tells an iteration.
func (d *driver) runs(n int, text string) {
	d.HandleLoop(loop.IterationStart{Iteration: n})
	d.Handle(stream.Text{MessageID: text, Delta: text})
	d.Handle(stream.MessageEnd{MessageID: text, Text: text})
	d.HandleLoop(loop.IterationEnd{Iteration: n, Outcome: loop.OutcomeOK})
}

// ends tells the loop's end, and lets go of the folder.
func (d *driver) ends(why loop.StopReason) {
	end := loop.End{Reason: why, Iterations: 1, Status: d.Status()}
	d.HandleLoop(end)
	d.free()
	d.door.Finish(end)
}

// nobody hears what a loop tells.
type nobody struct{}

func (nobody) Handle(stream.Event)   {}
func (nobody) HandleLoop(loop.Event) {}

// screen is what a terminal shows.
type screen struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// watches begins to watch. What has ended is told by over.
func (p *place) watches() (w *Watch, shown *screen, over func() error) {
	w, shown = NewWatch(p.dir, loopID, loop.Status{}, journal.StoryOf(loopID, ""), client.Hello{}), new(screen)
	display := terminal.NewDisplay(terminal.Console, terminal.Config{Out: shown, Notes: shown, Width: func() int { return 80 }, IsLive: w.IsLive})
	display.Start(w, w.Status)
	type ending struct {
		loop.End
		err error
	}
	result := make(chan ending, 1)
	go func() {
		end, err := w.Follow(context.Background())
		result <- ending{end, err}
	}()
	return w, shown, func() error {
		it := <-result
		display.End(it.End)
		display.Close(nil)
		return it.err
	}
}

// A question can be answered when it comes while somebody looks on, or is open when they come. What was asked before, and
// is shown only now, can't.
func TestWhatCanBeAnswered(t *testing.T) {
	for name, open := range map[string][]ask.Question{"nothing is asked": nil, "a question is open": {{ID: "q1", Title: "Which?"}}} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			w := NewWatch(p.dir, loopID, loop.Status{}, journal.StoryOf(loopID, ""), client.Hello{})
			if w.IsLive() {
				t.Error("it is live, and nobody drives it")
			}
			recorder, windows := journal.NewRecorder(nobody{}), door.New()
			d := &driver{Recorder: recorder, place: p, door: windows, open: open}
			log := d.Open(loopID, true)
			d.runs(1, "before")
			d.serve(log)
			over := make(chan struct{})
			go func() { _, _ = w.Follow(context.Background()); close(over) }()
			proctest.Until(t, "a connection", func() bool { return w.Do(loop.Request{Do: loop.DoPause}) == nil })
			if w.IsLive() != (open != nil) {
				t.Errorf("what was before is live: %t", w.IsLive())
			}
			proctest.Until(t, "all is shown", func() bool {
				page, behind := w.Next(false)
				return len(page.Items) > 0 && behind == 0
			})
			if !w.IsLive() {
				t.Error("what comes isn't live")
			}
			d.ends(loop.StopCancelled)
			<-over
			if w.IsLive() || w.Status().LoopID != loopID {
				t.Errorf("behind the end it is live: %t, %+v", w.IsLive(), w.Status())
			}
		})
	}
}

// Who keeps watching sees it when another process goes on with a loop that was over.
func TestKeepWatchesWhoGoesOn(t *testing.T) {
	p := newPlace(t)
	one := p.drives()
	one.runs(1, "first")
	w := NewWatch(p.dir, loopID, loop.Status{}, journal.StoryOf(loopID, ""), client.Hello{})
	ctx, leave := context.WithCancel(context.Background())
	kept := make(chan struct{})
	go func() { w.Keep(ctx); close(kept) }()
	shown := ""
	shows := func(text string) {
		proctest.Until(t, text, func() bool {
			for page, more := (journal.Page{}), true; more; more = page.More {
				page, _ = w.Next(false)
				for _, it := range page.Items {
					shown += string(it.JSON)
				}
			}
			return strings.Contains(shown, text)
		})
	}
	shows("first")
	one.ends(loop.StopInterrupted)
	shows("_ralph/end")
	two := p.drives()
	two.runs(2, "second")
	shows("second")
	two.ends(loop.StopCancelled)
	shows("cancelled")
	if n := strings.Count(shown, `"phase":"begin"`); n != 2 {
		t.Errorf("%d iterations are shown in %s", n, shown)
	}
	leave()
	<-kept
}

// What is kept of a loop that nobody drives is shown once, however often it is looked whether somebody does. Who goes on
// with it shows what comes behind that.
func TestAStoryIsShownOnce(t *testing.T) {
	p := newPlace(t)
	one := p.drives()
	one.runs(1, "first")
	one.ends(loop.StopInterrupted)
	w := NewWatch(p.dir, loopID, loop.Status{}, journal.StoryOf(loopID, ""), client.Hello{})
	shown := ""
	reads := func() bool {
		for page, more := (journal.Page{}), true; more; more = page.More {
			page, _ = w.Next(false)
			for _, it := range page.Items {
				shown += string(it.JSON)
			}
		}
		return strings.Contains(shown, "second")
	}
	for range 3 {
		must.OK(t, must.Err(w.Follow(t.Context())))
		reads()
	}
	two := p.drives()
	over := make(chan struct{})
	go func() { _, _ = w.Follow(t.Context()); close(over) }()
	two.runs(2, "second")
	proctest.Until(t, "the second iteration", reads)
	two.ends(loop.StopCancelled)
	<-over
	reads()
	if begun, ended := strings.Count(shown, `"phase":"begin"`), strings.Count(shown, `_ralph/end`); begun != 2 || ended != 2 {
		t.Errorf("%d iterations and %d ends are shown in %s", begun, ended, shown)
	}
}

// A loop removes its state file a moment before it has written how it ended, and lets go of the folder behind that.
// Who begins to watch in between waits for the end. What it asks for is carried out meanwhile.
func TestWatchWaitsForALoopThatIsEnding(t *testing.T) {
	p := newPlace(t)
	d := p.drives()
	w, shown, over := p.watches()
	proctest.Until(t, "a connection", func() bool { return w.Do(loop.Request{Do: loop.DoPause}) == nil })
	d.mu.Lock()
	if len(d.asked) != 1 || d.asked[0].Do != loop.DoPause {
		t.Errorf("it was asked %+v", d.asked)
	}
	d.mu.Unlock()
	d.ends(loop.StopCancelled)
	if err := over(); err != nil || !strings.Contains(shown.String(), "cancelled") {
		t.Errorf("%v\n%s", err, shown)
	}
	if err := w.Do(loop.Request{Do: loop.DoPause}); err != loop.ErrNotRunning {
		t.Errorf("then it says %v", err)
	}
}

// What nobody drives is shown as it was, and what can't be followed as far as it is known.
func TestWatchOfWhatCannotBeFollowed(t *testing.T) {
	old := func(int, json.RawMessage) any { return loop.Reply{Error: "that is no request"} }
	for name, tt := range map[string]struct {
		owner func(t *testing.T) *loopstate.Owner
		want  string
	}{
		"nobody drives it": {owner: func(*testing.T) *loopstate.Owner { return nil }},
		"deaf": {
			owner: func(*testing.T) *loopstate.Owner {
				return &loopstate.Owner{Standing: loopstate.Standing{Deaf: "no room for a socket"}}
			},
			want: "drives it, and no room for a socket",
		},
		"of an older version": {
			owner: func(t *testing.T) *loopstate.Owner {
				server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), old, nil)
				must.OK(t, err)
				t.Cleanup(server.Close)
				return &loopstate.Owner{Standing: loopstate.Standing{Control: server.Path}}
			},
			want: "drives it, and " + client.ErrOld.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			past := journal.NewRecorder(nobody{})
			log := past.Open(loopID, true)
			(&driver{Recorder: past, place: p}).runs(1, "what was")
			log.Close()
			if owner := tt.owner(t); owner != nil {
				defer p.locked(*owner)()
			}
			_, shown, over := p.watches()
			err := over()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("it says %v", err)
			}
			if !strings.Contains(shown.String(), "what was") || !strings.Contains(shown.String(), "interrupted") {
				t.Errorf("it shows\n%s", shown)
			}
		})
	}
}

// A process that is killed can't say how its loop ended. What it kept is newer than what it told.
func TestWatchOfAProcessThatIsKilled(t *testing.T) {
	for _, tt := range []struct {
		kept  int
		begun bool
		want  int
	}{
		{0, false, 3}, {2, true, 3}, {5, true, 5},
		{4, false, 3}, // it runs next: the loop is paused, say, or its work is checked
	} {
		p := newPlace(t)
		var free func()
		server, err := control.Serve(filepath.Join(t.TempDir(), "loop"), nil, func(_ []byte, c control.Conn) bool {
			status := loop.Status{LoopID: loopID, Folder: p.dir, State: loop.StateRunning, Iteration: 3}
			data, _ := json.Marshal(client.Frame{Kind: client.Welcome, LoopID: loopID, Status: &status})
			_, _ = c.Write(append(data, '\n'))
			if tt.kept > 0 {
				if err := p.file.Create(loopstate.State{Active: true, Iteration: tt.kept, Begun: tt.begun, LoopID: loopID, Prompt: "Build it"}); err != nil {
					t.Error(err)
				}
			}
			free()
			return true
		})
		must.OK(t, err)
		defer server.Close()
		free = p.locked(loopstate.Owner{Standing: loopstate.Standing{Control: server.Path}})
		_, shown, over := p.watches()
		if err := over(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("gone in iteration %d, it was killed", tt.want)) {
			t.Errorf("it says %v", err)
		}
		if got := strings.TrimSpace(shown.String()); got != fmt.Sprintf("interrupted after %d iterations · cost unknown · 0s", tt.want) {
			t.Errorf("it shows %q", got)
		}
	}
}
