package top

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// tale is a loop's story that grows.
type tale struct {
	mu    sync.Mutex
	items []journal.Item
	p     wire.Projector
	now   int
	news  []chan struct{} // of those who follow it
}

// following is the rest of a tale behind a cursor.
type following struct {
	*tale
	cursor string
	news   chan struct{}
}

func (s *tale) watch(cursor string) terminal.Story {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &following{s, cursor, make(chan struct{}, 1)}
	s.news = append(s.news, f.news)
	return f
}

func (f *following) News() <-chan struct{} { return f.news }

func (f *following) Next(bool) (journal.Page, int64) {
	page, _ := f.Read(context.Background(), f.cursor, journal.Options{})
	f.cursor = page.Cursor
	return page, 0
}

// tell tells all of them at once.
func (s *tale) tell(events ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(events...)
	for _, news := range s.news {
		select {
		case news <- struct{}{}:
		default: // it looks soon
		}
	}
}

func (s *tale) add(events ...any) {
	for _, e := range events {
		var u wire.Update
		switch e := e.(type) {
		case string:
			s.add(stream.Text{Delta: e, MessageID: fmt.Sprint(len(s.items))}, stream.MessageEnd{MessageID: fmt.Sprint(len(s.items)), Text: e})
			continue
		case loop.Event:
			if begin, ok := e.(loop.IterationStart); ok {
				s.now = begin.Iteration
			}
			u = s.p.Loop(e)
		case stream.Event:
			u = s.p.Event(e)
		}
		if u != nil {
			data, _ := json.Marshal(u)
			s.items = append(s.items, journal.Item{JSON: data, Iteration: s.now, At: noon})
		}
	}
}

func (s *tale) Read(_ context.Context, after string, o journal.Options) (journal.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := strconv.Atoi(after)
	end := len(s.items)
	for i := at; i < end && o.OneIteration; i++ {
		if s.items[i].Iteration != s.items[at].Iteration {
			end = i
		}
	}
	return journal.Page{Items: slices.Clone(s.items[at:end]), Cursor: strconv.Itoa(end)}, nil
}

func (s *tale) Outline(context.Context) (out wire.Outline, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told, last := map[int]json.RawMessage{}, -1
	for i, it := range s.items {
		if it.Iteration != last {
			out.Parts = append(out.Parts, wire.LogPart{Cursor: strconv.Itoa(i), Iteration: it.Iteration})
			last = it.Iteration
		}
		if _, ok := headOf(it.JSON); ok {
			told[it.Iteration] = it.JSON
		}
	}
	for _, p := range out.Parts {
		if u, ok := told[p.Iteration]; ok {
			out.Iterations = append(out.Iterations, u)
		}
	}
	return out, nil
}

// talk is a conversation with the screen.
type talk struct {
	t     testing.TB
	m     *model
	loops []loop.Status
	tales map[string]*tale
	ran   []string
	says  map[string]said // by command
	diff  changed         // of any iteration
	now   time.Time
	came  chan message
	shown strings.Builder
}

func newTalk(t testing.TB, width, height int, loops ...loop.Status) *talk {
	c := &talk{t: t, tales: map[string]*tale{}, says: map[string]said{}, now: noon, came: make(chan message, 16)}
	for _, st := range loops {
		c.loops = append(c.loops, st)
		c.tales[st.LoopID] = new(tale)
	}
	c.m = newModel(world{
		loops: func() []loop.Status { return slices.Clone(c.loops) },
		read:  func(s loop.Status) journal.Story { return c.tales[s.LoopID] },
		watch: func(_ context.Context, s loop.Status, cursor string) terminal.Story {
			return c.tales[s.LoopID].watch(cursor)
		},
		run: func(args ...string) said {
			c.ran = append(c.ran, strings.Join(args, " "))
			return c.says[args[0]]
		},
		diff: func(s loop.Status, iteration int) (changed, error) {
			c.ran = append(c.ran, fmt.Sprint("diff ", s.LoopID, " ", iteration))
			return c.diff, nil
		},
		now:    func() time.Time { return c.now },
		send:   func(msg message) { c.came <- msg },
		beside: func(do func()) { go do() },
	}, terminal.Palette{}, width, height)
	t.Cleanup(func() { c.m.close() })
	return c
}

// hears gives the screen messages, and what comes of them.
func (c *talk) hears(messages ...message) {
	for _, msg := range messages {
		gen := c.m.source.gen
		for _, do := range c.m.update(msg) {
			c.hears(do())
		}
		if c.m.source.gen != gen && c.m.id != "" {
			c.reads()
		}
	}
}

