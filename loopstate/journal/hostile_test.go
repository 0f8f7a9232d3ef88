package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// An agent outside of walls may put anything where a journal is to be.
func TestWhatIsPlanted(t *testing.T) {
	for name, plant := range map[string]func(path, victim string) error{
		"a link":      func(path, victim string) error { return os.Symlink(victim, path) },
		"a hard link": func(path, victim string) error { return os.Link(victim, path) },
		"a folder":    func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"garbage":     func(path, _ string) error { return os.WriteFile(path, []byte("\x00{{\n\n{}\n"), 0o600) },
		"wide rights": func(path, _ string) error { return os.WriteFile(path, nil, 0o644) },
		"a strange name": func(path, _ string) error {
			return os.WriteFile(path, []byte(`{"journal":1,"keep":1,"name":"../../x"}`+"\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := inHome(t)
			victim := filepath.Join(t.TempDir(), "victim")
			must.OK(t, errors.Join(os.WriteFile(victim, []byte("precious\n"), 0o600), os.MkdirAll(dir, 0o700), plant(journalOf(t, dir, "ralph-a"), victim)))
			if r, err := Open("ralph-a"); err == nil {
				t.Errorf("it is read: %+v", r)
			}
			l := begin("ralph-a")
			l.iterate(1)
			l.end()
			r, err := Open("ralph-a")
			must.OK(t, err)
			got, _ := all(t, r, "", Options{Thinking: true})
			same(t, "what is kept", got, append(iteration(1), "1 end"))
			if data, err := os.ReadFile(victim); err != nil || string(data) != "precious\n" {
				t.Errorf("the victim is %q, %v", data, err)
			}
			if info, err := os.Lstat(journalOf(t, dir, "ralph-a")); err != nil || info.Mode() != 0o600 {
				t.Errorf("the journal is %v, %v", info.Mode(), err)
			}
		})
	}
}

// Lines that somebody else wrote are left out, and what is behind them is read.
func TestLinesThatAreNone(t *testing.T) {
	dir := inHome(t)
	l := begin("ralph-a")
	l.iterate(1)
	l.end()
	file, err := os.OpenFile(journalOf(t, dir, "ralph-a"), os.O_WRONLY|os.O_APPEND, 0)
	must.OK(t, err)
	planted := []string{"", "{}", `{"i":1,"u":{"sessionUpdate":"_ralph/note",}}`, `{"i":x,"u":{"sessionUpdate":"_ralph/note"}}`, `{"i":1,"u":7}`, strings.Repeat("x", maxLine+1), "\x00\x00", `{"i":2,"u":{"sessionUpdate":"_ralph/note"}}`}
	must.OK(t, must.Err(file.WriteString(strings.Join(planted, "\n")+"\n")))
	file.Close()
	r, err := Open("ralph-a")
	must.OK(t, err)
	got, last := all(t, r, "", Options{Thinking: true})
	same(t, "what is read", got, append(iteration(1), "1 end", "2 note"))
	if last.Skipped != len(planted)-1 {
		t.Errorf("%d lines were skipped", last.Skipped)
	}
}

// Without a file the loop goes on, its user is told once, and who listens hears all.
func TestALoopGoesOnWithoutItsJournal(t *testing.T) {
	home := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(home, nil, 0o600))
	t.Setenv(paths.EnvState, home)
	l := begin("ralph-a")
	f := l.log.Follow(l.log.Begun(), 0)
	l.iterate(1)
	page, _, err := f.Next(t.Context(), Options{Thinking: true})
	must.OK(t, err)
	same(t, "live", short(t, page.Items), append([]string{"0 warning"}, iteration(1)...))
	if len(l.watcher.warnings) != 1 {
		t.Errorf("told %q", l.watcher.warnings)
	}
	l.say("flood", strings.Repeat("x", 3*maxUnkept))
	l.log.flush()
	l.log.mu.Lock()
	if kept := len(l.log.lines.out); kept > maxUnkept {
		t.Errorf("%d bytes are kept in memory", kept)
	}
	l.log.mu.Unlock()
	for lines := 0; ; {
		page, _, err := f.Next(t.Context(), Options{})
		if lines += len(page.Items); err != nil || !page.More {
			if err != nil || page.Reset || lines < 10 {
				t.Errorf("after the flood: %d updates, %+v, %v", lines, page.Reset, err)
			}
			break
		}
	}
	l.end()
	if l.log.Kept() {
		t.Error("it says that it is kept")
	}
}

