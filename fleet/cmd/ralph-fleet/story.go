package main

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// story shows what a loop does as ralph-lsp run does without a terminal.
type story struct {
	terminal.Style
	mu      *sync.Mutex // held where it is told something
	stood   string      // how the loop stood last
	ran     bool        // on a worker, then
	between *time.Timer // it waits since a moment ago, which isn't told yet
}

// newStory returns the story of a loop; name stands before each line, "" where it is the only loop.
func newStory(mu *sync.Mutex, out io.Writer, id, name, flags string) *story {
	if name != "" {
		out = labelled{out, name + " | "}
	}
	asks := "ralph-fleet answer " + id
	return &story{mu: mu, Style: terminal.New(terminal.Console, terminal.Config{Out: out, Notes: out, Asks: asks, Answer: asks + flags})}
}

// take shows an update. Only what is asked now can be answered. The loop's end is the record's to tell.
func (s *story) take(line []byte, isLive bool) error {
	switch u := wire.Decode(line).(type) {
	case nil, wire.End:
		return nil
	case wire.StateChange:
		if u.State.Over() {
			return nil
		}
	}
	s.Show(journal.Item{JSON: line, At: wire.StampOf(line).Time}, isLive)
	return nil
}

// labelled writes lines, each behind a label. It gets whole ones: others may write between them.
type labelled struct {
	out   io.Writer
	label string
}

func (l labelled) Write(lines []byte) (int, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		out.WriteString(l.label)
		out.Write(line)
	}
	_, err := l.out.Write(out.Bytes())
	return len(lines), err
}
