package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// watcher is a loop's other observer.
type watcher struct{ warnings []string }

func (*watcher) Handle(stream.Event) {}

func (w *watcher) HandleLoop(e loop.Event) {
	if e, ok := e.(loop.Warning); ok {
		w.warnings = append(w.warnings, e.Message)
	}
}

// inHome gives a test a state folder, and returns where the folders of loops are in it.
func inHome(t *testing.T) string {
	t.Helper()
	t.Setenv(paths.EnvState, t.TempDir())
	dir, err := paths.Loops()
	must.OK(t, err)
	return dir
}

// journalOf is where a loop has its journal, in a folder that is made.
func journalOf(t *testing.T, dir, id string) string {
	t.Helper()
	its := filepath.Join(dir, paths.LoopName("", id))
	must.OK(t, os.MkdirAll(its, 0o700))
	return filepath.Join(its, registry.JournalName)
}

// told is a loop whose story a test tells.
type told struct {
	*Recorder
	watcher *watcher
	log     *Log
}

func begin(id string) told {
	w := &watcher{}
	r := NewRecorder(w)
	return told{r, w, r.Open(id, true)}
}

// iterate tells of an iteration.
func (l told) iterate(n int) {
	l.HandleLoop(loop.IterationStart{Iteration: n})
	l.say("m", fmt.Sprintf("text %d of ", n), "three ", "pieces")
	l.Handle(stream.Thinking{MessageID: "m", Delta: fmt.Sprint("thought ", n)})
	l.Handle(stream.ToolCall{ID: fmt.Sprint("t", n), Name: "bash"})
	l.Handle(stream.ToolResult{ID: fmt.Sprint("t", n), Output: "ok"})
	l.HandleLoop(loop.IterationEnd{Iteration: n, Outcome: loop.OutcomeOK})
}

func (l told) say(id string, pieces ...string) {
	for _, piece := range pieces {
		l.Handle(stream.Text{MessageID: id, Delta: piece})
	}
}

func (l told) end() { l.HandleLoop(loop.End{Reason: loop.StopPromise}) }

// readable is what can be read page by page.
type readable interface {
	Read(ctx context.Context, after string, o Options) (Page, error)
}

// all reads what is behind a cursor, and says it in short.
func all(t *testing.T, r readable, after string, o Options) (said []string, last Page) {
	t.Helper()
	for last.More = true; last.More; after = last.Cursor {
		var err error
		if last, err = r.Read(t.Context(), after, o); err != nil {
			t.Fatal(err)
		}
		said = append(said, short(t, last.Items)...)
	}
	return said, last
}

func short(t *testing.T, items []Item) (said []string) {
	t.Helper()
	for _, it := range items {
		var u struct {
			SessionUpdate, Phase, Status string
			Content                      json.RawMessage
		}
		if err := json.Unmarshal(it.JSON, &u); err != nil {
			t.Fatalf("%s: %v", it.JSON, err)
		}
		var text wire.TextContent
		_ = json.Unmarshal(u.Content, &text) // a tool's is a list
		said = append(said, strings.TrimSpace(fmt.Sprintf("%d %s %s%s%s", it.Iteration, strings.TrimPrefix(u.SessionUpdate, "_ralph/"), u.Phase, u.Status, text.Text)))
	}
	return said
}