// What a later version has written isn't touched: the loop goes on without a journal, and says so.
func TestAJournalOfALaterVersion(t *testing.T) {
	inHome(t)
	l := begin("ralph-a")
	l.iterate(1)
	l.end()
	path, err := pathOf("ralph-a")
	must.OK(t, err)
	data := must.Read(t, path)
	later := strings.Replace(string(data), `"journal":1`, `"journal":9`, 1)
	if later == string(data) {
		t.Fatalf("no version: %.200s", later)
	}
	must.OK(t, os.WriteFile(path, []byte(later), 0o600))
	again := begin("ralph-a")
	again.iterate(2)
	again.end()
	if len(again.watcher.warnings) != 1 || !strings.Contains(again.watcher.warnings[0], "is of a later version") {
		t.Errorf("told %q", again.watcher.warnings)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != later {
		t.Errorf("it is now %.300s, %v", now, err)
	}
}

// Two that write one journal would spoil it: the second one writes none.
func TestAnotherOneWrites(t *testing.T) {
	inHome(t)
	first := begin("ralph-a")
	first.iterate(1)
	second := begin("ralph-a")
	second.iterate(2)
	if len(second.watcher.warnings) != 1 || !strings.Contains(second.watcher.warnings[0], "another process") {
		t.Errorf("told %q", second.watcher.warnings)
	}
	second.end()
	first.end()
	r, err := Open("ralph-a")
	must.OK(t, err)
	got, _ := all(t, r, "", Options{Thinking: true})
	same(t, "kept", got, append(iteration(1), "1 end"))
}

func TestAJournalIsDeletedWhileItIsRead(t *testing.T) {
	dir := inHome(t)
	l := begin("ralph-a")
	l.iterate(1)
	l.log.flush()
	r, err := Open("ralph-a")
	must.OK(t, err)
	at, err := r.End()
	if err == nil {
		err = os.RemoveAll(dir)
	}
	must.OK(t, err)
	if _, err := r.Read(t.Context(), at, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading on: %v", err)
	}
	l.iterate(2)
	got, _ := all(t, l.log, at, Options{Thinking: true})
	same(t, "here", got, iteration(2))
	l.end()
}

// With the history off, the journal goes with the loop's end; who has seen it run reads it still.
func TestAJournalThatIsNotKept(t *testing.T) {
	dir := inHome(t)
	r := NewRecorder(&watcher{})
	log := r.Open("ralph-a", false)
	l := told{r, nil, log}
	l.iterate(1)
	if _, err := Open("ralph-a"); err != nil {
		t.Error(err)
	}
	l.end()
	if left, _ := os.ReadDir(dir); len(left) > 0 || log.Kept() {
		t.Errorf("left is %v", left)
	}
	got, last := all(t, log, "", Options{Thinking: true})
	same(t, "here", got, append(iteration(1), "1 end"))
	if !last.Complete {
		t.Error("it isn't complete")
	}
	killed := NewRecorder(&watcher{}) // it can't clean up
	killed.Open("ralph-b", false).letGo()
	begin("ralph-c").end()
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left is %v", left)
	}
}

// A reader that has begun goes on when the loop ends meanwhile, which closes its file.
func TestALoopEndsWhileItIsRead(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	l := newLog()
	l.open("", "l1", history.Options{}, true)
	l.change(func(to *unwritten) { to.addText(wire.KindMessageChunk, "m1", "", "a word") })
	l.flush()
	s, _, done, err := l.source()
	must.OK(t, err)
	defer done()
	l.Close()
	page, _, err := s.page(t.Context(), "", Options{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%d items, %v", len(page.Items), err)
	}
}
