package server

import (
	"errors"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// What is asked in the moments in which a loop begins and ends gets an answer that is
// true before or after them.

// A loop of ours has a file and an owner before anybody knows that they are ours.
func TestALoopThatBeginsIsNotAnothersForAMoment(t *testing.T) {
	dir := t.TempDir()
	m, _ := askedManager(t, dir)
	m.workspace.AwaitLooks(t.Context())
	f := m.workspace.Known(dir)
	shown := func() []wire.LoopStatus {
		f.Look()
		return m.workspace.Statuses()
	}
	must.OK(t, must.Err(m.workspace.Begin(dir)))
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	lock, err := file.Lock(loopstate.Owner{LoopID: "ralph-1"})
	must.OK(t, err)
	defer lock.Release()
	must.OK(t, file.Create(loopstate.State{Active: true, Iteration: 1, LoopID: "ralph-1", Prompt: "x"}))
	if got := shown(); len(got) != 0 {
		t.Errorf("it is shown as %+v", got)
	}
	m.workspace.ChangeFolders(nil, []string{dir})
	m.workspace.ChangeFolders([]string{dir}, nil)
	if got := shown(); len(got) != 0 {
		t.Errorf("in a folder that was closed and opened it is shown as %+v", got)
	}
	f.GaveUp()
	m.Work.Done() // it could not be started: another process was faster
	if got := shown(); len(got) != 1 || got[0].Owned {
		t.Errorf("another's is shown as %+v", got)
	}
}

// A command that names a loop and a folder means that loop there, and no other.
func TestALoopIsNamedByItsIdAndItsFolder(t *testing.T) {
	agent := agentThat(t, "never")
	one, other := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: agent}}), t.TempDir()
	m, _ := askedManager(t, one)
	m.workspace.ChangeFolders([]string{other}, nil)
	started, err := m.starter.start(t.Context(), wire.StartParams{Folder: wire.FileURI(other), Prompt: "x", Choices: wire.Choices{Backend: agent}})
	must.OK(t, err)
	for name, wrong := range map[string]wire.LoopParams{
		"one that is left, in another's folder": {LoopID: "ralph-found", Folder: wire.FileURI(other)},
		"one that runs, in another's folder":    {LoopID: started.(wire.StartResult).LoopID, Folder: wire.FileURI(one)},
		"none, in the folder of one that runs":  {LoopID: "ralph-x", Folder: wire.FileURI(other)},
		"none, in the folder of one that is":    {LoopID: "ralph-x", Folder: wire.FileURI(one)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := m.controls.Cancel(t.Context(), wire.CancelParams{LoopParams: wire.LoopParams(wrong)}); err != nil || got.State != wire.StateIdle {
				t.Errorf("cancel: %+v, %v", got, err)
			}
			for verb, do := range map[string]func() (any, error){
				"pause": func() (any, error) { return m.controls.Asks(service.Pause{})(t.Context(), wrong) },
				"resume": func() (any, error) {
					return m.controls.resume(t.Context(), wire.ResumeParams{LoopParams: wrong, Backend: agent, Trust: true})
				},
				"update": func() (any, error) { return m.controls.update(t.Context(), wire.ChangeParams{LoopParams: wrong}) },
				"steer": func() (any, error) {
					return m.controls.Steer(t.Context(), wire.SteerParams{LoopParams: wrong, Text: "y"})
				},
			} {
				if got, err := do(); err == nil {
					t.Errorf("%s: %+v", verb, got)
				}
			}
		})
	}
	loops := map[string]string{}
	for _, l := range m.workspace.Statuses() {
		loops[l.Folder] = l.State
	}
	if loops[wire.FileURI(one)] != "interrupted" || loop.State(loops[wire.FileURI(other)]).Over() {
		t.Errorf("they are %v", loops)
	}
}

// Who wants a loop to end behind its iteration doesn't want one discarded that has none.
func TestAnEndBehindAnIterationDiscardsNothing(t *testing.T) {
	dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: agentThat(t, "never")}})
	m, _ := askedManager(t, dir)
	got, err := m.controls.Cancel(t.Context(), wire.CancelParams{When: wire.WhenAfterIteration})
	if err != nil || got != service.NoLoop {
		t.Errorf("%+v, %v", got, err)
	}
	if now, err := loop.FolderStatus(dir); err != nil || now.State != loop.StateInterrupted {
		t.Errorf("it is %q, %v", now.State, err)
	}
}

// A word for a loop whose owner is about to leave it is answered when that has left: an
// editor that is opened again at once resumes a loop that the old one's sidecar still has.
func TestAnOwnerThatLeavesTakesNoWord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, _ := askedManager(t, dir)
	must.OK(t, must.Err(m.starter.start(t.Context(), wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agentThat(t, "deaf")}})))
	r := m.workspace.RunningAt(dir)
	proctest.Until(t, "that it ignores signals", func() bool { return r.Status().LastLine == "working" })
	file, err := loopstate.Open(dir)
	must.OK(t, err)
	go r.Interrupt()
	proctest.Until(t, "that the owner leaves", func() bool {
		owner, owned, err := file.Owner()
		if err != nil || !owned {
			t.Fatalf("nobody says that the owner leaves: %+v, %v, %v", owner, owned, err)
		}
		return owner.Leaving
	})
	err = loop.Other{Folder: dir}.Resume(loop.Patch{})
	if _, owned, _ := file.Owner(); owned || !errors.Is(err, loop.ErrNotRunning) {
		t.Errorf("it is driven: %v, and the answer is %v", owned, err)
	}
}
