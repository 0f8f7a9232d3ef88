package loop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// EndRemains ends what a dead owner left running.
func EndRemains(dead loopstate.Owner) error {
	if dead.Lives() { // elsewhere: this folder is a copy
		return nil
	}
	var errs []error
	for _, r := range dead.Reapers {
		errs = append(errs, backends.Remains{Mark: r.Mark, Reaper: backends.Leftover{PID: r.PID, Start: r.ProcessStart}}.End())
	}
	for _, a := range dead.Agents {
		errs = append(errs, backends.Remains{Agents: []backends.Leftover{{PID: a.PID, Start: a.ProcessStart}}}.End())
	}
	return errors.Join(errs...)
}

// show adds to what a state file tells of a loop what its owner does right now. It returns early
// for a state in which no agent runs: what holds for a pause or a wait, too, stands before that.
func (s *Status) show(owner loopstate.Owner) {
	var now Status
	s.Owner = &owner
	if owner.Suspended() {
		s.Suspended = owner.PID
	}
	if json.Unmarshal(owner.Status, &now) != nil {
		// It only begins, or is of an earlier version, which had it in the lock's file: an agent may write what stands there.
		if owner.Control != "" {
			s.Cause = cmp.Or(s.Cause, fmt.Sprintf("it isn't known here what process %d does or asks, as it may be of an earlier version; "+
				"ralph-lsp watch shows it", owner.PID))
		}
		return
	}
	isAtWork := !owner.WorksAt.IsZero()
	s.Driven, s.Allowed, s.Questions, s.Deadline, s.Notes = now.Driven, now.Allowed, now.Questions, now.Deadline, now.Notes
	if s.State == StateRunning && slices.ContainsFunc(s.Questions, ask.Question.HoldsAgent) {
		s.State = StateWaiting
	}
	if s.State == StatePaused && s.Unchecked == "" && isAtWork { // once this iteration has ended
		s.State, s.Pausing = StateRunning, true
	}
	if s.State != StateRunning {
		return
	}
	if s.Agents = now.Agents; !isAtWork {
		return
	}
	s.IterationStartedAt = now.IterationStartedAt
	if s.Suspended == 0 { // what its file says is as old as its agent's last word
		s.Elapsed = max(s.Elapsed, now.Elapsed+time.Since(owner.WorksAt))
	}
	if s.Tool == nil {
		s.Tool = now.Tool
	}
}

// OwnerIn is who drives a folder's loop, or did last and was killed.
func OwnerIn(folder string) (owner loopstate.Owner, owned bool, err error) {
	file, err := loopstate.Open(folder)
	if err != nil {
		return owner, false, err
	}
	return file.Owner()
}

// SweepIn ends what the process of a loop left running in a folder that was killed, unless somebody drives
// the folder by now. The error says what can't be ended.
func SweepIn(folder, loopID string) error {
	owner, owned, err := OwnerIn(folder)
	if err != nil || owned || owner.LoopID != loopID {
		return err
	}
	return EndRemains(owner)
}

// IsLeftIn says whether a folder has the state file of a loop.
func IsLeftIn(folder, loopID string) bool {
	file, err := loopstate.Open(folder)
	if err != nil {
		return false
	}
	s, err := file.Load()
	return err == nil && s.LoopID == loopID
}
