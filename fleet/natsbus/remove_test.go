package natsbus

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

func TestALoopIsRemovedOnlyAsItWas(t *testing.T) {
	b, err := Dial(t.Context(), Options{URL: "nats://" + served(t, ServeOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	r := fleet.Record{Task: fleet.Task{ID: "fa"}, Phase: fleet.Ended, Attempt: 1}
	if err := b.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	_, revision, err := b.Get(t.Context(), "fa")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{r.PromptFile(), r.TranscriptFile(1), "prompt/other"} {
		if err := b.PutFile(t.Context(), name, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Put(t.Context(), r, revision); err != nil {
		t.Fatal(err)
	}
	changes, err := b.Watch(t.Context(), "fa")
	if err != nil {
		t.Fatal(err)
	}
	files := func() (names string) {
		t.Helper()
		err := b.Files(t.Context(), func(name string, at time.Time) {
			if names += name + " "; time.Since(at).Abs() > time.Minute {
				t.Errorf("%s is of %s", name, at)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if err := b.Remove(t.Context(), r, revision); !errors.Is(err, fleet.ErrConflict) || strings.Count(files(), " ") != 3 {
		t.Errorf("it changed meanwhile: %v, %s", err, files())
	}
	if err := b.Remove(t.Context(), r, revision+1); err != nil || files() != "prompt/other " {
		t.Errorf("removed: %v, %s", err, files())
	}
	if _, _, err := b.Get(t.Context(), "fa"); !errors.Is(err, fleet.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
	for phase := fleet.Ended; phase != fleet.Removed; { // Watch begins with how it is
		now := <-changes
		if phase = now.Phase; now.ID != "fa" || phase != fleet.Ended && phase != fleet.Removed {
			t.Fatalf("who watches it is told %+v", now)
		}
	}
	if err := b.Create(t.Context(), fleet.Record{Task: fleet.Task{ID: "fb"}, Phase: fleet.Queued}); err != nil {
		t.Fatal(err)
	}
	later, err := b.Watch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if first := <-later; first.ID != "fb" {
		t.Errorf("who watches from then on is told %+v", first)
	}
	if err := errors.Join(b.RemoveFile(t.Context(), "prompt/other", time.Time{}), b.RemoveFile(t.Context(), "prompt/other", time.Time{})); err != nil || files() != "" {
		t.Errorf("a file: %v, %s", err, files())
	}
}

// A bus would be full of marks one day: each loop that is removed leaves one.
func TestMarksOfRemovedLoopsGo(t *testing.T) {
	b := newBus(t)
	remove := func(id string) {
		t.Helper()
		r, revision, err := b.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Remove(t.Context(), r, revision); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"fa", "fb", "fc"} {
		if err := b.Create(t.Context(), fleet.Record{Task: fleet.Task{ID: id}, Phase: fleet.Ended}); err != nil {
			t.Fatal(err)
		}
	}
	remove("fa")
	remove("fb")
	if err := b.Create(t.Context(), fleet.Record{Task: fleet.Task{ID: "fb"}, Phase: fleet.Queued}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before time.Time
		left   uint64 // records and marks
	}{{time.Now().Add(-time.Hour), 3}, {time.Now().Add(time.Hour), 2}} {
		if err := b.Tidy(t.Context(), c.before); err != nil {
			t.Fatal(err)
		}
		kept, err := b.loops.Status(t.Context())
		if err != nil || kept.Values() != c.left {
			t.Errorf("%d are left, want %d; %v", kept.Values(), c.left, err)
		}
	}
	if all, _, err := b.List(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("there are %v, %v", all, err)
	}
	if err := b.Create(t.Context(), fleet.Record{Task: fleet.Task{ID: "fa"}, Phase: fleet.Queued}); err != nil {
		t.Errorf("a loop whose mark is gone is submitted again: %v", err)
	}
}

func TestARecordThatIsNoneHidesNoOther(t *testing.T) {
	b := newBus(t)
	if err := b.Create(t.Context(), fleet.Record{Task: fleet.Task{ID: "fa"}, Phase: fleet.Ended}); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"fb": "no JSON", "fc": `{"id":7}`, "fd": "null", "fe": `{"id":"fa"}`} {
		if _, err := b.loops.Put(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	all, unread, err := b.List(t.Context())
	if slices.Sort(unread); err != nil || len(all) != 1 || all[0].ID != "fa" || !slices.Equal(unread, []string{"fb", "fc", "fd", "fe"}) {
		t.Errorf("there are %v, unread %q, %v", all, unread, err)
	}
}