func iteration(n int) []string {
	return []string{
		fmt.Sprintf("%d iteration begin", n), fmt.Sprintf("%d agent_message_chunk text %d of three pieces", n, n),
		fmt.Sprintf("%d agent_thought_chunk thought %d", n, n), fmt.Sprintf("%d tool_call in_progress", n),
		fmt.Sprintf("%d tool_call_update completed", n), fmt.Sprintf("%d iteration end", n),
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A cursor means the same to who listens, who asks later, in pages of any size, and who
// reads the loop of another process.
func TestOneStoryForAllReaders(t *testing.T) {
	dir := inHome(t)
	l := begin("ralph-a")
	f := l.log.Follow(l.log.Begun(), 0)
	var want []string
	for n := range 3 {
		l.iterate(n + 1)
		want = append(want, iteration(n+1)...)
	}
	l.end()
	want = append(want, "3 end")
	page, after, err := f.Next(t.Context(), Options{Thinking: true})
	if err != nil || after != l.log.Begun() {
		t.Fatal(after, err)
	}
	same(t, "live", short(t, page.Items), want)
	kept, err := Open("ralph-a")
	must.OK(t, err)
	for limit := range 5 {
		for name, r := range map[string]readable{"here": l.log, "elsewhere": kept} {
			got, last := all(t, r, "", Options{Limit: limit, Thinking: true})
			same(t, fmt.Sprint(name, " by ", limit), got, want)
			if last.Cursor != page.Cursor || last.Reset || last.Skipped > 0 {
				t.Errorf("%s ends with %+v, want %s", name, last, page.Cursor)
			}
		}
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, journalOf(t, dir, "ralph-a"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	got, _ := all(t, kept, "", Options{})
	if len(got) != len(want)-3 {
		t.Errorf("without thoughts there is %q", got)
	}
	first, err := kept.Read(t.Context(), "", Options{OneIteration: true})
	if err != nil || len(first.Items) != 5 || !first.More {
		t.Errorf("one iteration: %+v, %v", first, err)
	}
}

func TestAnOutlineIsReadInParts(t *testing.T) {
	inHome(t)
	l := begin("ralph-a")
	l.HandleLoop(loop.Warning{Message: "before"})
	l.iterate(1)
	l.iterate(2)
	l.say("long", strings.Repeat("x", partSize+wire.MaxText))
	l.log.flush()
	r, err := Open("ralph-a")
	must.OK(t, err)
	o, err := r.Outline(t.Context())
	if err != nil || len(o.Iterations) != 2 || len(o.Parts) < 4 || o.Parts[0].Iteration != 0 || o.Parts[2].Iteration != 2 {
		t.Fatalf("%+v, %v", o, err)
	}
	l.HandleLoop(loop.IterationStart{Iteration: 3})
	l.say("m", "goes on")
	l.log.flush()
	if o, err = r.Outline(t.Context()); err != nil || len(o.Iterations) != 3 {
		t.Fatalf("%+v, %v", o, err)
	}
	var got []string
	for i, part := range o.Parts {
		before := o.Cursor
		if i+1 < len(o.Parts) {
			before = o.Parts[i+1].Cursor
		}
		some, _ := all(t, r, part.Cursor, Options{Before: before})
		got = append(got, some...)
	}
	rest, _ := all(t, r, o.Cursor, Options{})
	same(t, "behind the parts", rest, []string{"3 iteration begin", "3 agent_message_chunk goes on"})
	want, _ := all(t, r, "", Options{})
	same(t, "the parts", []string{strings.Join(append(got, rest...), "")}, []string{strings.Join(want, "")})
}

func TestPiecesOfAMessageAreOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := inHome(t)
		l := begin("ralph-a")
		for i := range 100 {
			l.say("m", "a word ")
			l.Handle(stream.Usage{Context: int64(i)})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(flushAfter)
		data, err := os.ReadFile(journalOf(t, dir, "ralph-a"))
		if n := strings.Count(string(data), "\n"); err != nil || n > 8 {
			t.Errorf("%d lines, %v", n, err)
		}
		got, _ := all(t, l.log, "", Options{})
		if len(got) > 3 { // the text before what was used, the last of that, the text after
			t.Errorf("%.200q", got)
		}
		l.end()
	})
}

// Whoever is killed has lost no whole message or call of a tool, which the session file has by then.
func TestAWholeMessageIsWrittenAtOnce(t *testing.T) {
	inHome(t)
	l := begin("ralph-a")
	defer l.end()
	for _, e := range []any{
		loop.IterationStart{Iteration: 1}, stream.MessageEnd{MessageID: "m", Text: "said"},
		stream.ToolCall{ID: "c", Name: "bash"}, stream.ToolResult{ID: "c", Output: "done"}, loop.Warning{Message: "careful"},
	} {
		switch e := e.(type) {
		case loop.Event:
			l.HandleLoop(e)
		case stream.MessageEnd:
			l.Handle(stream.Text{MessageID: e.MessageID, Delta: e.Text})
			l.Handle(e)
		case stream.Event:
			l.Handle(e)
		}
		if l.log.mu.Lock(); len(l.log.lines.out)+l.log.lines.waiting() > 0 {
			t.Errorf("%T waits to be written", e)
		}
		l.log.mu.Unlock()
	}
}

func TestTextIsCutIntoLinesThatReadersTake(t *testing.T) {
	inHome(t)
	l := begin("ralph-a")
	text := strings.Repeat("€\"", wire.MaxText)
	l.say("m", text)
	l.end()
	page, err := l.log.Read(t.Context(), "", Options{})
	must.OK(t, err)
	got := ""
	for _, it := range page.Items[:len(page.Items)-1] {
		var c wire.Chunk
		if err := json.Unmarshal(it.JSON, &c); err != nil || len(c.Content.Text) > wire.MaxText {
			t.Fatalf("%d bytes, %v", len(c.Content.Text), err)
		}
		got += c.Content.Text
	}
	if got != text {
		t.Error("the text isn't what was said")
	}
}

// Whoever drove the loop was killed while it wrote; the one that goes on repairs the end.
func TestALoopGoesOnBehindATornLine(t *testing.T) {
	dir := inHome(t)
	path := journalOf(t, dir, "ralph-a")
	whole := begin("ralph-a")
	whole.iterate(1)
	whole.end()
	data := must.Read(t, path)
	for cut := 1; cut < len(data); cut += 41 {
		must.OK(t, os.WriteFile(path, data[:cut], 0o600))
		before, end := []string(nil), ""
		if r, err := Open("ralph-a"); err == nil {
			var last Page
			before, last = all(t, r, "", Options{Thinking: true})
			end, _ = r.End()
			if end != last.Cursor {
				t.Fatalf("cut at %d the end is %s, and pages end at %s", cut, end, last.Cursor)
			}
		}
		again := begin("ralph-a")
		if end != "" && again.log.Begun() != end {
			t.Fatalf("cut at %d it goes on at %s, not at %s", cut, again.log.Begun(), end)
		}
		again.iterate(2)
		again.end()
		r, err := Open("ralph-a")
		must.OK(t, err)
		got, last := all(t, r, "", Options{Thinking: true})
		same(t, fmt.Sprint("cut at ", cut), got, append(append(before, iteration(2)...), "2 end"))
		if behind, _ := all(t, r, again.log.Begun(), Options{Thinking: true}); last.Skipped > 0 || len(behind) != 7 {
			t.Fatalf("cut at %d: %q behind where it went on, %+v", cut, behind, last)
		}
	}
}

// A cursor of another journal, of none, or inside of a line begins anew.
func TestACursorThatLeadsNowhere(t *testing.T) {
	inHome(t)
	l, other := begin("ralph-a"), begin("ralph-b")
	l.iterate(1)
	other.iterate(1)
	name, _, _ := strings.Cut(l.log.Begun(), ".")
	for _, after := range []string{other.log.End(), "7", "e30", name + ".7", name + ".-1", name + ".99999", name + ".100", name + ".x"} {
		page, err := l.log.Read(t.Context(), after, Options{Thinking: true})
		if err != nil || !page.Reset || len(page.Items) != 6 {
			t.Errorf("behind %q: %d updates, reset %v, %v", after, len(page.Items), page.Reset, err)
		}
	}
	l.end()
	other.end()
}

// Journals are kept as long as session files, and as much of them.
func TestOldJournalsGo(t *testing.T) {
	dir := inHome(t)
	now := time.Now()
	keeps := history.Options{Keep: 90 * 24 * time.Hour, MaxBytes: 1 << 30}
	keepOne := func(id string, age time.Duration, size int64) string {
		l := begin(id)
		l.iterate(1)
		l.end()
		path := journalOf(t, dir, id)
		if size > 0 {
			must.OK(t, os.Truncate(path, size))
		}
		must.OK(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
		return path
	}
	running := begin("ralph-runs")
	running.iterate(1)
	kept := map[string]bool{
		journalOf(t, dir, "ralph-runs"):                         true,
		keepOne("ralph-new", time.Hour, 0):                      true,
		keepOne("ralph-large", 2*time.Hour, keeps.MaxBytes-1e6): true,
		keepOne("ralph-over", 3*time.Hour, 2e6):                 false,
		keepOne("ralph-old", keeps.Keep+time.Hour, 0):           false,
	}
	must.OK(t, os.Chtimes(journalOf(t, dir, "ralph-runs"), now.Add(-2*keeps.Keep), now.Add(-2*keeps.Keep)))
	prune(dir, keeps, now)
	for path, want := range kept {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: kept is %v, want %v", path, err == nil, want)
		}
	}
	for i := range 2 * orphans {
		name := journalOf(t, dir, fmt.Sprint(i))
		must.OK(t, os.WriteFile(name, header{Version: version, Keep: 1, Name: "x"}.line(), 0o600))
	}
	before, _ := os.ReadDir(dir)
	for _, keeps := range []history.Options{keeps, {}} {
		prune(dir, keeps, now)
		if left, _ := os.ReadDir(dir); len(left) != len(before) {
			t.Errorf("%d of %d are left", len(left), len(before))
		}
	}
	running.end()
}

// A loop that begins beside another prunes the other's journal when it finds it empty, before it is locked.
func TestAJournalThatIsPrunedWhileItIsMade(t *testing.T) {
	dir := inHome(t)
	path := journalOf(t, dir, "ralph-a")
	must.OK(t, os.MkdirAll(dir, 0o700))
	empty, err := os.Create(path)
	must.OK(t, err)
	defer empty.Close()
	if locked, err := filelock.Try(empty, true); !locked {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan told)
		go func() { begun <- begin("ralph-a") }()
		synctest.Wait() // it waits for the lock
		must.OK(t, os.Remove(path))
		empty.Close()
		l := <-begun
		l.iterate(1)
		l.end()
	})
	if page, err := StoryOf("ralph-a", "").Read(t.Context(), "", Options{}); err != nil || len(page.Items) == 0 {
		t.Errorf("%d updates, %v", len(page.Items), err)
	}
}

