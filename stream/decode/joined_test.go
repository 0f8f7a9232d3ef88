package decode

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// merge joins all neighbouring deltas of a message, however long they get.
func merge(events []stream.Event) (merged []stream.Event) {
	for _, e := range events {
		if n := len(merged); n > 0 {
			switch last := merged[n-1].(type) {
			case stream.Text:
				if e, ok := e.(stream.Text); ok && last.MessageID == e.MessageID && last.ParentToolCallID == e.ParentToolCallID {
					last.Delta += e.Delta
					merged[n-1] = last
					continue
				}
			case stream.Thinking:
				if e, ok := e.(stream.Thinking); ok && last.MessageID == e.MessageID && last.ParentToolCallID == e.ParentToolCallID {
					last.Delta += e.Delta
					merged[n-1] = last
					continue
				}
			}
		}
		merged = append(merged, e)
	}
	return merged
}

// joinAll returns the events of a run's output, joined.
func joinAll(t *testing.T, f Format, r io.Reader) []stream.Event {
	t.Helper()
	var c collector
	if _, err := (Reader{Format: f, Handler: &c, Join: true}).Run(r); err != nil {
		t.Fatal(err)
	}
	return c.events
}

func TestJoinedDeltasSayTheSame(t *testing.T) {
	for _, rec := range allRecordings(t) {
		data := rec.bytes(t)
		if len(data) > 50_000 {
			continue // the others are long enough
		}
		all := decodeAll(t, rec.format, bytes.NewReader(data))
		want := eventLines(t, merge(all))
		for way, reader := range waysToRead {
			joined := joinAll(t, rec.format, reader(data))
			if got := eventLines(t, merge(joined)); got != want {
				t.Errorf("%s %s: %s", rec.name, way, firstDifference(got, want))
			}
			if len(joined) > len(all) {
				t.Errorf("%s %s: %d events of %d", rec.name, way, len(joined), len(all))
			}
		}
	}
}

func TestWhatIsJoined(t *testing.T) {
	long := strings.Repeat("x", maxJoined)
	for _, tt := range []struct {
		name     string
		in, want []stream.Event
	}{
		{"one", []stream.Event{stream.Text{Delta: "a", MessageID: "m"}}, []stream.Event{stream.Text{Delta: "a", MessageID: "m"}}},
		{"text", []stream.Event{stream.Text{Delta: "a"}, stream.Text{Delta: "b"}, stream.Text{Delta: "c"}}, []stream.Event{stream.Text{Delta: "abc"}}},
		{"thinking", []stream.Event{stream.Thinking{Delta: "a", MessageID: "m", ParentToolCallID: "p"}, stream.Thinking{Delta: "b", MessageID: "m", ParentToolCallID: "p"}},
			[]stream.Event{stream.Thinking{Delta: "ab", MessageID: "m", ParentToolCallID: "p"}}},
		{"not both", []stream.Event{stream.Text{Delta: "a"}, stream.Thinking{Delta: "b"}, stream.Text{Delta: "c"}}, []stream.Event{stream.Text{Delta: "a"}, stream.Thinking{Delta: "b"}, stream.Text{Delta: "c"}}},
		{"of one message", []stream.Event{stream.Text{Delta: "a", MessageID: "m"}, stream.Text{Delta: "b", MessageID: "n"}}, []stream.Event{stream.Text{Delta: "a", MessageID: "m"}, stream.Text{Delta: "b", MessageID: "n"}}},
		{"of one thought", []stream.Event{stream.Thinking{Delta: "a", MessageID: "m"}, stream.Thinking{Delta: "b", MessageID: "n"}}, []stream.Event{stream.Thinking{Delta: "a", MessageID: "m"}, stream.Thinking{Delta: "b", MessageID: "n"}}},
		{"of one speaker", []stream.Event{stream.Text{Delta: "a"}, stream.Text{Delta: "b", ParentToolCallID: "p"}}, []stream.Event{stream.Text{Delta: "a"}, stream.Text{Delta: "b", ParentToolCallID: "p"}}},
		{"of one thinker", []stream.Event{stream.Thinking{Delta: "a"}, stream.Thinking{Delta: "b", ParentToolCallID: "p"}}, []stream.Event{stream.Thinking{Delta: "a"}, stream.Thinking{Delta: "b", ParentToolCallID: "p"}}},
		{"around an event", []stream.Event{stream.Text{Delta: "a"}, stream.Text{Delta: "b"}, stream.TurnEnd{}, stream.Text{Delta: "c"}}, []stream.Event{stream.Text{Delta: "ab"}, stream.TurnEnd{}, stream.Text{Delta: "c"}}},
		{"up to the limit", []stream.Event{stream.Text{Delta: long[1:]}, stream.Text{Delta: "a"}, stream.Text{Delta: "b"}}, []stream.Event{stream.Text{Delta: long[1:] + "a"}, stream.Text{Delta: "b"}}},
		{"what is long alone", []stream.Event{stream.Text{Delta: "a"}, stream.Text{Delta: long + "b"}, stream.Text{Delta: "c"}}, []stream.Event{stream.Text{Delta: "a"}, stream.Text{Delta: long + "b"}, stream.Text{Delta: "c"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c collector
			run := readerRun{Reader: Reader{Handler: &c, Join: true}}
			for _, e := range tt.in {
				run.emit(e)
			}
			run.handOn()
			if !reflect.DeepEqual(c.events, tt.want) {
				t.Errorf("got %.200v, want %.200v", c.events, tt.want)
			}
			run.handOn() // what was handed on is gone
			if len(c.events) != len(tt.want) {
				t.Error("the last event came twice")
			}
		})
	}
}

// TestNothingWaitsForWhatComesNext reads line by line: all that was read must
// have been handed on before there is another read.
func TestNothingWaitsForWhatComesNext(t *testing.T) {
	shown := ""
	show := stream.HandlerFunc(func(e stream.Event) {
		if e, ok := e.(stream.Text); ok {
			shown += e.Delta
		}
	})
	want := ""
	var parts []io.Reader
	for _, word := range []string{"one ", "two ", "three "} {
		parts = append(parts, strings.NewReader(piDelta("text_delta", word)+"\n"), checkRead(func() {
			want += word
			if shown != want {
				t.Errorf("%q was shown of %q", shown, want)
			}
		}))
	}
	if _, err := (Reader{Format: FormatPi, Handler: show, Join: true}).Run(io.MultiReader(parts...)); err != nil {
		t.Fatal(err)
	}
	if want == "" {
		t.Error("nothing was read")
	}
}

// checkRead is an empty reader that calls itself when it is read.
type checkRead func()

func (c checkRead) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

// BenchmarkRead is a run of 100,000 deltas, in pieces as a pipe brings them.
func BenchmarkRead(b *testing.B) {
	data := bytes.Repeat([]byte(piDelta("text_delta", "some words ")+"\n"), 100_000)
	for name, join := range map[string]bool{"each": false, "joined": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				rd := Reader{Format: FormatPi, Handler: stream.HandlerFunc(func(stream.Event) {}), Join: join}
				if _, err := rd.Run(struct{ io.Reader }{bytes.NewReader(data)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
