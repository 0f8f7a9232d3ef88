package desk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph-lsp/fleet"
	"ralph-lsp/internal/tell"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// rankOf says how much a loop needs its user: the lower, the more.
func rankOf(r fleet.Record, asks bool) int {
	switch {
	case asks:
		return 0
	case r.Phase == fleet.Ended && failed(r):
		return 1
	case r.Phase == fleet.Running:
		return 2
	case r.Phase == fleet.Paused:
		return 3
	case r.Phase == fleet.Queued:
		return 4
	}
	return 5
}

func asksSomething(status []byte) bool { return bytes.Contains(status, []byte(`"questions":[{`)) }

func failed(r fleet.Record) bool {
	return loop.StopReason(r.StopReason).Ending().Class == loop.ClassError
}

// works are what can be done with a loop of a fleet, of what can be done with any.
var works = []string{wire.CanAnswer, wire.CanCancel, wire.CanPause, wire.CanResume, wire.CanNext, wire.CanSteer, wire.CanUpdate}

// statusOf is a loop as the editor is told of it: as its iteration says itself, or else as
// the record does.
func (d *Desk) statusOf(r fleet.Record, s fleet.Shown, away bool) wire.LoopStatus {
	folder := wire.FileURI(d.folder(r.ID))
	var l wire.LoopStatus
	if !r.IsNow(s) || json.Unmarshal(s.Status, &l) != nil {
		l = wire.StatusOf(d.stateOf(r), false)
		l.Line, _ = strings.CutSuffix(l.Line, " · in another process")
		if text := sentence(r); text != "" {
			l.Text = wire.JoinFacts(tell.OfMax(max(r.Iterations, 1), l.MaxIterations), text)
			if r.Phase == fleet.Ended {
				l.Text = text
			}
			l.Line = l.Text
		}
		l.Busy = r.Phase == fleet.Running
	}
	l.LoopID, l.Folder, l.Title, l.Host = r.ID, folder, stream.Plain(r.Name), r.Worker
	if l.Host == "" {
		l.Host = wire.HostFleet
	}
	l.Owned, l.Worktree, l.StateFileURI, l.SessionFileURI, l.Question = false, nil, "", "", ""
	for i, q := range l.Questions {
		l.Questions[i] = questionOf(q, r.ID, folder)
	}
	for i, a := range l.Allowed {
		back := wire.ChangeParams{LoopParams: wire.LoopParams{LoopID: r.ID, Folder: folder}, Disallow: []string{a.Rule}}
		l.Allowed[i].Offers = []wire.Command{{Title: "Take Back", Command: wire.CommandUpdate, Arguments: []any{back}}}
	}
	l.Offers = slices.DeleteFunc(l.Offers, func(c wire.Command) bool { return c.Command != wire.CommandResume || !r.CanGoOn() })
	l.Can = slices.DeleteFunc(l.Can, func(can string) bool {
		return !slices.Contains(works, can) || can == wire.CanResume && r.Phase == fleet.Ended && !r.CanGoOn()
	})
	if l.Can == nil {
		l.Can = []string{}
	}
	switch {
	case r.Phase == fleet.Ended && r.Committed > 0:
		l.Offers = append(l.Offers, wire.Command{Title: "Fetch Its Branch", Command: wire.CommandFetch, Arguments: []any{wire.LoopParams{LoopID: r.ID, Folder: folder}}})
	case r.Wish == fleet.WishCancel:
		l.State, l.Text, l.Line, l.Can = string(loop.StateCancelling), "stopping on "+l.Host, "stopping on "+l.Host, []string{}
	case r.Wish == fleet.WishPause && !l.Pausing:
		l.Pausing = true
		l.Text, l.Line = wire.JoinFacts(l.Text, "pausing"), wire.JoinFacts(l.Line, "pausing")
		if i := slices.Index(l.Can, wire.CanPause); i >= 0 {
			l.Can[i] = wire.CanResume
		}
	}
	if away && r.Phase != fleet.Ended {
		l.Text, l.Line = wire.JoinFacts(l.Text, "the bus is away"), wire.JoinFacts(l.Line, "the bus is away")
	}
	return l
}

// questionOf is a question as one of the loop on the bus, not of the checkout that it runs in.
func questionOf(q wire.Question, id, folder string) wire.Question {
	q.LoopID, q.Folder = id, folder
	for i, o := range q.Offers {
		var p wire.AnswerParams
		if len(o.Arguments) > 0 {
			data, _ := json.Marshal(o.Arguments[0]) // it was JSON
			json.Unmarshal(data, &p)
		}
		p.LoopParams = wire.LoopParams{LoopID: id, Folder: folder}
		q.Offers[i].Arguments = []any{p}
	}
	return q
}

// stateOf is what a record says of its loop.
func (d *Desk) stateOf(r fleet.Record) loop.Status {
	s := loop.Status{
		LoopID: r.ID, Folder: d.folder(r.ID), State: loop.StateStarting, Iteration: r.Iterations, Limits: r.Limits(), StartedAt: r.At,
		CostIncomplete: r.CostOpen, StopReason: loop.StopReason(r.StopReason),
	}
	if r.CostUSD > 0 || r.Iterations > 0 && !r.CostOpen {
		s.Cost = stream.USD(r.CostUSD)
	}
	switch r.Phase {
	case fleet.Running:
		s.State, s.Iteration = loop.StateRunning, r.Iterations+1
	case fleet.Paused:
		s.State = loop.StatePaused
	case fleet.Queued:
		if r.ResumeAt.After(time.Now()) {
			s.State, s.Retry = loop.StateWaiting, &loop.RetryStatus{ResumeAt: r.ResumeAt, Reason: r.Reason}
		}
	case fleet.Ended:
		s.State, s.EndedAt = loop.StateEnded, r.UpdatedAt
		if failed(r) {
			s.State, s.Error = loop.StateFailed, r.Text
		}
	}
	return s
}

// sentence says in one line how a loop stands that no iteration speaks of; "" says what
// any loop would say.
func sentence(r fleet.Record) string {
	why := ""
	if r.Reason != "" {
		why = ": " + stream.Line(r.Reason, 200)
	}
	switch {
	case r.Phase == fleet.Running:
		return "on " + r.Worker
	case r.Phase == fleet.Queued && r.ResumeAt.After(time.Now()):
		return "waits until " + r.ResumeAt.Local().Format(time.TimeOnly) + why
	case r.Phase == fleet.Queued:
		return "waits for a worker" + why
	case r.Phase == fleet.Ended && r.Text != "" && r.StopReason != string(loop.StopCancelled): // its worker was interrupted
		return stream.Line(r.Text, 200)
	}
	return ""
}

// textOf says what the list lacks, and that the bus is away.
func textOf(left map[string]int, name string, why error, since time.Time) string {
	var parts []string
	if why != nil {
		parts = append(parts, fmt.Sprintf("the bus %s can't be reached since %s: %s", name, since.Local().Format("15:04"), stream.Line(why.Error(), 200)))
	}
	var counts []string
	sum := 0
	for _, phase := range []fleet.Phase{fleet.Running, fleet.Paused, fleet.Queued, fleet.Ended} {
		if n := left[string(phase)]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, phase))
			sum += n
		}
	}
	if sum > 0 {
		parts = append(parts, fmt.Sprintf("%s more on the bus: %s (ralph-fleet status)", tell.Counted(sum, "loop"), strings.Join(counts, ", ")))
	}
	return strings.Join(parts, "; ")
}