// reads waits until the screen has all that its loop's story has.
func (c *talk) reads() {
	for {
		select {
		case msg := <-c.came:
			c.hears(msg)
			if up, ok := msg.(caughtUp); ok && up.gen == c.m.source.gen {
				return
			}
		case <-time.After(time.Minute): // only a hang takes longer
			c.t.Fatal("the story isn't read")
		}
	}
}

// looks has the screen ask for its loops.
func (c *talk) looks() { c.hears(c.m.list()) }

// types has keys typed, as a terminal sends them.
func (c *talk) types(texts ...string) {
	var keys uv.EventDecoder
	for _, text := range texts {
		if pasted, ok := strings.CutPrefix(text, "\x1b[200~"); ok {
			c.hears(tea.PasteMsg{Content: strings.TrimSuffix(pasted, "\x1b[201~")})
			continue
		}
		for text != "" {
			n, event := keys.Decode([]byte(text))
			key, ok := event.(uv.KeyPressEvent)
			if !ok {
				c.t.Fatalf("%q is no key: %v", text, event)
			}
			c.hears(tea.KeyPressMsg(key))
			text = text[n:]
		}
	}
}

const (
	up, down, right, left = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
	pgup, pgdown          = "\x1b[5~", "\x1b[6~"
	enter, escape, tab    = "\r", "\x1b", "\t"
)

// screen is what is shown.
func (c *talk) screen() string {
	p := c.m.picture()
	fence := terminal.Palette{}.Fence()
	for i, row := range p.rows {
		if p.rows[i] = terminal.Fit(fence(row), p.width); terminal.Cells(p.rows[i]) > c.m.width {
			c.t.Errorf("row %d is too wide: %q", i, p.rows[i])
		}
		p.rows[i] = strings.TrimRight(p.rows[i], " ")
	}
	if len(p.rows) != c.m.height {
		c.t.Errorf("%d rows on a screen of %d", len(p.rows), c.m.height)
	}
	return strings.Join(p.rows, "\n") + "\n"
}

// shows adds the screen to what is compared with the golden file.
func (c *talk) shows(what string) { fmt.Fprintf(&c.shown, "-- %s --\n%s", what, c.screen()) }

func (c *talk) has(texts ...string) {
	c.t.Helper()
	for _, text := range texts {
		if screen := c.screen(); !strings.Contains(screen, text) {
			c.t.Errorf("%q isn't shown:\n%s", text, screen)
		}
	}
}

func (c *talk) hasNot(text string) {
	c.t.Helper()
	if screen := c.screen(); strings.Contains(screen, text) {
		c.t.Errorf("%q is shown:\n%s", text, screen)
	}
}

// hasRun says which commands were run since the last time.
func (c *talk) hasRun(commands ...string) {
	c.t.Helper()
	if !slices.Equal(c.ran, commands) {
		c.t.Errorf("ran %q, not %q", c.ran, commands)
	}
	c.ran = nil
}

func (c *talk) isGolden(name string) {
	c.t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(c.shown.String()), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != c.shown.String() {
		c.t.Errorf("%s differs (%v):\n%s", file, err, c.shown.String())
	}
}

func running() loop.Status {
	return loop.Status{
		LoopID: "ralph-parser", Folder: "/home/me/parser", State: loop.StateRunning, Iteration: 3, Title: "Mend the parser so that all tests pass",
		Limits: loop.Limits{MaxIterations: 50, MaxCostUSD: 10}, Usage: loop.Usage{Cost: stream.USD(1.42)}, Times: loop.Times{StartedAt: noon.Add(-time.Hour), IterationStartedAt: noon.Add(-2 * time.Minute)},
		Session: stream.SessionStart{Backend: "claude", Model: "opus"}, Work: loop.Work{Tool: &loop.ToolStatus{Call: stream.ToolCall{ID: "t", Name: "bash", Input: json.RawMessage(`{"command":"go test ./..."}`)}, StartedAt: noon}},
	}
}

func asking() loop.Status {
	st := loop.Status{LoopID: "ralph-site", Folder: "/home/me/site", State: loop.StateWaiting, Iteration: 1, Title: "Write the start page", Limits: loop.Limits{MaxIterations: 5}}
	st.Questions = []ask.Question{{ID: "q1", Kind: ask.Permission, Tool: "Write", Title: "Write index.html", Detail: "@@ -1 +1 @@\n-<h1>Old</h1>\n+<h1>New</h1>", Rule: "Write *.html"}}
	return st
}

