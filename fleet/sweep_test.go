package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

func (m *memory) RemoveFile(_ context.Context, name string, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before.IsZero() || m.putAt[name].Before(before) {
		delete(m.files, name)
	}
	return nil
}

func (m *memory) KeepFile(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[name]; !ok {
		return ErrNotFound
	}
	m.putAt[name] = time.Now()
	return nil
}

func (m *memory) Files(_ context.Context, each func(string, time.Time)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.files {
		each(name, m.putAt[name])
	}
	return nil
}

// keeps puts files on the bus.
func (m *memory) keeps(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := m.PutFile(t.Context(), name, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASweepTakesAwayWhatNoLoopSpeaksOf(t *testing.T) {
	m := newMemory()
	now := time.Now()
	for _, r := range []Record{
		{Task: Task{ID: "fa", Base: "b1"}, Phase: Running, Attempt: 5, Committed: 3, Kept: []int{1, 3}, UpdatedAt: now},
		{Task: Task{ID: "fb", Base: "b2"}, Phase: Ended, Attempt: 2, Committed: 2, Kept: []int{2}, UpdatedAt: now.Add(-48 * time.Hour)},
		{Task: Task{ID: "fc", Base: "b3"}, Phase: Paused, UpdatedAt: now.Add(-48 * time.Hour)},
	} {
		if err := m.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	stay := []string{"loop/fa/1/log", "loop/fa/3/bundle", "loop/fa/3/log", "loop/fa/3/state", "loop/fa/5/bundle", "loop/fa/5/log", "loop/fa/x/log", "loop/fb/2/bundle", "loop/fb/2/log", "other/thing", "prompt/fa", "prompt/fb", "prompt/fc", "repo/b1", "repo/b2", "repo/b3"}
	m.keeps(t, stay...)
	m.keeps(t, "loop/fa/1/bundle", "loop/fa/1/state", "loop/fa/2/log", "loop/fa/4/bundle", "loop/fb/1/log", "loop/fgone/1/log", "prompt/fgone", "repo/b0")
	if done, err := Sweep(t.Context(), m, now.Add(time.Minute)); err != nil || done != (Swept{}) {
		t.Errorf("what is young: %+v, %v", done, err)
	}
	done, err := Sweep(t.Context(), m, now.Add(2*time.Hour))
	if err != nil || done != (Swept{Files: 8}) {
		t.Errorf("swept %+v, %v", done, err)
	}
	if want := now.Add(2*time.Hour - marksLast); !m.tidied.Equal(want) {
		t.Errorf("marks are dropped of before %s, want %s", m.tidied, want)
	}
	if got := slices.Sorted(maps.Keys(m.files)); !slices.Equal(got, stay) {
		t.Errorf("left is %q", got)
	}
	err = ledger.Change(t.Context(), m, func(l *ledger.Ledger) bool { l.Limits.KeepEnded = 24 * time.Hour; return true })
	if err != nil {
		t.Fatal(err)
	}
	if done, err := Sweep(t.Context(), m, now.Add(4*time.Hour)); err != nil || done.Loops != 1 {
		t.Errorf("swept %+v, %v", done, err)
	}
	all, _, err := m.List(t.Context())
	if err != nil || len(all) != 2 {
		t.Errorf("left are %+v, %v", all, err)
	}
}

func TestASweepKeepsWhatMayBeOfALoopThatCannotBeRead(t *testing.T) {
	m := newMemory()
	m.loops["fx"] = []byte("no JSON")
	stay := []string{"loop/fx/1/bundle", "loop/fx/1/log", "prompt/fx", "repo/b1"}
	m.keeps(t, stay...)
	m.keeps(t, "loop/fgone/1/log", "prompt/fgone")
	done, err := Sweep(t.Context(), m, time.Now().Add(2*time.Hour))
	if err != nil || done != (Swept{Files: 2, Unread: 1}) {
		t.Errorf("swept %+v, %v", done, err)
	}
	if got := slices.Sorted(maps.Keys(m.files)); !slices.Equal(got, stay) {
		t.Errorf("left is %q", got)
	}
}

func TestOneOfAllWorkersSweeps(t *testing.T) {
	m := newMemory()
	m.keeps(t, "prompt/fgone")
	now := time.Now().Add(2 * time.Hour)
	var all sync.WaitGroup
	swept := make(chan Swept, 8)
	for range 8 {
		all.Go(func() {
			done, err := Sweep(t.Context(), m, now)
			if err != nil {
				t.Error(err)
			}
			swept <- done
		})
	}
	all.Wait()
	close(swept)
	files := 0
	for done := range swept {
		files += done.Files
	}
	if files != 1 {
		t.Errorf("%d files were removed", files)
	}
}

func TestALoopThatGoesOnIsNotRemoved(t *testing.T) {
	m := newMemory()
	r := Record{Task: Task{ID: "fa"}, Phase: Ended, UpdatedAt: time.Now().Add(-time.Hour)}
	if err := m.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := RemoveEnded(t.Context(), m, "fa", r.UpdatedAt.Add(-time.Minute)); !errors.Is(err, ErrConflict) {
		t.Errorf("it ended later: %v", err)
	}
	_, revision, err := m.Get(t.Context(), "fa")
	if err != nil {
		t.Fatal(err)
	}
	r.Phase = Queued
	if err := m.Put(t.Context(), r, revision); err != nil {
		t.Fatal(err)
	}
	if err := m.Remove(t.Context(), r, revision); !errors.Is(err, ErrConflict) {
		t.Errorf("it was resumed meanwhile: %v", err)
	}
	if err := RemoveEnded(t.Context(), m, "fa", time.Time{}); !errors.Is(err, errGoesOn) {
		t.Errorf("it goes on: %v", err)
	}
}

func TestOldCheckpointsGoAtOnce(t *testing.T) {
	w := newWorks(t)
	r := w.until(w.submit(), func(r Record) bool { return r.Phase == Ended })
	w.bus.mu.Lock()
	defer w.bus.mu.Unlock()
	if w.bus.files[r.CheckpointFile(1)] != nil || w.bus.files[r.StateFile(1)] != nil || w.bus.files[r.CheckpointFile(3)] == nil || w.bus.files[r.TranscriptFile(1)] == nil {
		t.Errorf("kept are %q", slices.Sorted(maps.Keys(w.bus.files)))
	}
}

// between is a bus on which somebody else does something while a sweep has listed the files.
type between struct {
	*memory
	do func()
}

func (b between) Files(ctx context.Context, each func(string, time.Time)) error {
	err := b.memory.Files(ctx, each)
	b.do()
	return err
}

func TestARepositoryThatIsJustSubmittedStays(t *testing.T) {
	w := newWorks(t)
	old := func() { // that a loop had which is removed
		for name := range w.bus.files {
			w.bus.putAt[name] = time.Now().Add(-2 * time.Hour)
		}
	}
	first := w.submit()
	if err := w.bus.Remove(t.Context(), first, 1); err != nil {
		t.Fatal(err)
	}
	old()
	var again Record
	done, err := Sweep(t.Context(), between{w.bus, func() { w.task.Key = "another"; again = w.submit() }}, time.Now())
	if err != nil || done.Files == 0 || w.bus.files[again.RepoFile()] == nil || w.bus.files[first.PromptFile()] != nil {
		t.Errorf("swept %+v, %v; left are %q", done, err, slices.Sorted(maps.Keys(w.bus.files)))
	}
	if err := w.bus.Remove(t.Context(), again, 1); err != nil {
		t.Fatal(err)
	}
	old()
	clear(w.bus.ledger) // as an hour later
	if done, err := Sweep(t.Context(), w.bus, time.Now()); err != nil || done.Files == 0 || w.bus.files[again.RepoFile()] != nil {
		t.Errorf("swept %+v, %v; left are %q", done, err, slices.Sorted(maps.Keys(w.bus.files)))
	}
}

// refusing doesn't take one loop.
type refusing struct {
	Bus
	id    string
	taken []string
}

func (b *refusing) Enqueue(_ context.Context, r Record) error {
	if r.ID == b.id {
		return errors.New("there is no room for it")
	}
	b.taken = append(b.taken, r.ID)
	return nil
}

func TestALoopThatTheQueueRefusesKeepsNoOtherFromIt(t *testing.T) {
	b := &refusing{id: "f1"}
	all := []Record{{Task: Task{ID: "f1"}, Phase: Queued}, {Task: Task{ID: "f2"}, Phase: Queued}, {Task: Task{ID: "f3"}, Phase: Ended}}
	if err := requeue(t.Context(), b, all); err == nil || !slices.Equal(b.taken, []string{"f2"}) {
		t.Errorf("%v are taken, %v", b.taken, err)
	}
}
