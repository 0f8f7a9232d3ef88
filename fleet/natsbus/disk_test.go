package natsbus

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// On a full disk nothing large is kept, all else goes on, and with room so do files.
func TestADiskThatIsFullForAWhile(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var free atomic.Int64
	free.Store(10 << 20)
	served, err := Serve(ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", MinFree: 1 << 20, MaxFiles: 200 << 10, free: func(string) (int64, error) { return free.Load(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	b, err := Dial(ctx, Options{URL: served.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	text := make([]byte, 150<<10)
	rand.Read(text)
	put := func(name string) error { return b.PutFile(ctx, name, strings.NewReader(string(text))) }
	limit := func() int64 {
		info, err := b.store.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return info.Config.MaxBytes
	}
	proctest.Until(t, "the quota", func() bool { return limit() == 200<<10 })
	if err := put("one"); err != nil {
		t.Fatal(err)
	}
	if err := put("two"); err == nil || !strings.Contains(err.Error(), "its quota is used") {
		t.Errorf("more than the quota: %v", err)
	}
	if err := Well(ctx, b, Stalled); err != nil {
		t.Error(err)
	}
	if err := b.RemoveFile(ctx, "one", time.Time{}); err != nil {
		t.Fatal(err)
	}
	free.Store(1000)
	proctest.Until(t, "a full disk", func() bool { d, isTold := DiskOf(ctx, b); return isTold && d.IsFull() && limit() != 200<<10 })
	if err := put("three"); err == nil || !strings.Contains(err.Error(), "the disk of the bus is full: 1.0 kB of it are free") {
		t.Errorf("on a full disk: %v", err)
	}
	if err := Well(ctx, b, Stalled); err == nil || !strings.Contains(err.Error(), "the disk of the bus is full") {
		t.Errorf("its health: %v", err)
	}
	r := fleet.Record{Task: fleet.Task{ID: "f1", Priority: fleet.Low}}
	if err := errors.Join(b.Create(ctx, r), b.Enqueue(ctx, r)); err != nil {
		t.Errorf("a record: %v", err)
	}
	if one, _ := takes(ctx, t, b); one.ID() != "f1" {
		t.Errorf("it took %s", one.ID())
	}
	free.Store(10 << 20)
	proctest.Until(t, "room", func() bool { return put("four") == nil })

	d := Disk{Free: 5, Failed: true}
	if !d.IsFull() {
		t.Error("where writing has failed nothing is kept")
	}
	served.failed.Store(true)                                 // as JetStream says of a write that came to nothing
	proctest.Until(t, "that it is served anew", func() bool { // what was asked of the one before has no answer
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return !served.failed.Load() && b.store.Purge(within) == nil && b.PutFile(within, "five", strings.NewReader(string(text))) == nil
	})
	if now, _, err := b.Get(ctx, "f1"); err != nil || now.ID != "f1" {
		t.Errorf("what it had is %+v, %v", now, err)
	}
	proctest.Until(t, "its disk", func() bool { d, isTold := DiskOf(ctx, b); return isTold && !d.IsFull() })
}
