package submitter

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
)

// fakeBus has what a desk needs of a bus.
type fakeBus struct {
	fleet.Bus // nothing else is called
	records   map[string]fleet.Record
	files     map[string]string
	said      map[string][]string // live
	mu        sync.Mutex          // held for records and said, where somebody watches
}

// change changes what is there while somebody watches.
func (b *fakeBus) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
}

func (b *fakeBus) Hear(_ context.Context, id string, _ bool) (<-chan []byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := make(chan []byte, len(b.said[id]))
	for _, line := range b.said[id] {
		said <- []byte(line)
	}
	close(said)
	return said, nil
}

func (b *fakeBus) Get(_ context.Context, id string) (fleet.Record, uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.records[id]
	if !ok {
		return r, 0, fleet.ErrNotFound
	}
	return r, 1, nil
}

func (b *fakeBus) Create(_ context.Context, r fleet.Record) error {
	b.records[r.ID] = r
	return nil
}
func (b *fakeBus) Put(ctx context.Context, r fleet.Record, _ uint64) error { return b.Create(ctx, r) }
func (b *fakeBus) Enqueue(context.Context, fleet.Record) error             { return nil }

func (b *fakeBus) List(context.Context) (all []fleet.Record, unread []string, err error) {
	for _, r := range b.records {
		all = append(all, r)
	}
	return all, nil, nil
}

func (b *fakeBus) PutFile(_ context.Context, name string, r io.Reader) error {
	data, err := io.ReadAll(r)
	b.files[name] = string(data)
	return err
}

func (b *fakeBus) KeepFile(_ context.Context, name string) error {
	if _, ok := b.files[name]; !ok {
		return fleet.ErrNotFound
	}
	return nil
}

