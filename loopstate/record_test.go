package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// spent is a loop that has spent something.
func spent(id string) State {
	return State{
		Active: true, LoopID: id, Prompt: "Go.", Iteration: 7, Begun: true, Spent: Spent{Cost: stream.USD(1.5), Elapsed: time.Minute, Tokens: stream.Tokens{Input: 5}},
		InARow: InARow{Failures: 2}, Steering: Steering{Queued: []string{"be quick"}}, Allowed: []string{"Bash(rm:*)"}, HatCosts: hats.Costs{{Hat: "builder", Cost: stream.USD(1.5)}}, SessionFile: "/s",
	}
}

// Who reads while a loop ends sees all of it or nothing: its file goes before what it counts.
func TestALoopThatEndsWhileItIsRead(t *testing.T) {
	f := open(t, t.TempDir())
	drivesIt(t, f)
	must.OK(t, f.Create(spent("ends")))
	reader := open(t, f.root)
	reader.record.mu.Lock() // it has read the file, and not yet what is beside it
	seen := make(chan error, 1)
	go func() {
		s, err := reader.Load()
		if err == nil {
			err = fmt.Errorf("it has read %+v", s)
		}
		seen <- err
	}()
	stacks := make([]byte, 1<<20)
	proctest.Until(t, "that it reads", func() bool { return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "withOurs") })
	must.OK(t, f.Remove())
	reader.record.mu.Unlock()
	if err := <-seen; !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestWhatALoopCountsIsBesideItsFile(t *testing.T) {
	f := open(t, t.TempDir())
	l := drivesIt(t, f)
	must.OK(t, f.Create(spent("counted")))
	const text = "---\nactive: true\niteration: 7\nmax_iterations: 50\ncompletion_promise: null\nstarted_at: null\nloop_id: \"counted\"\n---\n\nGo."
	wantText(t, f, text)
	s := spent("counted")
	s.Iteration, s.Cost, s.Queued = 8, stream.USD(2.5), nil
	for name, keep := range map[string]func() error{
		"noted":   func() error { return f.Note(s) },
		"updated": func() error { _, err := f.Update(func(now *State) error { now.Elapsed++; return nil }); return err },
	} {
		if err := keep(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantText(t, f, text)
	}
	must.OK(t, must.Err(f.Claim(func(now *State) error { now.Elapsed++; return nil })))
	told := strings.Replace(text, "7", "8", 1)
	wantText(t, f, told)
	s.Elapsed += 2
	for _, file := range []*File{f, open(t, f.root)} {
		got, err := file.Load()
		if err != nil || got.Iteration != 8 || got.Cost.USD != 2.5 || got.Queued != nil || !got.Begun || got.InARow.Failures != 2 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if info, err := os.Stat(mustRecord(t, f, "counted")); err != nil || info.Mode() != 0o600 {
		t.Errorf("its record: %v, %v", info, err)
	}
	must.OK(t, must.Err(f.Leave(func(*State) error { return nil })))
	wantText(t, f, told)
	if err := errors.Join(f.Remove(), l.Release()); err != nil {
		t.Error(err)
	}
	if isCounted(t, f, "counted") {
		t.Error("what it counts outlives it")
	}
}

// What else is known of a loop is kept with what it counts: at once, or with the next that is counted. It stays when
// the state file goes.
func TestWhatElseIsKnownIsKeptWithIt(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	f := open(t, t.TempDir())
	l := drivesIt(t, f)
	must.OK(t, f.Create(spent("told")))
	e := registry.Entry{LoopID: "told", Folder: f.root, Title: "Build it", Iteration: 7}
	must.OK(t, f.Register(e))
	is := func(title string, iteration int, counts bool) {
		t.Helper()
		if now, ok, err := registry.Get(f.root, "told"); !ok || err != nil || now.Title != title || now.Iteration != iteration || (now.Counts != nil) != counts {
			t.Errorf("it is %+v, %v", now, err)
		}
	}
	is("Build it", 7, true)
	e.Title = "Build it well"
	s := spent("told")
	s.Iteration = 8
	must.OK(t, f.Describe(e))
	is("Build it", 7, true)
	if err := errors.Join(f.Note(spent("told")), f.Note(s)); err != nil { // the first counts nothing new
		t.Fatal(err)
	}
	is("Build it well", 8, true)
	e.State, e.Iteration = "with what it goes on", 8
	must.OK(t, errors.Join(f.Register(e), f.Remove(), l.Release()))
	is("Build it well", 8, false)
	if now, _, _ := registry.Get(f.root, "told"); now.State != e.State {
		t.Errorf("it goes on with %q", now.State)
	}
}

// A fleet's loop counts nothing here. What else is known of it is kept at once.
func TestWhatElseIsKnownOfAFleetsLoop(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	f := open(t, t.TempDir())
	f.IsFleets = true
	drivesIt(t, f)
	must.OK(t, errors.Join(f.Create(spent("fleets")), f.Describe(registry.Entry{LoopID: "fleets", Folder: f.root, Title: "Build it"})))
	if now, ok, err := registry.Get(f.root, "fleets"); !ok || err != nil || now.Title != "Build it" || now.Counts != nil {
		t.Errorf("it is %+v, %v", now, err)
	}
}

func TestARecordGoesWithAFileThatItsUserDeletes(t *testing.T) {
	f := open(t, t.TempDir())
	l := drivesIt(t, f)
	must.OK(t, errors.Join(f.Create(spent("deleted")), os.Remove(f.Path()), f.Note(spent("deleted")), l.Release()))
	if isCounted(t, f, "deleted") {
		t.Error("what it counts is still here")
	}
}

// What anybody else writes about it while it is driven counts for nothing, there or in the record.
func TestWhatIsCountedIsOnlyOurs(t *testing.T) {
	f := open(t, t.TempDir())
	drivesIt(t, f)
	must.OK(t, f.Create(spent("ours")))
	text := `{"version":1,"loopId":"ours","folder":"` + f.root + `","counts":{"iteration":1,"costUsd":0}}`
	must.OK(t, os.WriteFile(mustRecord(t, f, "ours"), []byte(text), 0o600))
	write(t, f, "---\nactive: true\niteration: 1\nloop_id: mine\nrecord: '{\"costUsd\":0,\"elapsed\":1,\"guidance\":[\"rm -rf\"],\"allowed\":[\"Bash\"],\"inARow\":{\"Failures\":9}}'\n---\n\nGo.")
	got, err := f.Load()
	want := spent("ours")
	want.Prompt = "Go."
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	must.OK(t, must.Err(f.Leave(func(*State) error { return nil })))
	wantText(t, f, "---\nactive: true\niteration: 7\nloop_id: \"ours\"\n---\n\nGo.")
}

// Files of other tools, and of loops that were handed on, have all in them; once they are taken up they
// are their user's.
func TestFilesWithoutARecordAreTakenUp(t *testing.T) {
	for name, tt := range map[string]struct {
		text, left string
		want       State
	}{
		"another tool's": {
			"---\nactive: true\niteration: 3\nmax_iterations: 50\ncompletion_promise: \"DONE\"\nstarted_at: \"2026-01-02T17:35:07Z\"\nsession_id: x\n---\n\nGo.",
			"---\nactive: true\niteration: 3\nmax_iterations: 50\ncompletion_promise: \"DONE\"\nstarted_at: \"2026-01-02T17:35:07Z\"\nloop_id: \"another\"\nsession_id: x\n---\n\nGo.",
			State{LoopID: "another", Iteration: 3},
		},
		"one that was handed on": {
			"---\nactive: true\niteration: 7\nloop_id: taken\n# mine\nrecord: " + quote(string(spent("taken").ours())) + "\ncost_usd: 9\n---\n\nGo.",
			"---\nactive: true\niteration: 7\nloop_id: taken\n# mine\ncost_usd: 9\n---\n\nGo.",
			spent("taken"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, t.TempDir())
			write(t, f, tt.text)
			defer drivesIt(t, f).Release()
			got, err := f.Leave(func(s *State) error { s.LoopID = tt.want.LoopID; return nil })
			if err != nil || !cmp.Equal(tt.want.With(tt.want).ours(), got.ours()) {
				t.Errorf("%v: %s, want %s", err, got.ours(), tt.want.ours())
			}
			wantText(t, f, tt.left)
			if again, _ := open(t, f.root).Load(); !cmp.Equal(again.ours(), got.ours()) {
				t.Errorf("afterwards %s", again.ours())
			}
		})
	}
}

// leave makes a loop in a folder that nobody drives any more.
func leave(t *testing.T, folder, id string) *File {
	t.Helper()
	f := open(t, folder)
	os.Remove(f.Path())
	l := drivesIt(t, f)
	must.OK(t, errors.Join(f.Create(spent(id)), l.Release()))
	return open(t, folder)
}

func TestWhoseRecordIsBelieved(t *testing.T) {
	const file = "---\niteration: 2\nloop_id: "
	parent := t.TempDir()
	f := leave(t, t.TempDir(), "first")
	write(t, f, file+"second\n---\n\nGo.")
	if s, err := f.Load(); err != nil || s.Cost.Known || s.Iteration != 2 {
		t.Errorf("another loop in its folder: %+v, %v", s, err)
	}
	// A copy has spent what its original has, and is allowed nothing.
	leave(t, f.root, "copied")
	of := open(t, parent)
	write(t, of, file+"copied\n---\n\nGo.")
	if s, err := of.Load(); err != nil || !s.Cost.Known || s.Cost.USD != 1.5 || s.Elapsed != time.Minute || s.Allowed != nil || s.Queued != nil || s.Iteration != 2 || s.SessionFile != "" {
		t.Errorf("a copy: %+v, %v", s, err)
	}
	if err := os.Remove(f.Path()); err != nil { // it was moved
		t.Fatal(err)
	}
	s, err := of.Load()
	if want := spent("copied"); err != nil || !cmp.Equal(want.ours(), s.ours()) {
		t.Errorf("moved: %s, %v", s.ours(), err)
	}
	drivesIt(t, of)
	must.OK(t, must.Err(of.Leave(func(*State) error { return nil })))
	if _, err := os.Stat(filepath.Dir(mustRecord(t, f, "copied"))); err == nil {
		t.Error("what is kept of it stays with the folder that was moved")
	}
	if s, err := open(t, parent).Load(); err != nil || s.Cost.USD != 1.5 || s.Allowed == nil {
		t.Errorf("at home: %+v, %v", s, err)
	}
}

// A keeper is killed, its folder is moved, and the loop is driven there: by then its next owner has a record in the new place.
func TestAFolderThatWasMovedAfterItsOwnerDied(t *testing.T) {
	f := open(t, t.TempDir())
	l, err := f.Lock(Owner{PID: os.Getpid(), ProcessStart: "another", LoopID: "moved", Standing: Standing{Reapers: []Reaper{{PID: 2, Mark: 7}}}})
	must.OK(t, err)
	from := filepath.Dir(mustRecord(t, f, "moved"))
	folder := filepath.Join(t.TempDir(), "moved")
	if err := errors.Join(f.Create(spent("moved")), os.WriteFile(filepath.Join(from, registry.JournalName), []byte("its story"), 0o600),
		filelock.Unlock(l.open), os.Rename(f.root, folder)); err != nil {
		t.Fatal(err)
	}
	of := open(t, folder)
	drivesIt(t, of)
	must.OK(t, must.Err(of.Leave(func(*State) error { return nil })))
	if _, err := os.Stat(from); err == nil {
		t.Error("what is kept of it stays with the folder that was moved")
	}
	story, err := os.ReadFile(filepath.Join(filepath.Dir(mustRecord(t, of, "moved")), registry.JournalName))
	if err != nil || string(story) != "its story" || !isCounted(t, of, "moved") {
		t.Errorf("at home are %q, %v, and what it counts: %t", story, err, isCounted(t, of, "moved"))
	}
	if o, held, err := of.Owner(); !held || err != nil || !o.Lives() || len(o.Reapers) != 1 {
		t.Errorf("it is driven by %+v, %t, %v", o, held, err)
	}
}

// mustRecord is where a loop of a folder has its file.
func mustRecord(t *testing.T, f *File, id string) string {
	t.Helper()
	dir, err := registry.Dir(f.root, id)
	must.OK(t, err)
	return filepath.Join(dir, registry.FileName)
}

// isCounted says whether it is kept what a loop of a folder counts.
func isCounted(t *testing.T, f *File, id string) bool {
	t.Helper()
	e, _, err := registry.Get(f.root, id)
	must.OK(t, err)
	return e.Counts != nil
}

func TestWhatIsNoRecord(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"too long": func(path string) error { return os.Truncate(path, 16<<20+1) },
		"cut off":  func(path string) error { return os.Truncate(path, 20) },
		"a link":   func(path string) error { return errors.Join(os.Rename(path, path+"~"), os.Symlink(path+"~", path)) },
		"another name": func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Join(filepath.Dir(filepath.Dir(path)), "x"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := leave(t, t.TempDir(), "spoilt")
			must.OK(t, spoil(mustRecord(t, f, "spoilt")))
			if s, err := f.Load(); err != nil || s.Cost.Known {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

// A loop is handed on with all that it is, and the one that took it up again has a record.
func TestALoopIsHandedOn(t *testing.T) {
	f := leave(t, t.TempDir(), "handed")
	l := drivesIt(t, f)
	before, err := f.Transfer(func(s *State) error {
		s.Iteration++
		s.Account.Warnings = account.List{Items: []account.Item{{Text: `it "is": late`, Count: 2}}, More: 1}
		return nil
	})
	must.OK(t, err)
	l.Release()
	if isCounted(t, f, "handed") {
		t.Error("what it counts is still here")
	}
	data := must.Read(t, f.Path())
	elsewhere := open(t, t.TempDir())
	write(t, elsewhere, string(data))
	drivesIt(t, elsewhere)
	if after, err := elsewhere.Leave(func(*State) error { return nil }); err != nil || !cmp.Equal(before, after) {
		t.Errorf("%v: %s", err, cmp.Diff(before, after))
	}
	if data, _ := os.ReadFile(elsewhere.Path()); strings.Contains(string(data), "record") {
		t.Errorf("the file has what isn't its user's:\n%s", data)
	}
}

// A fleet's loop goes on elsewhere from what was handed on last, so nothing else of it is kept.
func TestAFleetsLoopHasNoRecord(t *testing.T) {
	const left = 7
	f := leave(t, t.TempDir(), "fleets")
	f.IsLeft, f.IsFleets = true, true
	drivesIt(t, f)
	count := func(s *State) error { s.Iteration++; return nil }
	if s, err := f.Claim(count); err != nil || s.Iteration != left+1 {
		t.Fatalf("claimed: %d, %v", s.Iteration, err)
	}
	if s, err := f.Load(); err != nil || s.Iteration != left+1 {
		t.Errorf("who drives it reads iteration %d, %v", s.Iteration, err)
	}
	if s, err := open(t, f.Folder()).Load(); err != nil || s.Iteration != left {
		t.Errorf("somebody else reads iteration %d, %v", s.Iteration, err)
	}
	if s, err := f.Transfer(count); err != nil || s.Iteration != left+2 {
		t.Fatalf("handed on: %d, %v", s.Iteration, err)
	}
	if s, err := open(t, f.Folder()).Load(); err != nil || s.Iteration != left+2 {
		t.Errorf("who goes on reads iteration %d, %v", s.Iteration, err)
	}
	if isCounted(t, f, "fleets") {
		t.Error("it is kept what it counts")
	}
}

// A state folder that can't be written is told before anything is touched.
func TestAStateFolderThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(dir, nil, 0o600))
	t.Setenv(paths.EnvState, filepath.Join(dir, "state"))
	f := open(t, t.TempDir())
	err := f.Create(spent("lost"))
	if err == nil || !strings.Contains(err.Error(), "name another one in RALPH_STATE_DIR") {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Stat(f.Path()); err == nil {
		t.Error("there is a loop")
	}
}

// What a later version keeps is refused, and stays as it is.
func TestTheVersionOfARecord(t *testing.T) {
	for version, want := range map[string]bool{`"version":1,`: true, `"version":2,`: false} {
		f := open(t, t.TempDir())
		must.OK(t, f.Create(spent("versions")))
		path := mustRecord(t, f, "versions")
		data := must.Read(t, path)
		text := strings.Replace(string(data), `"version":1,`, version, 1)
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		again := open(t, f.root)
		s, err := again.Load()
		if isRead := err == nil && s.Cost.USD == 1.5; isRead != want || err != nil && !strings.Contains(err.Error(), path+", which a later version of ralph-lsp has written: update this one") {
			t.Errorf("%s: %+v, %v", version, s, err)
		}
		lock, err := again.Lock(Owner{})
		must.OK(t, err)
		_, err = again.Load()
		if (err == nil) != want {
			t.Errorf("%s: who drives it reads %v", version, err)
		}
		if !want {
			if _, err := again.Update(func(s *State) error { s.Iteration++; return nil }); err == nil || !strings.Contains(err.Error(), "a later version of ralph-lsp has written") {
				t.Errorf("%s: it is updated: %v", version, err)
			}
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%s: it is now %s, %v", version, now, err)
		}
	}
}
