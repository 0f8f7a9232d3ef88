package stream

import (
	"io"
	"strings"
	"testing"
)

// collector is a Handler that keeps all events, without the time a run took.
type collector struct {
	events []Event
}

func (c *collector) Handle(e Event) {
	if complete, ok := e.(Complete); ok {
		complete.Result.Duration = 0
		e = complete
	}
	c.events = append(c.events, e)
}

// decodeAll returns the events of a run's output.
func decodeAll(t testing.TB, f Format, r io.Reader) []Event {
	t.Helper()
	var c collector
	if _, err := (Reader{Format: f, Handler: &c}).Run(r); err != nil {
		t.Fatal(err)
	}
	return c.events
}

// decodeLines returns the events and the result of a run that wrote these lines.
func decodeLines(t testing.TB, f Format, lines ...string) ([]Event, Result) {
	t.Helper()
	events := decodeAll(t, f, strings.NewReader(strings.Join(lines, "\n")+"\n"))
	return events, events[len(events)-1].(Complete).Result
}

// only returns the events of one kind.
func only[E Event](events []Event) []E {
	var found []E
	for _, e := range events {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}
