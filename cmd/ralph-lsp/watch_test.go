package main

import (
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// A loop removes its state file a moment before it has written how it ended, and lets go of the folder behind that.
// Who begins to watch in between waits for the end.
func TestALoopThatIsEndingIsDriven(t *testing.T) {
	dir := t.TempDir()
	file, err := loopstate.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := file.Lock(loopstate.Owner{LoopID: "ralph-ending"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	for id, want := range map[string]bool{"ralph-ending": true, "ralph-other": false} {
		if w := (watcher{dir: dir, loopID: id}); w.isDriven() != want {
			t.Errorf("%s is driven: %t", id, !want)
		}
	}
}
