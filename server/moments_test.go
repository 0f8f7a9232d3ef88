package server

import (
	"testing"

	"ralph-lsp/loopstate"
	"ralph-lsp/wire"
)

// What is asked in the moments in which a loop begins and ends gets an answer that is
// true before or after them.

// A loop of ours has a file and an owner before anybody knows that they are ours.
func TestALoopThatBeginsIsNotAnothersForAMoment(t *testing.T) {
	dir := t.TempDir()
	m, _ := askedManager(t, dir)
	m.awaitLooks(t.Context())
	f := m.folders[dir]
	shown := func() []wire.LoopStatus {
		m.look(f)
		return m.snapshot()
	}
	begins := func(more int) {
		m.mu.Lock()
		f.starting += more
		m.mu.Unlock()
	}
	begins(1)
	file, err := loopstate.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := file.Lock(loopstate.Owner{LoopID: "ralph-1"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := file.Create(loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-1", Prompt: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := shown(); len(got) != 0 {
		t.Errorf("it is shown as %+v", got)
	}
	m.changeFolders(nil, []string{dir})
	m.changeFolders([]string{dir}, nil)
	if got := shown(); len(got) != 0 {
		t.Errorf("in a folder that was closed and opened it is shown as %+v", got)
	}
	begins(-1) // it could not be started: another process was faster
	if got := shown(); len(got) != 1 || got[0].Owned {
		t.Errorf("another's is shown as %+v", got)
	}
}

// An editor hears of a loop's end before the loop is out of its folder.
func TestALoopThatHasEndedIsPastAtOnce(t *testing.T) {
	dir := t.TempDir()
	m, _ := askedManager(t, dir)
	if _, err := m.start(t.Context(), wire.StartParams{Text: "x --completion-promise DONE", Choices: wire.Choices{Backend: agentThat(t, "insists")}}); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	f := m.folders[dir]
	r := f.running
	if r == nil {
		r = f.last
	}
	m.mu.Unlock()
	<-r.retired
	m.mu.Lock()
	f.running, f.last = r, nil // as a moment before
	m.mu.Unlock()
	past, err := m.history(t.Context(), wire.HistoryParams{})
	if err != nil || len(past.(wire.HistoryResult).Loops) != 1 {
		t.Errorf("past are %+v, %v", past, err)
	}
}
