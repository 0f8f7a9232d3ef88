package decode

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// collector is a Handler that keeps all events, without the time a run took.
type collector struct {
	events []stream.Event
}

func (c *collector) Handle(e stream.Event) {
	if complete, ok := e.(stream.Complete); ok {
		complete.Result.Duration = 0
		e = complete
	}
	c.events = append(c.events, e)
}

// decodeAll returns the events of a run's output.
func decodeAll(t testing.TB, f Format, r io.Reader) []stream.Event {
	t.Helper()
	var c collector
	must.OK(t, must.Err((Reader{Format: f, Handler: &c}).Run(r)))
	return c.events
}

// decodeLines returns the events and the result of a run that wrote these lines.
func decodeLines(t testing.TB, f Format, lines ...string) ([]stream.Event, stream.Result) {
	t.Helper()
	events := decodeAll(t, f, strings.NewReader(strings.Join(lines, "\n")+"\n"))
	return events, events[len(events)-1].(stream.Complete).Result
}

// only returns the events of one kind.
func only[E stream.Event](events []stream.Event) []E {
	var found []E
	for _, e := range events {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

// waysToRead are the ways in which the same bytes may arrive.
var waysToRead = map[string]func(data []byte) io.Reader{
	"in memory":    func(data []byte) io.Reader { return bytes.NewReader(data) },
	"in one read":  func(data []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(data)} },
	"byte by byte": func(data []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(data)) },
	"in halves":    func(data []byte) io.Reader { return iotest.HalfReader(bytes.NewReader(data)) },
}
