package client

import (
	"bufio"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/everyfield"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// How a loop stands, and how it ended, arrives whole.
func TestFramesArriveWhole(t *testing.T) {
	var status loop.Status
	var end loop.End
	for _, fault := range append(everyfield.Fill(&status), everyfield.Fill(&end)...) {
		t.Error(fault)
	}
	status.Last = nil // of a loop that has ended before, which nobody drives
	end.Status = status
	window, keeper := net.Pipe()
	c := newConnection(window, nil)
	go c.listen(bufio.NewReader(window))
	say := func(f Frame) {
		data, err := json.Marshal(f)
		if err == nil {
			_, err = keeper.Write(append(data, '\n'))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	say(Frame{Kind: "of a later version"})
	say(Frame{Kind: Over, End: &end, Status: &end.Status, Unanswered: end.Unanswered})
	<-c.Over()
	got, err := c.End()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(end, got); diff != "" {
		t.Error(diff)
	}
}

// What a killed keeper couldn't tell is read in the journal, a page when the one before was shown.
func TestTheRestIsReadAsItIsShown(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	r := journal.NewRecorder(nobody{})
	log := r.Open("ralph-rest", true)
	want := strings.Repeat("all that it said ", 200_000)
	r.Handle(stream.Text{MessageID: "m", Delta: want})
	log.Close()
	window, keeper := net.Pipe()
	c := newConnection(window, nil)
	c.loopID = "ralph-rest"
	go c.listen(bufio.NewReader(window))
	keeper.Close()
	var got strings.Builder
	for isOver := false; !isOver; {
		select {
		case <-c.News():
		case <-c.Over():
			isOver = true
		}
		page, _ := c.Next(true)
		size := 0
		for _, it := range page.Items {
			var u struct{ Content wire.TextContent }
			if err := json.Unmarshal(it.JSON, &u); err != nil {
				t.Fatal(err)
			}
			got.WriteString(u.Content.Text)
			size += len(it.JSON)
		}
		if size > maxReady+maxReady/4 {
			t.Errorf("%d bytes waited at once", size)
		}
	}
	if got.String() != want {
		t.Errorf("%d bytes were read of %d", got.Len(), len(want))
	}
}

// nobody hears what a loop tells.
type nobody struct{}

func (nobody) Handle(stream.Event)   {}
func (nobody) HandleLoop(loop.Event) {}
