package natsbus

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// hear reads so many lines of what a loop says; -1 is up to the end.
func hear(t *testing.T, lines <-chan []byte, n int) (heard []string) {
	t.Helper()
	for len(heard) != n {
		line, ok := <-lines
		if !ok {
			break
		}
		heard = append(heard, string(line))
	}
	return heard
}

func TestWhoHearsALoop(t *testing.T) {
	connect := serve(t)
	worker, client := connect("worker"), connect("client")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	open := func(all bool) <-chan []byte {
		t.Helper()
		lines, err := client.Hear(ctx, "f1", all)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	said := []string{string(livelog.Tag([]byte("{\"a\":1}\n"), 2, 1)), "{\"b\":2}\n", "{\"c\":3}\n"}
	tell := func(id, line string) {
		t.Helper()
		if err := worker.Tell(t.Context(), id, []byte(line)); err != nil {
			t.Fatal(err)
		}
		if err := worker.conn.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if heard := hear(t, open(true), -1); heard != nil {
		t.Errorf("of a loop that has said nothing, %q", heard)
	}
	early := open(false)
	tell("f2", "{}\n")
	tell("f1", said[0])
	tell("f1", said[1])
	if heard := hear(t, early, 2); !slices.Equal(heard, said[:2]) {
		t.Errorf("who was there hears %q", heard)
	}
	if heard := hear(t, open(true), -1); !slices.Equal(heard, said[:2]) {
		t.Errorf("who wants what there is hears %q", heard)
	}
	late := open(false)
	tell("f1", said[2])
	if heard := hear(t, late, 3); !slices.Equal(heard, said) {
		t.Errorf("who comes late and stays hears %q", heard)
	}
	consumers := func() int {
		info, err := client.live.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Consumers
	}
	proctest.Until(t, "that only who stays has a consumer", func() bool { return consumers() == 2 })
	leave()
	proctest.Until(t, "that nobody has", func() bool { return consumers() == 0 })
	if heard := hear(t, late, -1); heard != nil {
		t.Errorf("who has left hears %q", heard)
	}
}

// A line that is cut is of its attempt yet, and its place among the lines is known.
func TestALongLineKeepsItsTag(t *testing.T) {
	connect := serve(t)
	bus := connect("worker")
	long := livelog.Tag([]byte(`{"text":"`+strings.Repeat("x", 1<<20)+"\"}\n"), 2, 17)
	if err := bus.Tell(t.Context(), "f1", long); err != nil {
		t.Fatal(err)
	}
	if err := bus.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	lines, err := bus.Hear(t.Context(), "f1", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range hear(t, lines, -1) {
		if attempt, n, rest := livelog.Untag([]byte(line)); attempt != 2 || n != 17 || !strings.HasPrefix(string(rest), `{"text":"xxx`) {
			t.Errorf("it is line %d of attempt %d: %.60s", n, attempt, rest)
		}
	}
}
