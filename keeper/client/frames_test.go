package client

import (
	"bufio"
	"encoding/json"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/everyfield"
	"github.com/ralph-lsp/ralph-lsp/loop"
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
	end.Tree = "" // for a program that holds the loop, which has no window
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
