package loopstate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// watchSteps are what can happen to the file, one after the other.
var watchSteps = []struct {
	name string
	do   func(t *testing.T, f *File)
	want string // the prompt; "" is no file
}{
	{"it is created in a folder without .pi", func(t *testing.T, f *File) { write(t, f, "---\n---\none") }, "one"},
	{"it is written in place", func(t *testing.T, f *File) { write(t, f, "---\n---\ntwo") }, "two"},
	{"it is replaced", func(t *testing.T, f *File) { edits["by renaming"](f.Path(), "---\n---\nthree") }, "three"},
	{"it is updated by us", func(t *testing.T, f *File) {
		must.OK(t, must.Err(f.Update(func(s *State) error { s.Prompt = "four"; return nil })))
	}, "four"},
	{"it is deleted", func(t *testing.T, f *File) { os.Remove(f.Path()) }, ""},
	{"it is created again", func(t *testing.T, f *File) { write(t, f, "---\n---\nfive") }, "five"},
	{".pi is removed", func(t *testing.T, f *File) { os.RemoveAll(filepath.Dir(f.Path())) }, ""},
	{".pi is made again", func(t *testing.T, f *File) { write(t, f, "---\n---\nsix") }, "six"},
	{".pi is moved away", func(t *testing.T, f *File) {
		os.Rename(filepath.Dir(f.Path()), filepath.Join(f.folder, "old"))
	}, ""},
	{".pi comes back", func(t *testing.T, f *File) {
		os.Rename(filepath.Join(f.folder, "old"), filepath.Dir(f.Path()))
	}, "six"},
	{"it is written in the .pi that came back", func(t *testing.T, f *File) { write(t, f, "---\n---\nseven") }, "seven"},
}

func TestAWatcherHearsOfEachChange(t *testing.T) {
	f := open(t, t.TempDir())
	signals, err := f.watch(t.Context(), time.Hour) // so that only events count
	must.OK(t, err)
	walk(t, f, signals)
}

func TestAWatcherWithoutEventsPolls(t *testing.T) {
	f := open(t, t.TempDir())
	w := &watcher{file: f, signals: make(chan struct{}, 1), rest: time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	go w.run(ctx)
	walk(t, f, w.signals)
	cancel()
	for range w.signals {
	}
}

// The user's limit of watches is reached: the file is looked at as often as without any.
func TestAWatcherThatMayWatchNothingLooksMoreOften(t *testing.T) {
	notify, err := fsnotify.NewWatcher()
	must.OK(t, err)
	w := &watcher{file: open(t, t.TempDir()), rest: time.Hour, notify: notify}
	if w.follow(); tellsAll(w.file.root) && w.every() != time.Hour {
		t.Errorf("it looks each %s though it hears all", w.every())
	}
	must.OK(t, notify.Close())
	if w.follow(); w.every() != watchPoll {
		t.Errorf("it looks each %s", w.every())
	}
}

func TestAWatcherFollowsALink(t *testing.T) {
	f := open(t, t.TempDir())
	must.OK(t, os.Mkdir(filepath.Join(f.folder, "notes"), 0o755))
	must.OK(t, linkInPi(f.folder, "../notes/prompt.md", filepath.Base(Name)))
	signals, err := f.watch(t.Context(), time.Hour)
	must.OK(t, err)
	for _, prompt := range []string{"one", "two"} {
		must.OK(t, os.WriteFile(filepath.Join(f.folder, "notes", "prompt.md"), []byte("---\n---\n"+prompt), 0o600))
		awaitPrompt(t, f, signals, prompt)
	}
}

// Who doesn't drive a loop hears who does, and all that it says: each time there are more words than signals that came before.
func TestAWatcherHearsWhatAnotherProcessSays(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\n---\none")
	signals, err := f.watch(t.Context(), time.Hour)
	must.OK(t, err)
	o := Owner{LoopID: "a", StartedAt: date("2026-01-02T17:35:07Z")}
	l := lock(t, open(t, f.folder), o)
	late := time.After(proctest.Patience)
	for n := range 8 {
		for o.Deaf = strings.Repeat("so ", n); ; {
			must.OK(t, l.SetOwner(o))
			select {
			case <-signals:
			case <-late:
				t.Fatalf("no signal of %q", o.Deaf)
			}
			if now, held, err := f.Owner(); held && err == nil && now.Deaf == o.Deaf {
				break
			}
		}
	}
}

// An event is missed, as one may be when a file is replaced: the next look sees what the other process says all the same.
func TestAWatcherWithoutEventsHearsWhatAnotherProcessSays(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\n---\none")
	o := Owner{LoopID: "a", StartedAt: date("2026-01-02T17:35:07Z")}
	l := lock(t, open(t, f.folder), o)
	w := &watcher{file: f, signals: make(chan struct{}, 1), rest: time.Millisecond}
	w.follow()
	w.last = w.look()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go w.run(ctx)
	o.Deaf = "so"
	must.OK(t, l.SetOwner(o))
	select {
	case <-w.signals:
	case <-time.After(proctest.Patience):
		t.Error("it hears nothing")
	}
}

// Who watches an idle folder watches nothing else, such as the folder that the process is in.
func TestWhatIsWatchedOfAnIdleFolder(t *testing.T) {
	f := open(t, t.TempDir())
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		t.Skip(err)
	}
	defer notify.Close()
	w := &watcher{file: f, notify: notify}
	w.follow()
	if got := notify.WatchList(); len(got) != 1 || got[0] != f.root {
		t.Errorf("watched are %q, want %s", got, f.root)
	}
}

func TestAWatcherEndsWithItsContext(t *testing.T) {
	f := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	signals, err := f.Watch(ctx)
	must.OK(t, err)
	write(t, f, "---\n---\none")
	awaitPrompt(t, f, signals, "one")
	cancel()
	for range signals {
	}
}

// walk takes the steps and waits for a signal of each.
func walk(t *testing.T, f *File, signals <-chan struct{}) {
	t.Helper()
	for _, step := range watchSteps {
		step.do(t, f)
		t.Log(step.name)
		awaitPrompt(t, f, signals, step.want)
	}
}

// awaitPrompt waits for a signal after which the file has a prompt.
func awaitPrompt(t *testing.T, f *File, signals <-chan struct{}, want string) {
	t.Helper()
	late := time.After(proctest.Patience)
	for {
		select {
		case <-signals:
		case <-late:
			t.Fatalf("no signal of the prompt %q", want)
		}
		s, err := f.Load()
		switch {
		case want == "" && errors.Is(err, fs.ErrNotExist):
			return
		case want != "" && err == nil && s.Prompt == want:
			return
		}
	}
}
