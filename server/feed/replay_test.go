package feed

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ralph-lsp/internal/lsptest"
)

func TestReplay(t *testing.T) {
	var r replay
	for _, n := range []int{1, 3, 2} { // numbers 1, 2 to 4, 5 and 6
		var updates []json.RawMessage
		for i := range n {
			updates = append(updates, json.RawMessage(fmt.Sprint(int(r.last)+i+1)))
		}
		r.add(updates)
	}
	tests := []struct {
		after int64
		limit int
		want  string
		next  int64
	}{
		{0, 0, "[1,2,3,4,5,6]", 6},
		{0, 2, "[1,2]", 2},
		{2, 2, "[3,4]", 4},
		{3, 100, "[4,5,6]", 6},
		{6, 0, "[]", 6},
		{99, 0, "[]", 6},
		{-1, 1, "[1]", 1},
	}
	for _, tt := range tests {
		got := r.after(tt.after, tt.limit)
		if list := string(lsptest.JSON(got.Updates)); list != tt.want || got.NextSeq != tt.next || !got.Complete {
			t.Errorf("after %d, at most %d: %s next %d complete %v, want %s next %d", tt.after, tt.limit, list, got.NextSeq, got.Complete, tt.want, tt.next)
		}
	}
}

func TestReplayOfNothing(t *testing.T) {
	var r replay
	if got := string(lsptest.JSON(r.after(0, 0))); got != `{"updates":[],"nextSeq":0,"complete":true}` {
		t.Errorf("got %s", got)
	}
}

// A long loop: the oldest are forgotten, and whoever asks for them is told.
func TestReplayForgets(t *testing.T) {
	const batches, perBatch = 2000, 10
	var r replay
	update := json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
	for range batches {
		batch := make([]json.RawMessage, perBatch)
		for i := range batch {
			batch[i] = update
		}
		r.add(batch)
	}
	if r.size > maxReplay {
		t.Errorf("%d bytes are kept, want at most %d", r.size, maxReplay)
	}
	page := r.after(0, 0)
	if page.Complete {
		t.Error("what was forgotten counts as complete")
	}
	first := page.NextSeq - int64(len(page.Updates)) + 1
	if kept := batches*perBatch - first + 1; kept*int64(len(update)) < maxReplay*9/10 {
		t.Errorf("only %d updates are kept", kept)
	}
	if size := len(page.Updates) * len(update); size > MaxReplayPage {
		t.Errorf("a page of %d bytes", size)
	}
	for page.NextSeq < batches*perBatch { // paging on misses nothing
		next := r.after(page.NextSeq, 0)
		if !next.Complete || next.NextSeq != page.NextSeq+int64(len(next.Updates)) || len(next.Updates) == 0 {
			t.Fatalf("after %d: %d updates up to %d, complete %v", page.NextSeq, len(next.Updates), next.NextSeq, next.Complete)
		}
		page = next
	}
	if got := r.after(first-1, 1); !got.Complete {
		t.Error("the first that is kept counts as incomplete")
	}
}
