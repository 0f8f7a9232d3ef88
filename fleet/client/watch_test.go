package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// counting is a bus that counts the files that are read.
type counting struct {
	*fakeBus
	files int
}

func (c *counting) File(ctx context.Context, name string) (io.ReadCloser, error) {
	c.files++
	return c.fakeBus.File(ctx, name)
}

// Who watches reads each line once, in order, whatever happens to the attempt that says it.
func TestWhoWatchesReadsEachLineOnce(t *testing.T) {
	b := &counting{fakeBus: newBus(loopOf("f1", fleet.Queued))}
	b.begin(t, "f1")
	b.tell("f1", 1, 1, 3)
	lines, ended := make(chan string), make(chan error, 1)
	var last fleet.Record
	go func() {
		var err error
		last, err = Watch(t.Context(), b, "f1", false, func(line []byte, isLive bool) error {
			var u struct{ Message string }
			err := json.Unmarshal(line, &u)
			lines <- fmt.Sprintf("%s %t", u.Message, isLive)
			return err
		}, func(fleet.Record) {})
		ended <- err
	}()
	reads := func(want ...string) {
		t.Helper()
		for _, line := range want {
			if got := <-lines; got != line {
				t.Fatalf("it reads %s in the place of %s", got, line)
			}
		}
	}
	reads("1.1 true", "1.2 true", "1.3 true")
	b.tell("f1", 1, 2, 5) // some of it again
	reads("1.4 true", "1.5 true")
	b.commit(t, "f1", 1, 6, fleet.Outcome{HasState: true, Iterations: 1})
	reads("1.6 false")
	b.begin(t, "f1")
	b.tell("f1", 2, 1, 2)
	reads("2.1 true", "2.2 true")
	b.begin(t, "f1") // its worker is dead, but not quite
	b.tell("f1", 3, 1, 1)
	reads("3.1 true")
	b.tell("f1", 2, 3, 4)
	b.tell("f1", 3, 3, 3) // one line is lost on its way
	reads("3.3 true")
	b.commit(t, "f1", 3, 4, fleet.Outcome{StopReason: "promise", Iterations: 2})
	reads("3.4 false")
	if err := <-ended; err != nil || last.Phase != fleet.Ended || b.files != 2 {
		t.Errorf("it ends with %v, %s, and %d files of two attempts are read", err, last.Phase, b.files)
	}
}

// Who wants what there is waits for no more, and gets no part of what is to come.
func TestWhoWatchesWithoutWaiting(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Queued))
	b.begin(t, "f1")
	b.tell("f1", 1, 1, 2)
	n := 0
	r, err := Watch(t.Context(), b, "f1", true, func([]byte, bool) error { n++; return nil }, func(fleet.Record) {})
	if err != nil || r.Phase != fleet.Running || n != 2 {
		t.Errorf("it reads %d lines of a loop that is %s, %v", n, r.Phase, err)
	}
	if _, err := Watch(t.Context(), b, "f2", true, nil, nil); err == nil {
		t.Error("a loop that there isn't is watched")
	}
}
