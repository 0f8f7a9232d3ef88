package loopstate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

func TestALockSaysWhoHasIt(t *testing.T) {
	f := open(t, t.TempDir())
	if o, held, err := f.Owner(); held || err != nil || o.PID != 0 {
		t.Errorf("before: %+v, %v, %v", o, held, err)
	}
	l := lock(t, f, Owner{LoopID: "a", Version: "1.2.3"})
	if o, ok := l.Previous(); ok {
		t.Errorf("previous owner %+v, want none", o)
	}
	o, held, err := open(t, f.folder).Owner()
	if !held || err != nil {
		t.Fatalf("held %v, %v", held, err)
	}
	host, _ := os.Hostname()
	started, err := ProcessStart(os.Getpid())
	must.OK(t, err)
	if age := time.Since(o.StartedAt); age < 0 || age > time.Minute {
		t.Errorf("started at %v", o.StartedAt)
	}
	want := Owner{PID: os.Getpid(), Host: host, StartedAt: o.StartedAt, ProcessStart: started, LoopID: "a", Version: "1.2.3"}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	_, err = f.Lock(Owner{})
	locked, ok := errors.AsType[*LockedError](err)
	if !ok {
		t.Fatalf("a second time: %v, want a *LockedError", err)
	}
	if diff := cmp.Diff(o, locked.Owner); diff != "" {
		t.Errorf("a second time: -want +got:\n%s", diff)
	}
	wantError(t, err, "a loop is already running in ")
}

func TestTheOwnersRecordCanBeRewritten(t *testing.T) {
	f := open(t, t.TempDir())
	l := lock(t, f, Owner{LoopID: strings.Repeat("long", 100), Standing: Standing{Agents: []Agent{{PID: 1, ProcessStart: "x"}}}})
	want := Owner{PID: 42, Host: "h", StartedAt: date("2026-01-02T17:35:07Z"), ProcessStart: "s", LoopID: "a", Standing: Standing{Agents: []Agent{{PID: 2, ProcessStart: "y"}}}}
	must.OK(t, l.SetOwner(want))
	got, _, err := f.Owner()
	must.OK(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	must.OK(t, l.Release())
	if err := l.SetOwner(want); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after release: %v, want os.ErrClosed", err)
	}
}

func TestReleaseLeavesNothingBehind(t *testing.T) {
	f := open(t, t.TempDir())
	l := lock(t, f, Owner{})
	must.OK(t, f.Create(State{Prompt: "Go."}))
	must.OK(t, f.Remove())
	for range 2 {
		must.OK(t, l.Release())
	}
	if entries, _ := os.ReadDir(f.folder); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
	if o, ok := lock(t, f, Owner{}).Previous(); ok {
		t.Errorf("previous owner %+v, want none", o)
	}
}

func TestALockBeforeTheFileAndAfterIt(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\n---\nGo.")
	l := lock(t, f, Owner{})
	must.OK(t, l.Release())
	wantText(t, f, "---\n---\nGo.")
	onlyTheStateFile(t, f)
}

func TestARecordThatCannotBeRead(t *testing.T) {
	f := open(t, t.TempDir())
	lock(t, f, Owner{})
	must.OK(t, os.WriteFile(filepath.Join(f.folder, lockName), []byte("{garbage"), 0o600))
	o, held, err := f.Owner()
	if !held || err != nil || o.PID != 0 {
		t.Errorf("owner %+v, %v, %v, want held by nobody known", o, held, err)
	}
	_, err = f.Lock(Owner{})
	locked, ok := errors.AsType[*LockedError](err)
	if !ok || locked.Owner.PID != 0 {
		t.Errorf("%v, want a *LockedError with PID 0", err)
	}
}

