// Package tooluse remembers what the tools of one run did, as far as a loop needs it that may make no progress, or whose
// agent may only read.
package tooluse

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Log is what the tools of a run did. It doesn't grow with the run.
type Log struct {
	calls  stream.Recent[call] // under way, by their id
	failed stream.Recent[int]  // how often in a row a call has failed, by its sum
	worst  call                // the one of them that failed most often, from MaxSame on
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

// call is a call of a tool.
type call struct {
	sum    string // of its name and input
	what   string // in a few words
	writes bool   // to the file that these name
	begun  time.Time
}

const (
	// MaxSame is how often the same call may fail in a run until the next one is told.
	MaxSame = 20
	// maxWrote is how many files of a run are looked at.
	maxWrote = 16
	// maxWork is how many calls of a run are told apart by their time; the time of the last one stands for all that
	// follow.
	maxWork = 2000
	// A call that says that it waits, and takes as long as minWait, does; and one that
	// works for as long as LongWork does so for a reason.
	minWait  = time.Minute
	LongWork = 10 * time.Minute
)

// waiting matches commands that only wait.
var waiting = lazy.Regexp(`(?i)\b(sleep|wait|watch)\b`)

var seed = maphash.MakeSeed()

// Follow takes note of what an agent does.
func (l *Log) Follow(e stream.Event, now time.Time) {
	switch e := e.(type) {
	case stream.ToolCall:
		l.Begin(e, now)
	case stream.ToolResult:
		l.End(e, now)
	}
}

// Begin takes note of a call.
func (l *Log) Begin(c stream.ToolCall, now time.Time) {
	var sum maphash.Hash
	sum.SetSeed(seed)
	sum.WriteString(c.Name)
	sum.Write(c.Input)
	if len(l.Work) < maxWork {
		l.Work = append(l.Work, Work{c.Name, c.ID, now, time.Time{}})
	} else {
		l.Work[maxWork-1] = Work{from: l.Work[maxWork-1].from}
	}
	l.calls.Put(c.ID, call{strconv.FormatUint(sum.Sum64(), 36), c.Detail(), c.Writes(), now})
}

// End takes note of what a call came to.
func (l *Log) End(result stream.ToolResult, now time.Time) {
	for i := range l.Work {
		if w := &l.Work[i]; w.id == result.ID && w.id != "" && w.to.IsZero() {
			w.to = now
		}
	}
	it, ok := l.calls.Get(result.ID)
	if !ok {
		return
	}
	l.calls.Drop(result.ID)
	took := now.Sub(it.begun)
	l.Waited = l.Waited || took >= LongWork && !result.IsError || took >= minWait && waiting().MatchString(it.what)
	if !result.IsError {
		l.failed.Drop(it.sum)
		if l.worst.sum == it.sum {
			l.worst, l.times = call{}, 0
		}
		if it.writes && len(l.Wrote) < maxWrote {
			l.Wrote = append(l.Wrote, it.what)
		}
		return
	}
	n, _ := l.failed.Get(it.sum)
	n++
	l.failed.Put(it.sum, n)
	if n > max(MaxSame, l.times) {
		l.worst, l.times = it, n
	}
}

// IsOpen says whether a tool is at work.
func (l *Log) IsOpen() bool { return l.calls.Len() > 0 }

// MayBe says whether a tool may be at work: one is, or the agent has told of none so far, as agents that print text
// do. A process that an agent left running isn't one.
func (l *Log) MayBe() bool { return l.IsOpen() || len(l.Work) == 0 }

// Repeated is the call that failed again and again, in words; "" for none.
func (l *Log) Repeated() string {
	if l.times == 0 {
		return ""
	}
	return fmt.Sprintf("`%s` failed %d times", stream.Line(l.worst.what, 300), l.times)
}

// ReportSlack is how much sooner than we hear of it a tool may begin.
const ReportSlack = time.Second

// Spans says whether the tool was at work at a time.
func (w Work) Spans(at time.Time) bool {
	return !at.Before(w.from.Add(-ReportSlack)) && (w.to.IsZero() || !at.After(w.to))
}
