package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// These functions are about a folder's loop, in any process. Functions with a loop's id do nothing to another loop
// that is in the folder by now, and return ErrNotRunning; "" is any loop.

// StateIn reads a folder's state file, or what is kept of the loop that ended there and can
// go on. Without one it is ErrNothingToGoOn.
func StateIn(folder string) (path string, s loopstate.State, err error) {
	file, err := loopstate.Open(folder)
	if err != nil {
		return "", s, err
	}
	s, err = file.Load()
	if errors.Is(err, fs.ErrNotExist) {
		if _, s, err = KeptIn(folder); err != nil {
			err = ErrNothingToGoOn
		}
	}
	return file.Path(), s, err
}

// FolderStatus tells how a folder's loop stands, or how one ended there that can go on. The driver is known even
// where the file can't be read. A folder without a loop gives fs.ErrNotExist.
func FolderStatus(folder string) (Status, error) {
	return FolderStatusWith(folder, func() registry.Entry {
		e, _ := registry.Last(paths.Real(folder))
		return e
	})
}

// FolderStatusWith is FolderStatus where somebody has looked at the registry already: last is what that has of the loop
// that was driven last in the folder, the zero value of none. It is asked only where a loop is over.
func FolderStatusWith(folder string, last func() registry.Entry) (Status, error) {
	file, err := loopstate.Open(folder)
	if err != nil {
		return Status{}, err
	}
	owner, owned, err := file.Owner()
	if err != nil {
		return Status{}, err
	}
	state, err := file.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist) && !owned:
		return endedStatus(last(), folder, file.Path())
	case err != nil && owned:
		return Status{Owner: &owner}, err
	case err != nil:
		return Status{}, err
	}
	status := StatusOf(state, file.Path(), folder, owned)
	if status.Worktree = TreeOf(folder); status.State.Over() {
		if end, ok := EndOf(last()); ok && end.Status.LoopID == status.LoopID {
			status.Last = &end
		}
	}
	if owned {
		status.show(owner)
	} else {
		status.LeftRunning = owner.LeftRunning()
		if status.State == StateInterrupted {
			status.Error = trouble(owner, status.Last)
		}
	}
	return status, nil
}

// trouble says what went wrong as a loop was interrupted, "" where nothing is known of that.
func trouble(dead loopstate.Owner, last *End) string {
	if dead.Hung == "" && last != nil {
		return last.Problem()
	}
	return OneLine(dead.Hung)
}

// InTheWay says why no new loop can start in a folder: an *AlreadyRunningError, an
// *InterruptedError, or that the state file can't be read. Nothing is locked or changed.
func InTheWay(folder string) error {
	file, err := loopstate.Open(folder)
	if err != nil {
		return err
	}
	if owner, owned, err := file.Owner(); owned || err != nil {
		return cmp.Or(err, error(&AlreadyRunningError{Folder: folder, Owner: owner}))
	}
	state, err := file.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return &InterruptedError{Path: file.Path(), State: state}
}

