package history

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

func TestWhatALoopHasCost(t *testing.T) {
	w, _, _ := newTestWriter(t)
	turn := func(usd float64) {
		w.Handle(stream.TurnEnd{Usage: stream.Usage{Cost: stream.USD(usd), Tokens: stream.Tokens{Input: 1}}})
	}
	w.HandleRecord(LoopStart{LoopID: "ralph-1"})
	w.HandleRecord(begins(1))
	turn(1)
	w.HandleRecord(ends(1, "ok", stream.USD(1.5))) // with what its tools spent
	turn(1.5)                                      // a reviewer's
	w.HandleRecord(begins(2))
	turn(2)
	turn(3) // and then it was killed
	w.HandleRecord(LoopStart{LoopID: "ralph-1", Continued: true})
	w.HandleRecord(begins(3))
	turn(4)
	path := closed(t, w)
	if got, err := CostOfLoop(path, "ralph-1"); err != nil || got != stream.USD(12) {
		t.Errorf("it cost %v, %v", got, err)
	}
	if got, err := CostOfLoop(path, "ralph-2"); err != nil || got.Known {
		t.Errorf("another one cost %v, %v", got, err)
	}
}