// An agent writes over the lock in its folder. Its owner is found by its record, and repairs the lock with its next word.
func TestALockThatWasWrittenOver(t *testing.T) {
	for name, text := range map[string]string{"emptied": "", "garbage": "{garbage", "nobody's": "{}"} {
		t.Run(name, func(t *testing.T) {
			f := open(t, t.TempDir())
			path := filepath.Join(f.folder, lockName)
			o := Owner{StartedAt: date("2026-01-02T17:35:07Z"), LoopID: "a", Standing: Standing{Reapers: []Reaper{{PID: 2, Mark: 7}}}}
			l := lock(t, f, o)
			before, err := os.ReadFile(path)
			must.OK(t, errors.Join(err, os.WriteFile(path, []byte(text), 0o600)))
			if found, held, err := f.Owner(); !held || err != nil || found.PID != os.Getpid() || f.ownersRecord() != l.RecordPath() {
				t.Errorf("it is %+v, %t, %v, and watched is %q", found, held, err, f.ownersRecord())
			}
			must.OK(t, l.SetOwner(o))
			if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
				t.Errorf("the lock isn't repaired: %s, %v", now, err)
			}
			must.OK(t, l.Release())
			o.PID, o.ProcessStart = os.Getpid(), "another"
			dies(t, f, o)
			must.OK(t, os.WriteFile(path, []byte(text), 0o600))
			if found, held, err := f.Owner(); held || err != nil || found.LoopID != "a" || !cmp.Equal(found.Reapers, o.Reapers) {
				t.Errorf("after its death: %+v, %t, %v", found, held, err)
			}
			if previous, _ := lock(t, f, Owner{}).Previous(); !cmp.Equal(previous.Reapers, o.Reapers) {
				t.Errorf("previous owner %+v", previous)
			}
		})
	}
}

func TestALockOfAKilledProcessIsTakenOver(t *testing.T) {
	f := open(t, t.TempDir())
	other := start(t, "hold the lock", f.folder)
	other.ready(t)
	_, err := f.Lock(Owner{})
	locked, ok := errors.AsType[*LockedError](err)
	if !ok || locked.Owner.PID != other.Process.Pid {
		t.Fatalf("%v, want a *LockedError of process %d", err, other.Process.Pid)
	}
	must.OK(t, other.Process.Kill())
	other.Wait()
	if o, held, err := f.Owner(); held || err != nil || o.PID != other.Process.Pid {
		t.Errorf("after its death: %+v, %v, %v", o, held, err)
	}
	l := lock(t, f, Owner{})
	previous, ok := l.Previous()
	if !ok {
		t.Fatal("no previous owner")
	}
	if diff := cmp.Diff(locked.Owner, previous); diff != "" {
		t.Errorf("previous: -want +got:\n%s", diff)
	}
	if want := []Agent{{PID: 4711, ProcessStart: "then"}}; !cmp.Equal(want, previous.Agents) {
		t.Errorf("agents %v, want %v", previous.Agents, want)
	}
}

// Nobody waits for the process here, so it may still be about to die.
func TestAKilledOwnerIsNoOwner(t *testing.T) {
	for range 10 {
		f := open(t, t.TempDir())
		other := start(t, "hold the lock", f.folder)
		other.ready(t)
		must.OK(t, other.Process.Kill())
		if o, held, err := f.Owner(); held || err != nil || o.PID != other.Process.Pid {
			t.Errorf("after its death: %+v, %v, %v", o, held, err)
		}
	}
}

// What an owner was forking when it was killed has its lock for a moment more.
func TestALockOutlivesItsOwnerForAMoment(t *testing.T) {
	gone := start(t, "wait", t.TempDir())
	gone.stdin.Close()
	gone.Wait()
	for name, tt := range map[string]struct {
		owner Owner
		after time.Duration // until the lock is free
		held  bool
		waits time.Duration
	}{
		"gone":            {Owner{PID: gone.Process.Pid}, gonePatience / 2, false, gonePatience / 2},
		"gone for long":   {Owner{PID: gone.Process.Pid}, 2 * gonePatience, true, gonePatience},
		"another process": {Owner{PID: os.Getpid(), ProcessStart: "earlier"}, gonePatience / 2, false, gonePatience / 2},
		"alive":           {Owner{PID: os.Getpid()}, gonePatience / 2, true, 0},
		"of another host": {Owner{PID: gone.Process.Pid, Host: "elsewhere"}, gonePatience / 2, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, t.TempDir())
				l := lock(t, f, tt.owner)
				var ends sync.WaitGroup
				ends.Go(func() {
					time.Sleep(tt.after - time.Nanosecond)
					if err := filelock.Unlock(l.open); err != nil {
						t.Error(err)
					}
				})
				began := time.Now()
				o, held, err := f.Owner()
				if held != tt.held || err != nil || o.PID != tt.owner.PID || time.Since(began) != tt.waits {
					t.Errorf("%+v, %v, %v after %v", o, held, err, time.Since(began))
				}
				ends.Wait()
			})
		})
	}
}

