package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Rank says how much a loop needs its user, with what its iteration shows: the lower, the more.
func (r Record) Rank(s Shown) int {
	switch {
	case r.IsNow(s) && bytes.Contains(s.Status, []byte(`"questions":[{`)):
		return 0
	case r.Phase == Ended && loop.StopReason(r.StopReason).Ending().Class == loop.ClassError:
		return 1
	case r.Phase == Running:
		return 2
	case r.Phase == Paused:
		return 3
	case r.Phase == Queued:
		return 4
	}
	return 5
}

// StatusOf is how a loop stands: what its iteration shows while that is of the present (see
// Shown), and else what the record knows. folder is what this machine has for the loop.
func StatusOf(r Record, s Shown, folder string, now time.Time) (l wire.LoopStatus) {
	isShown := r.IsNow(s) && json.Unmarshal(s.Status, &l) == nil
	if isShown {
		l = l.As(r.ID, folder)
	} else {
		l = r.known(folder, now)
	}
	l.Host, l.Title, l.Owned = cmp.Or(r.Worker, wire.HostFleet), r.Name, false
	switch {
	case r.Phase == Running && r.Wish == WishCancel:
		l.State, l.Text, l.Questions = string(loop.StateCancelling), r.Sentence(now), nil
		l.Line = l.Text
	case r.Phase == Running && r.Wish == WishPause:
		if l.Pausing = true; isShown {
			l.Text = wire.TextOf(l)
			l.Line = l.Text
		}
	}
	l.Can = slices.DeleteFunc(l.Can, func(what string) bool {
		switch what {
		case wire.CanCancel, wire.CanPause, wire.CanSteer, wire.CanUpdate:
			return r.Phase == Ended || r.Wish == WishCancel
		case wire.CanResume:
			return r.Phase == Ended && !r.CanGoOn()
		case wire.CanNext, wire.CanAnswer:
			return !isShown || r.Wish == WishCancel
		}
		return true
	})
	l.Offers = slices.DeleteFunc(l.Offers, func(c wire.Command) bool { return c.Command != wire.CommandResume || !r.CanGoOn() })
	return l
}

// known is the status as far as the record knows it.
func (r Record) known(folder string, now time.Time) wire.LoopStatus {
	l := wire.StatusOf(r.status(folder, now), false)
	l.Busy, l.Question, l.Tasks = false, "", r.Tasks
	l.Text = stream.Line(r.Sentence(now), maxSentence)
	l.Line = l.Text
	return l
}

func (r Record) status(folder string, now time.Time) loop.Status {
	bounds := r.Bounds()
	s := loop.Status{
		LoopID: r.ID, Folder: folder, State: r.state(now), Iteration: r.Iterations, Limits: bounds.Given.Over(limits.Default()),
		Title: r.Name, Times: loop.Times{StartedAt: r.At}, Ended: loop.Ended{StopReason: loop.StopReason(r.StopReason)},
		Usage: loop.Usage{UnknownCosts: map[bool]int{true: -1}[r.CostOpen]},
	}
	if bounds.Promise != nil {
		s.Promise = *bounds.Promise
	}
	if r.Cost() > 0 {
		s.Cost = stream.USD(r.Cost())
	}
	switch s.State {
	case loop.StateEnded, loop.StateFailed:
		s.EndedAt = r.UpdatedAt
	case loop.StateWaiting:
		s.Retry = &loop.RetryStatus{ResumeAt: r.ResumeAt, Reason: r.Reason}
	}
	if s.State == loop.StateFailed {
		s.Error = r.Text
	}
	return s
}

// maxSentence bounds how a loop stands in one line, in bytes.
const maxSentence = 500

// state is the state of a loop of which nothing is shown.
func (r Record) state(now time.Time) loop.State {
	switch r.Phase {
	case Paused:
		return loop.StatePaused
	case Ended:
		if r.StopReason == workerFailures || loop.StopReason(r.StopReason).Failed() {
			return loop.StateFailed
		}
		return loop.StateEnded
	case Queued:
		if r.Reason != "" || r.ResumeAt.After(now) {
			return loop.StateWaiting
		}
	}
	return loop.StateStarting
}

// Sentence says in one line how a loop stands.
func (r Record) Sentence(now time.Time) string {
	if r.Phase == Running || r.Phase == Ended { // its last words have that
		return r.sentence(now)
	}
	return wire.JoinFacts(r.sentence(now), wire.TasksText(r.Tasks))
}

func (r Record) sentence(now time.Time) string {
	why := r.Reason
	if why == "" && r.Phase == Queued {
		why = LaneOf(r).String()
	}
	if why != "" {
		why = ": " + why
	}
	switch {
	case r.Phase == Running && r.Wish == WishCancel:
		return "stopping on " + r.Worker
	case r.Phase == Running && r.Wish == WishPause:
		return "on " + r.Worker + ", pauses behind this iteration"
	case r.Phase == Running:
		return "on " + r.Worker
	case r.Phase == Paused:
		return "paused" + why
	case r.Phase == Queued && r.ResumeAt.After(now):
		return "waits until " + r.ResumeAt.Local().Format(time.TimeOnly) + why
	case r.Phase == Queued:
		return "waits for a worker" + why
	case r.StopReason == string(loop.StopCancelled): // its worker's last words are that it was interrupted
		return r.StopReason
	}
	return cmp.Or(r.Text, r.StopReason)
}

// Gather returns what the iterations of these loops show now. It waits until each is shown, or its worker has said
// that there is no more, and for one that says nothing no longer than that.
func Gather(ctx context.Context, bus Bus, records []Record, patience time.Duration) (map[string]Shown, error) {
	all, running := map[string]Shown{}, map[string]Record{}
	for _, r := range records {
		if r.Phase == Running {
			running[r.ID] = r
		}
	}
	if len(running) == 0 {
		return all, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	shown, err := bus.Shown(ctx)
	if err != nil {
		return nil, err
	}
	for len(running) > 0 {
		select {
		case s, ok := <-shown:
			if !ok {
				return all, nil
			}
			if r, wanted := running[s.ID]; wanted && r.IsNow(s) {
				all[s.ID] = s
				delete(running, s.ID)
			} else if s.ID == "" {
				maps.DeleteFunc(running, func(_ string, r Record) bool { return r.Worker == s.Worker })
			}
		case <-ctx.Done():
			return all, nil
		}
	}
	return all, nil
}
