package loop

import (
	"io/fs"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/registry"
)

// keptIn is the loop that ended in a folder and can go on, with its state.
func KeptIn(folder string) (registry.Entry, loopstate.State, error) {
	e, ok := registry.Last(paths.Real(folder))
	if !ok || e.End == nil || e.State == "" {
		return e, loopstate.State{}, fs.ErrNotExist
	}
	doc, err := loopstate.Parse([]byte(e.State))
	if err != nil { // somebody else has written it
		return e, loopstate.State{}, fs.ErrNotExist
	}
	return e, doc.State(), nil
}

// EndOf is how a loop ended that the registry knows. It has no status but what is known there.
func EndOf(e registry.Entry) (end End, ok bool) {
	if e.End == nil {
		return end, false
	}
	end = EndOfRecord(*e.End)
	end.Status = Status{
		LoopID: e.LoopID, Folder: e.Folder, Worktree: TreeOf(e.Folder), State: StateEnded, StopReason: end.Reason, Title: history.Title(e.Title),
		Iteration: end.Iterations, StartedAt: e.StartedAt, EndedAt: e.EndedAt, SessionFile: e.SessionFile, GivenUp: e.GivenUp || e.State == "",
	}
	return end, true
}

// LastIn is how the loop ended that was driven last in a folder.
func LastIn(folder string) (End, bool) {
	if e, ok := registry.Last(paths.Real(folder)); ok {
		return EndOf(e)
	}
	return End{}, false
}

// lastOf is how a loop that is over ended, nil where that isn't known.
func lastOf(folder, loopID string) *End {
	if end, ok := LastIn(folder); ok && end.Status.LoopID == loopID {
		return &end
	}
	return nil
}

// endedStatus tells how the loop stands that ended in a folder and can go on.
func endedStatus(folder, path string) (Status, error) {
	e, state, err := KeptIn(folder)
	if err != nil {
		return Status{}, err
	}
	end, _ := EndOf(e)
	status := StatusOf(state, path, folder, false)
	status.State, status.StopReason, status.EndedAt, status.Error = StateEnded, end.Reason, e.EndedAt, end.Problem()
	status.Iteration, status.Worktree, status.Last = max(end.Iterations, 1), end.Status.Worktree, &end
	return status, nil
}

// giveUp discards the loop that ended in a folder. The caller has its lock.
func giveUp(folder, loopID string) (iteration int, err error) {
	e, ok := registry.Last(paths.Real(folder))
	if !ok || e.End == nil || e.GivenUp || loopID != "" && e.LoopID != loopID {
		return 0, ErrNotRunning
	}
	return e.End.Iterations, registry.GiveUp(e)
}