// An owner that lives drives another folder, of which this one is a copy.
func TestACopyOfALockedFolderHasNoPreviousOwner(t *testing.T) {
	f := open(t, t.TempDir())
	lock(t, f, Owner{LoopID: "a", Standing: Standing{Reapers: []Reaper{{PID: 1, ProcessStart: "x", Mark: 7}}}})
	record := must.Read(t, filepath.Join(f.folder, lockName))
	copied := open(t, t.TempDir())
	must.OK(t, errors.Join(os.MkdirAll(filepath.Join(copied.folder, stateDir), 0o700), os.WriteFile(filepath.Join(copied.folder, lockName), record, 0o600)))
	o, held, err := copied.Owner()
	if held || err != nil || !o.Lives() {
		t.Errorf("the copy's record: %+v, %t, %v", o, held, err)
	}
	l := lock(t, copied, Owner{})
	if o, ok := l.Previous(); ok {
		t.Errorf("previous owner %+v, want none", o)
	}
	if o, _, err := copied.Owner(); err != nil || len(o.Reapers) > 0 {
		t.Errorf("the new record has reapers: %+v, %v", o, err)
	}
}

// Somebody removes the user's state folder while a loop runs: it is found all the same, and says how it stands again.
func TestAnOwnerWhoseRecordWasRemoved(t *testing.T) {
	f := open(t, t.TempDir())
	o := Owner{LoopID: "a", Standing: Standing{Control: "/sock", Live: true}}
	l := lock(t, f, o)
	must.OK(t, os.RemoveAll(filepath.Dir(filepath.Dir(l.RecordPath()))))
	if found, held, err := f.Owner(); !held || err != nil || found.Control != "/sock" || found.Live {
		t.Errorf("without its record it is %+v, %t, %v", found, held, err)
	}
	must.OK(t, l.SetOwner(o))
	if found, held, err := f.Owner(); !held || err != nil || !found.Live {
		t.Errorf("with it, it is %+v, %t, %v", found, held, err)
	}
}

// A loop can be had, such as to cancel it, where the user's state folder can't be written.
func TestAnOwnerWhoseRecordCannotBeWritten(t *testing.T) {
	state := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(state, nil, 0o600))
	t.Setenv(paths.EnvState, filepath.Join(state, "state"))
	f := open(t, t.TempDir())
	l := lock(t, f, Owner{LoopID: "a"})
	if err := l.SetOwner(Owner{LoopID: "b"}); err != nil {
		t.Error(err)
	}
	if o, held, err := f.Owner(); !held || err != nil || o.LoopID != "b" || !o.Lives() {
		t.Errorf("it is %+v, %t, %v", o, held, err)
	}
}

// What a dead owner left running isn't forgotten when the next one dies before
// it has ended that.
func TestTheReapersOfADeadOwnerStayInTheRecord(t *testing.T) {
	f := open(t, t.TempDir())
	dead := Owner{PID: os.Getpid(), ProcessStart: "another", LoopID: "a", Standing: Standing{Reapers: []Reaper{{PID: 2, ProcessStart: "y", Mark: 1 << 61}}}}
	if dead.Lives() {
		t.Error("a process with another start is taken for the owner")
	}
	dies(t, f, dead)
	own := []Reaper{{PID: 3, ProcessStart: "z", Mark: 1<<61 + 1}}
	l := lock(t, f, Owner{Standing: Standing{Reapers: own}})
	if o, _, err := f.Owner(); err != nil || !cmp.Equal(o.Reapers, append(own, dead.Reapers...)) {
		t.Errorf("the new record has %+v, %v", o.Reapers, err)
	}
	if o, ok := l.Previous(); !ok || !o.is(dead) || !cmp.Equal(o.Standing, dead.Standing) {
		t.Errorf("previous owner %+v, %t", o, ok)
	}
	must.OK(t, l.SetOwner(Owner{LoopID: "b", Standing: Standing{Reapers: own}}))
	if o, _, err := f.Owner(); err != nil || !cmp.Equal(o.Reapers, own) {
		t.Errorf("the record afterwards has %+v, %v", o.Reapers, err)
	}
}