func (b *fakeBus) File(_ context.Context, name string) (io.ReadCloser, error) {
	if text, ok := b.files[name]; ok {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return nil, fleet.ErrNotFound
}

// newDesk is a desk of alice, and a client that asks it.
func newDesk(t *testing.T) (*fakeBus, *Desk, *Client) {
	b := &fakeBus{records: map[string]fleet.Record{}, files: map[string]string{}}
	d := &Desk{Bus: b, Name: "alice", Dir: t.TempDir(), Check: func(context.Context, *fleet.Task) error { return nil }}
	return b, d, &Client{Line: func(ctx context.Context, request []byte, more func([]byte) []byte) ([]byte, error) {
		return d.Answer(ctx, request, func(_ context.Context, said []byte) ([]byte, error) { return more(said), nil }), nil
	}}
}

// repository makes one with a commit, and its bundle.
func repository(t *testing.T, text string) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "-m", "one"}} {
		if err := os.WriteFile(filepath.Join(dir, "text"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	out, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return dir, strings.TrimSpace(string(out))
}

func TestASubmittersLoopIsItsOwnWithWalls(t *testing.T) {
	b, d, c := newDesk(t)
	dir, commit := repository(t, "x")
	d.Check = func(_ context.Context, task *fleet.Task) error {
		task.Flags = []string{"--model=checked"}
		return nil
	}
	labels := map[string]string{"when": "nightly", fleet.LabelSubmitter: "bob"}
	s := fleet.Submission{Repo: dir, Prompt: "Do it", Name: "one", Task: fleet.Task{Priority: fleet.Low, Labels: labels, On: []string{"gpu"}, Flags: []string{"--model=x"}}}
	var got []fleet.Submitted
	tell := func(one fleet.Submitted) { got = append(got, one) }
	for range 2 {
		if err := fleet.Submit(t.Context(), c, s, tell); err != nil {
			t.Fatal(err)
		}
	}
	first := got[0]
	if r := b.records[first.ID]; first.ID != got[1].ID || !first.IsNew || got[1].IsNew || r.Labels[fleet.LabelSubmitter] != "alice" || r.Labels["when"] != "nightly" ||
		r.Repo != "submitter:alice:"+dir || !slices.Equal(r.On, []string{"gpu", fleet.LabelWalls}) || !slices.Equal(r.Flags, []string{"--model=checked"}) || b.files[r.PromptFile()] != "Do it" {
		t.Errorf("on the bus it is %+v", r)
	}
	if !strings.HasPrefix(b.files["repo/"+commit], "# v2 git bundle") {
		t.Error("its repository isn't there")
	}
	b.records["f2"] = fleet.Record{Task: fleet.Task{ID: "f2", Labels: map[string]string{fleet.LabelSubmitter: "bob"}}}
	if all, _, err := c.List(t.Context()); err != nil || len(all) != 1 || all[0].ID != first.ID {
		t.Errorf("it sees %v, %v", all, err)
	}
	for id, want := range map[string]error{first.ID: nil, "f2": fleet.ErrNotFound, "f3": fleet.ErrNotFound, "": fleet.ErrNotFound} {
		if r, _, err := c.Get(t.Context(), id); !errors.Is(err, want) || err == nil && r.ID != id {
			t.Errorf("asked for %q it gets %+v, %v", id, r, err)
		}
	}
	for id, want := range map[string]error{first.ID: nil, "f2": fleet.ErrNotFound, "f3": fleet.ErrNotFound} {
		if err := c.Cancel(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("cancel %s: %v", id, err)
		}
	}
	if b.records["f2"].Phase == fleet.Ended || b.records[first.ID].Phase != fleet.Ended {
		t.Errorf("cancelled: %+v", b.records)
	}
}

// What is there under the same id, of whomever, stays theirs.
func TestASubmitterTakesNoLoopOver(t *testing.T) {
	b, _, c := newDesk(t)
	dir, commit := repository(t, "x")
	task := fleet.Task{Name: "one", Repo: "submitter:alice:" + dir, Base: commit, Labels: map[string]string{fleet.LabelSubmitter: "alice"}}
	task.Identify("Do it")
	task.Labels = nil
	b.records[task.ID] = fleet.Record{Task: task, Phase: fleet.Paused}
	err := fleet.Submit(t.Context(), c, fleet.Submission{Repo: dir, Prompt: "Do it", Name: "one", Task: fleet.Task{Priority: fleet.Normal}}, func(fleet.Submitted) { t.Error("it is told") })
	if err == nil || !strings.Contains(err.Error(), fleet.ErrExists.Error()) {
		t.Errorf("%v", err)
	}
}

func TestRepositoriesAndFilesGoInParts(t *testing.T) {
	b, d, c := newDesk(t)
	noise := make([]byte, 3*partSize/2)
	rand.Read(noise)
	dir, commit := repository(t, string(noise))
	submit := func(repo string) error {
		return fleet.Submit(t.Context(), c, fleet.Submission{Repo: repo, Prompt: "Do it", Task: fleet.Task{Priority: fleet.Normal}}, func(fleet.Submitted) {})
	}
	if err := submit(dir); err != nil || len(b.files["repo/"+commit]) < len(noise) {
		t.Fatalf("%v, and the bus has %d bytes", err, len(b.files["repo/"+commit]))
	}
	b.files["repo/"+commit] = "of another's loops"
	if err := submit(dir); err != nil || b.files["repo/"+commit] != "of another's loops" {
		t.Errorf("%v: what is there is replaced", err)
	}
	if left, err := os.ReadDir(d.Dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
	for name, want := range map[string]struct{ data, why string }{"repo/" + commit: {"no bundle", "can't be read"}, "prompt/f1": {"x", "can't be read"}} {
		if err := c.PutFile(t.Context(), name, strings.NewReader(want.data)); err == nil || !strings.Contains(err.Error(), want.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.PutFile(t.Context(), "repo/"+commit, iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("what can't be read: %v", err)
	}
	b.records["f1"] = fleet.Record{Task: fleet.Task{ID: "f1", Labels: map[string]string{fleet.LabelSubmitter: "alice"}}}
	for name, want := range map[string]string{"loop/f1/1/bundle": string(noise), "loop/f1/2/bundle": "", "loop/f1/3/bundle": string(noise[:partSize])} {
		b.files[name] = want
		f, err := c.File(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != want {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
	b.files["prompt/f1"] = "p"
	for _, name := range []string{"loop/f1/9/bundle", "prompt/f1", "f1", "f1/1/bundle", "loop/f2/1/bundle"} {
		if _, err := c.File(t.Context(), name); !errors.Is(err, fleet.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARepositoryCanBeTooLarge(t *testing.T) {
	defer func(most int) { maxRepo = most }(maxRepo)
	maxRepo = 4 << 20
	_, d, _ := newDesk(t)
	part := make([]byte, 1<<20)
	n := 0
	request, _ := fleet.Encode(request{Send: "repo/x"})
	said := d.Answer(t.Context(), request, func(context.Context, []byte) ([]byte, error) { n++; return part, nil })
	if !strings.Contains(string(said), "more than 4 MiB") || n != maxRepo/len(part)+1 {
		t.Errorf("after %d parts: %s", n, said)
	}
}

func TestASubmitterWatchesItsLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		b, _, c := newDesk(t)
		mine := fleet.Record{Task: fleet.Task{ID: "f1", Labels: map[string]string{fleet.LabelSubmitter: "alice"}}, Phase: fleet.Running, Attempt: 3}
		b.records["f1"], b.records["f2"] = mine, fleet.Record{Task: fleet.Task{ID: "f2"}}
		line := func(attempt, n int) string {
			return string(livelog.Tag([]byte(`{"text":"`+strings.Repeat("x", partSize)+`"}`+"\n"), attempt, n))
		}
		b.said = map[string][]string{"f1": {line(2, 7), line(3, 1), line(3, 2)}, "f2": {line(1, 1)}}
		hears := func(id string, all bool, want ...string) {
			t.Helper()
			said, err := c.Hear(ctx, id, all)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range want {
				if got := <-said; string(got) != one {
					t.Errorf("of %s it hears %.40q, want %.40q", id, got, one)
				}
			}
			if !all {
				b.change(func() { b.said[id] = append(b.said[id], line(3, 3)) })
				if got := <-said; string(got) != line(3, 3) {
					t.Errorf("behind that it hears %.40q", got)
				}
				return
			}
			if more, ok := <-said; ok {
				t.Errorf("of %s it hears %.40q besides", id, more)
			}
		}
		hears("f1", true, b.said["f1"]...)
		hears("f1", false, b.said["f1"]...)
		hears("f2", true)
		changes, err := c.Watch(ctx, "f1")
		if r := <-changes; err != nil || r.Phase != fleet.Running {
			t.Errorf("it stands as %+v, %v", r, err)
		}
		mine.Phase = fleet.Ended
		b.change(func() { b.records["f1"] = mine })
		if r := <-changes; r.Phase != fleet.Ended {
			t.Errorf("then as %+v", r)
		}
		b.change(func() { delete(b.records, "f1") })
		if r := <-changes; r.Phase != fleet.Removed {
			t.Errorf("at last as %+v", r)
		}
		stop()
		synctest.Wait()
	})
}

func TestASubmitterAsksForFewKindsOfWorkers(t *testing.T) {
	d := &Desk{}
	kind := func(i int) fleet.Task { return fleet.Task{On: []string{strings.Repeat("x", i+1)}} }
	for i := range maxLanes {
		if err := d.mayWaitIn(kind(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.mayWaitIn(kind(maxLanes)); err == nil {
		t.Error("one more is let in")
	}
	if err := d.mayWaitIn(kind(0)); err != nil {
		t.Errorf("one that is known isn't: %v", err)
	}
}