func ended() loop.Status {
	end := loop.End{Reason: loop.StopPromise, Iterations: 2, Cost: stream.USD(0.4), Duration: stream.Duration(time.Minute)}
	end.Status = loop.Status{LoopID: "ralph-docs", Folder: "/home/me/docs", Title: "Proofread the manual", State: loop.StateEnded, Ended: loop.Ended{StopReason: loop.StopPromise, GivenUp: true}, Iteration: 2}
	st := loop.Status{LoopID: "ralph-docs", Folder: "/home/me/docs", State: wire.StateIdle, Ended: loop.Ended{Last: &end}}
	return st
}

// tellParser tells two iterations that are over and one that goes on.
func tellParser(s *tale) {
	for i := 1; i <= 2; i++ {
		s.tell(loop.IterationStart{Iteration: i, MaxIterations: 50}, fmt.Sprintf("Run **%d**: I look at the lexer.\n\n- first\n- second\n", i),
			stream.ToolCall{ID: "c", Name: "bash", Input: json.RawMessage(`{"command":"go test ./..."}`)}, stream.ToolResult{ID: "c"},
			loop.IterationEnd{Iteration: i, Outcome: loop.OutcomeOK, Cost: stream.USD(0.7), Duration: stream.Duration(90 * time.Second)})
	}
	s.tell(loop.IterationStart{Iteration: 3, MaxIterations: 50}, "Now the parser, which has a long function whose name is nowhere explained, so I read all of it before I touch it.\n")
}

// parserChanges are some files, each with a hunk that names it.
func parserChanges() changed {
	return changed{[]changes.File{
		{Path: "README.md", Status: changes.Modified, Added: 1, Removed: 1}, {Path: "parse/lexer.go", Status: changes.Modified, Added: 2},
		{Path: "parse/old/a.go", Status: changes.Deleted, Removed: 9}, {Path: "parse/tree.go", From: "parse/ast.go", Status: changes.Renamed, Added: 1},
		{Path: "logo.png", Status: changes.Added, Binary: true}, {Path: "run.sh", Status: changes.Mode},
	}, func(_ context.Context, f changes.File) string {
		return "diff --git a/" + f.Path + " b/" + f.Path + "\nold mode 100644\nindex 1..2 100644\n--- a/" + f.Path + "\n+++ b/" + f.Path + "\n@@ -1 +1,2 @@\n--- not a head\n-\told\n+\tnew " + f.Path + "\n"
	}}
}

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 50}}

func TestAMorning(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("morning-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			c := newTalk(t, size[0], size[1], running(), asking(), ended())
			tellParser(c.tales["ralph-parser"])
			c.tales["ralph-site"].tell(loop.IterationStart{Iteration: 1, MaxIterations: 5}, "I write the page.\n")
			c.tales["ralph-docs"].tell(loop.IterationStart{Iteration: 2}, "All is read.\n", loop.IterationEnd{Iteration: 2, Outcome: loop.OutcomeOK}, *ended().Last)
			c.shows("nothing is known yet")
			c.looks()
			c.shows("the first loop")
			c.types(left, enter)
			c.shows("the iteration before is unfolded")
			c.types(down)
			c.shows("one that asks")
			c.types("a")
			c.shows("its question")
			c.types(escape, down)
			c.shows("one that is over")
			c.types("?")
			c.shows("help")
			c.types(escape)
			c.diff = parserChanges()
			c.types("d", down, down)
			c.shows("its changes")
			c.types(escape, "o", "o", "f", "me/s")
			c.shows("by cost, and only some")
			c.isGolden(name)
		})
	}
}

// What turns is drawn ten times a second, and nothing turns where all loops rest: the picture of the next frame is the
// same then.
func TestOnlyWhatTurnsIsDrawnAgain(t *testing.T) {
	paused := running()
	paused.State = loop.StatePaused
	for name, tt := range map[string]struct {
		loops []loop.Status
		want  bool
	}{
		"none": {}, "at work": {[]loop.Status{running()}, true}, "waiting": {[]loop.Status{asking()}, true},
		"paused": {[]loop.Status{paused}, false}, "over": {[]loop.Status{ended()}, false},
	} {
		c := newTalk(t, 100, 30, tt.loops...)
		c.looks()
		before := c.screen()
		c.m.frame++
		if isOther := c.screen() != before; isTurning(c.m.seen()) != tt.want || isOther != tt.want {
			t.Errorf("%s: it turns: %t, the picture is another one: %t; want %t", name, isTurning(c.m.seen()), isOther, tt.want)
		}
	}
}