func TestHowFarAToolHasComeIsForWhoListens(t *testing.T) {
	dir := inHome(t)
	l := begin("ralph-a")
	f := l.log.Follow(l.log.Begun(), 0)
	next := func() []string {
		page, _, err := f.Next(t.Context(), Options{})
		must.OK(t, err)
		return short(t, page.Items)
	}
	l.Handle(stream.ToolCall{ID: "t", Name: "bash"})
	for i := range 1000 {
		l.Handle(stream.ToolProgress{ID: "t", Output: fmt.Sprint("output ", i)})
	}
	same(t, "first", next(), []string{"0 tool_call in_progress", "0 tool_call_update in_progress"})
	same(t, "no news", next(), nil)
	l.Handle(stream.ToolProgress{ID: "t", Output: "more"})
	same(t, "news", next(), []string{"0 tool_call_update in_progress"})
	l.Handle(stream.ToolProgress{ID: "t", Output: "even more"})
	l.Handle(stream.ToolResult{ID: "t", Output: "all"})
	same(t, "the end", next(), []string{"0 tool_call_update completed"})
	l.end()
	if info, err := os.Stat(journalOf(t, dir, "ralph-a")); err != nil || info.Size() > 2000 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

// Who reads up to a place is told of what came behind it meanwhile, or would wait for ever.
func TestWhatABoundedPageLeavesIsNews(t *testing.T) {
	inHome(t)
	l := begin("ralph-a")
	f := l.log.Follow(l.log.Begun(), 0)
	l.iterate(1)
	before := l.log.End()
	l.iterate(2)
	l.log.End()
	for len(f.News) > 0 {
		<-f.News
	}
	if page, _, err := f.Next(t.Context(), Options{Before: before}); err != nil || len(page.Items) == 0 || page.More {
		t.Fatalf("read %d updates, more %v, %v", len(page.Items), page.More, err)
	}
	if len(f.News) == 0 {
		t.Error("what is behind the page is no news")
	}
	if _, _, err := f.Next(t.Context(), Options{}); err != nil {
		t.Fatal(err)
	}
	for len(f.News) > 0 {
		<-f.News
	}
	if _, _, err := f.Next(t.Context(), Options{Before: l.log.End()}); err != nil || len(f.News) > 0 {
		t.Errorf("nothing waits, and it is news, %v", err)
	}
}
