package turns

import (
	"context"
	"testing"
)

func TestTurns(t *testing.T) {
	free := func(turn *Turn) bool {
		ended, end := context.WithCancel(context.Background())
		end()
		return turn.Await(ended) == nil
	}
	var order Turns
	first := order.Take("/a", true)
	cancel := order.Take("/a", false)
	second, elsewhere := order.Take("/a", true), order.Take("/b", true)
	anywhere := order.Take("", true)
	if !free(first) || free(cancel) || free(second) || !free(elsewhere) || free(anywhere) {
		t.Error("only those without another before them are free")
	}
	first.End()
	first.End()
	if !free(cancel) || !free(second) || free(anywhere) {
		t.Error("the first is done")
	}
	second.End()
	elsewhere.End()
	if !free(anywhere) || len(order.open) != 1 {
		t.Error("all before the last are done")
	}
	var none *Turn
	none.End()
	if !free(none) {
		t.Error("who has no turn waits for nobody")
	}
}