// Needs says whether a loop is one that somebody drives in a folder, or that its state file there
// goes on with. One that can't be told is.
func Needs(folder, loopID string) bool {
	file, err := loopstate.Open(folder)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	owner, owned, err := file.Owner()
	if err != nil || owned && (owner.LoopID == loopID || owner.LoopID == "") {
		return true
	}
	s, err := file.Load()
	return err == nil && s.LoopID == loopID || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// StatusOf is what a state file tells of its loop.
func StatusOf(s loopstate.State, path, folder string, owned bool) Status {
	status := Status{
		Usage: Usage{Cost: s.Cost, Tokens: s.Tokens, UnknownCosts: s.UnknownCosts, Spent: s.Elapsed, Elapsed: s.Elapsed,
			Hats: s.HatCosts.WithRuns(s.Queue.Runs)},
		Plan: s.Values.Plan, Tasks: s.Tasks,
		Cause: Cause(Facts{Promise: s.CompletionPromise(), Tasks: s.Tasks, Account: s.Account, Refuted: s.InARow.Refuted,
			Refutation: s.Refutation}),
		LoopID: s.LoopID, Folder: folder, State: StateRunning, Iteration: s.Iteration, Limits: s.Limits(),
		Promise: s.CompletionPromise(), Title: history.Title(s.Prompt), Hat: HatOf(s), Times: Times{StartedAt: s.StartedAt},
		Session: stream.SessionStart{Backend: s.Backend, Model: s.Model}, StateFile: path,
		SessionFile: s.SessionFile, Standing: s.Standing, Notes: s.Notes, Condition: Condition{Refuted: s.InARow.Refuted},
		NoProgress: s.InARow.NoProgress, Sandbox: SandboxOf(s),
	}
	if s.Checking { // the last one is to be verified
		status.Iteration = max(s.Iteration-1, 1)
	}
	reason := StopReason(s.StopReason)
	switch {
	case reason.Failed() && (!owned || !s.Active): // its owner is still there for a moment
		status.State, status.StopReason = StateFailed, reason
		status.Error, status.EndedAt = s.StopError, s.StoppedAt
	case !owned:
		status.State, status.StopReason = StateInterrupted, StopInterrupted
	case !s.Active && (!s.Checking || s.Unchecked != ""): // else it pauses after the check
		status.State, status.Unchecked, status.OverBudget = StatePaused, s.Unchecked, s.OverBudget
		if n := s.InARow.UnknownCosts; n > 0 && IsUnpriced(n, s.Limits()) {
			status.Unpriced = n
		}
	case s.ResumeAt.After(time.Now()):
		status.State = StateWaiting
		status.Retry = WaitOf(s)
	case s.Checking:
		status.Tool, status.Pausing = &ToolStatus{Call: CheckCall("")}, !s.Active
	}
	return status
}

// WaitOf is what a loop waits for according to its state file: its last run was
// of a kind that is counted.
func WaitOf(s loopstate.State) *RetryStatus {
	retry := &RetryStatus{ResumeAt: s.ResumeAt}
	switch row := s.InARow; {
	case row.RateLimits > 0:
		retry.Reason, retry.Attempt = WaitRateLimit, row.RateLimits
	case row.Overloads > 0:
		retry.Reason, retry.Attempt = WaitOverloaded, row.Overloads
	case row.Unreached > 0:
		retry.Reason, retry.Attempt = WaitNetwork, row.Unreached
	case row.Failures > 0:
		retry.Reason, retry.Attempt = WaitBackoff, row.Failures
	case row.ShortRuns > 1:
		retry.Reason, retry.Attempt = WaitPacing, row.ShortRuns-1
	}
	return retry
}

// CancelFolder ends the folder's loop. It returns the iteration the loop was
// at, once its owner has let go of the folder and so ended all its processes.
// A loop that nobody drives is discarded.
func CancelFolder(ctx context.Context, folder, loopID string) (iteration int, err error) {
	file, err := loopstate.Open(folder)
	if err != nil {
		return 0, err
	}
	owner, owned, err := file.Owner()
	if err != nil {
		return 0, err
	}
	if !owned {
		return discard(file, folder, loopID)
	}
	if err := caller.Self().May(caller.Cancel); err != nil {
		return 0, err
	}
	if loopID != "" && owner.LoopID != "" && loopID != owner.LoopID {
		return 0, ErrNotRunning
	}
	asked := false
	began := time.Now()
	for now := owner; owned && isSameLoop(owner, now); {
		if !asked { // one that begins doesn't listen yet
			var r Reply
			if asked, err = askOnce(ctx, now, Request{Do: caller.Cancel, LoopID: loopID}, &r); asked && errors.Join(err, r.Err()) != nil {
				return r.Iteration, errors.Join(err, r.Err())
			}
			if iteration = r.Iteration; !asked && ctx.Err() != nil {
				return 0, silent(now)
			}
			if !asked && (now.Deaf != "" || time.Since(began) > beginLimit) {
				return 0, unheard(now)
			}
		}
		select {
		case <-ctx.Done():
			return iteration, fmt.Errorf("waiting for the loop's owner to end it: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
		if now, owned, err = file.Owner(); err != nil {
			return iteration, err
		}
	}
	// An owner that was about to go, as its editor had, leaves the loop to be continued: it may have ignored the
	// request, or never have got it.
	if left, err := file.Load(); !owned && err == nil && left.LoopID == owner.LoopID {
		return discard(file, folder, left.LoopID)
	}
	return iteration, nil
}

// isSameLoop says whether a folder's owner drives the loop that it drove before.
// The id doesn't tell: a loop that is continued gets its old one back. An owner
// that can't be read is taken for the same one.
func isSameLoop(before, now loopstate.Owner) bool {
	return before.PID == 0 || now.PID == 0 || before.PID == now.PID && before.StartedAt.Equal(now.StartedAt)
}

// DiscardFolder removes a loop that nobody drives. It is ErrNotRunning when there is
// none: it is gone, or somebody goes on with it by now.
func DiscardFolder(folder, loopID string) error {
	file, err := loopstate.Open(folder)
	if err == nil {
		_, err = discard(file, folder, loopID)
	}
	if errors.As(err, new(*loopstate.LockedError)) {
		return ErrNotRunning
	}
	return err
}

// discard removes a loop that nobody drives, and what it may have left running.
// A file that can't be read stays for its user to look at.
func discard(file *loopstate.File, folder, loopID string) (iteration int, err error) {
	state, err := file.Load()
	if errors.Is(err, fs.ErrNotExist) {
		if _, _, err := KeptIn(folder); err != nil {
			return 0, ErrNotRunning
		}
	} else if err != nil {
		return 0, err
	}
	if err := caller.Self().May(caller.Cancel); err != nil {
		return 0, err
	}
	lock, err := file.Lock(loopstate.Owner{LoopID: state.LoopID})
	if err != nil {
		return state.Iteration, err
	}
	if state, err = file.Load(); errors.Is(err, fs.ErrNotExist) {
		iteration, err := giveUp(folder, loopID)
		return iteration, errors.Join(err, lock.Release())
	}
	if err == nil && loopID != "" && state.LoopID != loopID { // somebody was faster
		err = ErrNotRunning
	}
	if err != nil {
		return 0, errors.Join(err, lock.Release())
	}
	previous, _ := lock.Previous()
	if err := EndRemains(previous); err != nil {
		return state.Iteration, errors.Join(err, lock.Release())
	}
	_, _ = giveUp(folder, state.LoopID) // it isn't known how it ended, else
	return state.Iteration, errors.Join(file.Remove(), lock.Release())
}

// awaitStaying returns ErrNotRunning when no process drives the loop, once one that is
// about to leave it has left: it takes no word any more, and who resumes the loop has to
// continue it then. One that doesn't come to its end is not waited for long.
func awaitStaying(file *loopstate.File) (loopstate.Owner, error) {
	for deadline := time.Now().Add(backends.Grace + 5*time.Second); ; time.Sleep(10 * time.Millisecond) {
		owner, owned, err := file.Owner()
		switch {
		case err != nil:
			return owner, err
		case !owned:
			return owner, ErrNotRunning
		case !owner.Leaving:
			return owner, nil
		case time.Now().After(deadline):
			return owner, ErrNotRunning
		}
	}
}
