// Package deeds remembers what the tools of one run did, as far as a loop needs it that may turn in
// circles, or whose agent may only read.
package deeds

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Deeds are those of a run. Nothing in it grows with the run.
type Deeds struct {
	calls  stream.Recent[deed] // under way, by their id
	failed stream.Recent[int]  // how often in a row a call has failed, by deed.call
	stuck  deed                // the one of them that failed most often, from MaxSame on
	times  int
	Wrote  []string // files, at most maxWrote
	Waited bool     // for something, on purpose
	Work   []Work   // the calls, at most maxWork
}

// Work is when a tool was at work.
type Work struct {
	Tool     string
	id       string
	from, to time.Time // to is zero while it is
}

// deed is a call of a tool.
type deed struct {
	call   string // its name and input, summed up
	what   string // in a few words
	writes bool   // to the file that these name
	begun  time.Time
}

const (
	// MaxSame is how often the same call may fail in a run until the next one is told.
	MaxSame = 20
	// maxWrote is how many files of a run are looked at.
	maxWrote = 16
	// maxWork is how many calls of a run are told apart by their time; that of the last
	// one stands for all that follow.
	maxWork = 2000
	// A call that says that it waits, and takes as long as minWait, does; and one that
	// works for as long as LongWork does so for a reason.
	minWait  = time.Minute
	LongWork = 10 * time.Minute
)

// waiting matches commands that only wait.
var waiting = lazy.Regexp(`(?i)\b(sleep|wait|watch)\b`)

var deedSeed = maphash.MakeSeed()

// Follow takes note of what an agent does.
func (d *Deeds) Follow(e stream.Event, now time.Time) {
	switch e := e.(type) {
	case stream.ToolCall:
		d.Begin(e, now)
	case stream.ToolResult:
		d.End(e, now)
	}
}

// Begin takes note of a call.
func (d *Deeds) Begin(call stream.ToolCall, now time.Time) {
	var sum maphash.Hash
	sum.SetSeed(deedSeed)
	sum.WriteString(call.Name)
	sum.WriteByte(0)
	sum.Write(call.Input)
	if len(d.Work) < maxWork {
		d.Work = append(d.Work, Work{call.Name, call.ID, now, time.Time{}})
	} else {
		d.Work[maxWork-1] = Work{from: d.Work[maxWork-1].from}
	}
	d.calls.Put(call.ID, deed{strconv.FormatUint(sum.Sum64(), 36), call.Detail(), call.Writes(), now})
}

// End takes note of what a call came to.
func (d *Deeds) End(result stream.ToolResult, now time.Time) {
	for i := range d.Work {
		if w := &d.Work[i]; w.id == result.ID && w.id != "" && w.to.IsZero() {
			w.to = now
		}
	}
	it, ok := d.calls.Get(result.ID)
	if !ok {
		return
	}
	d.calls.Drop(result.ID)
	took := now.Sub(it.begun)
	d.Waited = d.Waited || took >= LongWork && !result.IsError || took >= minWait && waiting().MatchString(it.what)
	if !result.IsError {
		d.failed.Drop(it.call)
		if d.stuck.call == it.call {
			d.stuck, d.times = deed{}, 0
		}
		if it.writes && len(d.Wrote) < maxWrote {
			d.Wrote = append(d.Wrote, it.what)
		}
		return
	}
	n, _ := d.failed.Get(it.call)
	n++
	d.failed.Put(it.call, n)
	if n > max(MaxSame, d.times) {
		d.stuck, d.times = it, n
	}
}

// IsOpen says whether a tool is at work.
func (d *Deeds) IsOpen() bool { return d.calls.Len() > 0 }

// MayBe says whether a tool may be at work: one is, or the agent has told of none so far, as those that print text do.
// What an agent left running is none.
func (d *Deeds) MayBe() bool { return d.IsOpen() || len(d.Work) == 0 }

// StuckText says what was tried in vain again and again; "" for nothing.
func (d *Deeds) StuckText() string {
	if d.times == 0 {
		return ""
	}
	return fmt.Sprintf("`%s` failed %d times", stream.Line(d.stuck.what, 300), d.times)
}

// ReportSlack is how much sooner than we hear of it a tool may begin.
const ReportSlack = time.Second

// Spans says whether the tool was at work at a time.
func (w Work) Spans(at time.Time) bool {
	return !at.Before(w.from.Add(-ReportSlack)) && (w.to.IsZero() || !at.After(w.to))
}