func TestAChildDoesNotKeepTheLock(t *testing.T) {
	t.Run("after release", func(t *testing.T) {
		f := open(t, t.TempDir())
		l := lock(t, f, Owner{})
		start(t, "wait", f.folder)
		must.OK(t, l.Release())
		lock(t, f, Owner{})
	})
	t.Run("after its parent was killed", func(t *testing.T) {
		f := open(t, t.TempDir())
		parent := start(t, "hold the lock with a child", f.folder)
		parent.ready(t)
		must.OK(t, parent.Process.Kill())
		parent.Process.Wait() // Wait would wait for the child's stderr too
		lock(t, f, Owner{})
		// The child inherited the other end of stdin: that can still be written to.
		if _, err := parent.stdin.Write([]byte("x")); err != nil {
			t.Errorf("the child is gone: %v", err)
		}
	})
}

func TestWhoOpenedTheLockFileBeforeItsRemovalStartsAnew(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, "---\n---\nGo.")
	path := filepath.Join(f.folder, lockName)
	l := lock(t, f, Owner{})
	late, err := os.OpenFile(path, os.O_RDWR, 0)
	must.OK(t, err)
	defer late.Close()
	must.OK(t, l.Release())
	lock(t, f, Owner{})
	if got, err := tryLockNamed(late, path); got || err != nil {
		t.Errorf("a second owner: %v, %v", got, err)
	}
	if free, err := filelock.Try(late, true); !free || err != nil {
		t.Errorf("the released file is free: %v, %v", free, err)
	}
}

func TestTwoNeverHaveTheLock(t *testing.T) {
	f := open(t, t.TempDir())
	var others []*process
	for range 3 {
		others = append(others, start(t, "fight for the lock", f.folder))
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 { // who only asks takes nobody's lock away
			if _, _, err := f.Owner(); err != nil {
				t.Error(err)
			}
		}
	})
	for _, other := range others {
		if err := other.Wait(); err != nil {
			t.Errorf("%v: %s", err, other.stderr)
		}
	}
	wg.Wait()
	// .pi itself may stay: who made it needn't be the last to leave.
	if entries, _ := os.ReadDir(filepath.Join(f.folder, stateDir)); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestProcessStartTellsProcessesApart(t *testing.T) {
	p := start(t, "wait", t.TempDir())
	mine, err := ProcessStart(os.Getpid())
	must.OK(t, err)
	its, err := ProcessStart(p.Process.Pid)
	must.OK(t, err)
	again, err := ProcessStart(p.Process.Pid)
	if err != nil || again != its {
		t.Errorf("asked again: %q, %v, want %q", again, err, its)
	}
	if mine == its {
		t.Errorf("two processes started at %q", mine)
	}
	p.stdin.Close()
	must.OK(t, p.Wait())
	if _, err := ProcessStart(p.Process.Pid); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after its end: %v, want fs.ErrNotExist", err)
	}
}

// lock takes the lock until the test ends.
func lock(t *testing.T, f *File, o Owner) *Lock {
	t.Helper()
	l, err := f.Lock(o)
	must.OK(t, err)
	t.Cleanup(func() {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// dies leaves a lock as an owner does that is killed.
func dies(t *testing.T, f *File, o Owner) {
	t.Helper()
	l := lock(t, f, o)
	must.OK(t, filelock.Unlock(l.open))
}
