package natsbus

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// A bus with TLS and a token is looked at from inside, whatever its certificate says.
func TestLoopsAreFollowedFromInside(t *testing.T) {
	cert, key := certificate(t)
	s, err := Serve(ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0", Token: "sesame", Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	b, err := s.Bus(ctx, Options{Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, id := range []string{"a", "b"} {
		r := fleet.Record{Task: fleet.Task{ID: id, Priority: fleet.Low}, Phase: fleet.Queued}
		if err := b.Create(ctx, r); err != nil {
			t.Fatal(err)
		}
		for range 2 { // it waits once, however often it is said
			if err := b.Enqueue(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	depth := func(want int) {
		t.Helper()
		if depths, err := b.Depths(ctx); err != nil || depths[fleet.Low] != want || depths[fleet.High] != 0 {
			t.Errorf("depths %v, %v", depths, err)
		}
	}
	depth(2)
	if _, err := b.Take(ctx, nil); err != nil {
		t.Fatal(err)
	}
	depth(1)
	if used, err := b.Used(ctx); err != nil || used == 0 {
		t.Errorf("it keeps %d bytes, %v", used, err)
	}
	all, err := b.Watch(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a", "b", ""} {
		if got := <-all; got.ID != want {
			t.Errorf("told of %q, want %q", got.ID, want)
		}
	}
	if err := b.loops.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if got := <-all; got.ID != "a" || got.Phase != fleet.Removed {
		t.Errorf("told %+v of one that is removed", got)
	}
}

// Two servers in one folder would write over each other's files.
func TestAFolderHasOneServer(t *testing.T) {
	o := ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"}
	first, err := Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Serve(o); err == nil || !strings.Contains(err.Error(), "another ralph-fleet serve has its files in "+o.Dir) {
		t.Errorf("a second one: %v, %v", second, err)
	}
	first.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Serve(ServeOptions{Dir: o.Dir, Listen: l.Addr().String()}); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("where somebody listens: %v", err)
	}
	again, err := Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
