package client

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestOfTheLoopsLookedAtTheLastOnesAreKept(t *testing.T) {
	dir := t.TempDir()
	make := func(i int, age time.Duration) string {
		path := filepath.Join(dir, fmt.Sprint("f", i))
		at := time.Now().Add(-age)
		for _, err := range []error{os.MkdirAll(filepath.Join(path, "log"), 0o700), os.Chtimes(path, at, at)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	isThere := func(path string) bool { _, err := os.Stat(path); return err == nil }
	fresh, old, used := make(1, time.Hour), make(2, keptFor+time.Hour), make(4, keptFor+2*time.Hour)
	if prune(dir, map[string]bool{"f4": true}); !isThere(fresh) || isThere(old) || !isThere(used) {
		t.Errorf("one of this hour is kept: %v; one of last week: %v; an older one that is used: %v", isThere(fresh), isThere(old), isThere(used))
	}
	last := make(3, time.Duration(maxKept)*time.Minute+2*time.Hour)
	for i := range maxKept - 1 {
		make(10+i, 2*time.Hour+time.Duration(i)*time.Minute)
	}
	if prune(dir, map[string]bool{"f4": true}); !isThere(fresh) || isThere(last) {
		t.Errorf("among many, the one that was looked at last is kept: %v; the one that wasn't for longest: %v", isThere(fresh), isThere(last))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != maxKept+1 || !isThere(used) {
		t.Errorf("%d are kept, %v", len(left), err)
	}
}

func TestTheLoopThatIsReadComesFirst(t *testing.T) {
	d := New(Options{Dir: t.TempDir()})
	open := func(i int) { d.logs.open(loopOf(fmt.Sprint("f", i), fleet.Ended)) }
	for _, i := range []int{1, 2, 1, 1, 3} {
		open(i)
	}
	if want := []string{"f3", "f1", "f2"}; !slices.Equal(d.logs.read, want) {
		t.Errorf("they are %q, want %q", d.logs.read, want)
	}
	for i := range 2 * maxFollowed {
		open(i)
	}
	if len(d.logs.read) != maxFollowed {
		t.Errorf("%d are remembered", len(d.logs.read))
	}
}

func TestWhichLinesAreOfTheAttemptAlone(t *testing.T) {
	for line, want := range map[string]struct{ ofAttempt, ends bool }{
		`{"sessionUpdate":"_ralph/end","stopReason":"once"}`:                                     {true, false},
		`{"sessionUpdate":"_ralph/end","stopReason":"interrupted"}`:                              {true, false},
		`{"sessionUpdate":"_ralph/end","stopReason":"promise"}`:                                  {false, false},
		`{"sessionUpdate":"_ralph/state","state":"ended"}`:                                       {true, false},
		`{"sessionUpdate":"_ralph/state","state":"waiting"}`:                                     {false, false},
		`{"sessionUpdate":"_ralph/iteration","phase":"begin"}`:                                   {false, false},
		`{"sessionUpdate":"_ralph/iteration","phase":"end"}`:                                     {false, true},
		`{"sessionUpdate":"_ralph/warning","phase":"end","message":"no _ralph/iteration began"}`: {false, false},
		`{"sessionUpdate":"_ralph/iteration","phase":"end"`:                                      {true, false},
	} {
		if got := isOfAttempt(wire.Decode([]byte(line))); got != want.ofAttempt {
			t.Errorf("%s is of its attempt alone: %v", line, got)
		}
		if got := endsIteration([]byte(line)); got != want.ends {
			t.Errorf("%s ends an iteration: %v", line, got)
		}
	}
}
