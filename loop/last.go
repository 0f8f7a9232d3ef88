package loop

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// KeptIn is the loop that ended in a folder and can go on, with its state.
func KeptIn(folder string) (registry.Entry, loopstate.State, error) {
	e, _ := registry.Last(paths.Real(folder))
	s, err := stateOf(e)
	return e, s, err
}

// stateOf is the state with which a loop goes on that the registry knows.
func stateOf(e registry.Entry) (loopstate.State, error) {
	if e.End == nil || e.State == "" {
		return loopstate.State{}, fs.ErrNotExist
	}
	doc, err := loopstate.Parse([]byte(e.State))
	if err != nil { // somebody else has written it
		return loopstate.State{}, fs.ErrNotExist
	}
	return doc.State(), nil
}

// RecordOf is how a loop ended that the registry knows, without a status.
func RecordOf(e registry.Entry) (end End, ok bool) {
	older := struct { // of a version that counted nanoseconds
		*End
		Nanoseconds time.Duration `json:"duration"`
	}{End: &end}
	ok = e.End != nil && json.Unmarshal(e.End, &older) == nil
	end.Duration = cmp.Or(end.Duration, stream.Duration(older.Nanoseconds))
	return end, ok
}

// EndOf is RecordOf, with the status that is known there.
func EndOf(e registry.Entry) (end End, ok bool) {
	s, err := stateOf(e)
	return endOf(e, s, err == nil)
}

// endOf is EndOf, with the state with which the loop goes on if it can.
func endOf(e registry.Entry, s loopstate.State, canGoOn bool) (end End, ok bool) {
	if end, ok = RecordOf(e); !ok {
		return end, false
	}
	end.Status = Status{
		LoopID: e.LoopID, Folder: e.Folder, State: StateEnded, Title: history.Title(e.Title), Plan: e.Plan,
		Ended:     Ended{StopReason: end.Reason, EndedAt: e.EndedAt, GivenUp: e.GivenUp || e.State == ""},
		Iteration: end.Iterations, Times: Times{StartedAt: e.StartedAt}, SessionFile: e.SessionFile,
	}
	if canGoOn {
		end.stand(s)
	}
	end.Status.Worktree = TreeOf(e.Folder)
	return end, true
}

// stand says how a loop stood when it ended with which one can go on.
func (e *End) stand(s loopstate.State) {
	was := e.Status
	e.Status = StatusOf(s, "", was.Folder, false)
	e.Status.State, e.Status.StopReason, e.Status.Iteration, e.Status.EndedAt = was.State, was.StopReason, max(was.Iteration, 1), was.EndedAt
	e.Status.GivenUp = was.GivenUp
}

// LastIn is how the loop ended that was driven last in a folder.
func LastIn(folder string) (End, bool) {
	if e, ok := registry.Last(paths.Real(folder)); ok {
		return EndOf(e)
	}
	return End{}, false
}

// endOfLast is how the loop ended that was driven last in a folder, with how it stands if it can go on.
func endOfLast(folder, loopID string) (end End, ok bool) {
	if s, err := FolderStatus(folder); err == nil && s.Owner == nil && s.LoopID == loopID && s.Last != nil {
		end, end.Status = *s.Last, s
		return end, true
	}
	end, ok = LastIn(folder)
	return end, ok && end.Status.LoopID == loopID
}

// endedStatus tells how the loop stands that ended in a folder and can go on.
func endedStatus(e registry.Entry, folder, path string) (Status, error) {
	s, err := stateOf(e)
	if err != nil {
		return Status{}, err
	}
	end, _ := endOf(e, s, true)
	status := end.Status
	status.Folder, status.StateFile, status.Error, status.Last = folder, path, end.Problem(), &end
	return status, nil
}

// giveUp discards the loop that ended in a folder. The caller has its lock.
func giveUp(folder, loopID string) (iteration int, err error) {
	e, ok := registry.Last(paths.Real(folder))
	if !ok || e.End == nil || e.GivenUp || loopID != "" && e.LoopID != loopID {
		return 0, ErrNotRunning
	}
	return e.Iteration, registry.GiveUp(e)
}

// ErrText is what an error says, "" for none.
func ErrText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
