package engine

import (
	"fmt"
	"hash/maphash"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// deeds are what the tools of one run did, as far as a loop needs it that may turn
// in circles. Nothing in it grows with the run.
type deeds struct {
	calls  stream.Recent[deed] // under way, by their id
	failed stream.Recent[int]  // how often in a row a call has failed, by deed.call
	stuck  deed                // the one of them that failed most often, from maxSame on
	times  int
	wrote  []string // files, at most maxWrote
	waited bool     // for something, on purpose
	work   []work   // the calls, at most maxWork
}

// work is when a tool was at work.
type work struct {
	id, tool string
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
	// maxSame is how often the same call may fail in a run until the next one is told.
	maxSame = 20
	// maxWrote is how many files of a run are looked at.
	maxWrote = 16
	// maxWork is how many calls of a run are told apart by their time; that of the last
	// one stands for all that follow.
	maxWork = 2000
	// A call that says that it waits, and takes as long as minWait, does; and one that
	// works for as long as longWork does so for a reason.
	minWait  = time.Minute
	longWork = 10 * time.Minute
)

// waiting matches commands that only wait.
var waiting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(sleep|wait|watch)\b`)
})

var deedSeed = maphash.MakeSeed()

// begin takes note of a call.
func (d *deeds) begin(call stream.ToolCall, now time.Time) {
	var sum maphash.Hash
	sum.SetSeed(deedSeed)
	sum.WriteString(call.Name)
	sum.WriteByte(0)
	sum.Write(call.Input)
	if len(d.work) < maxWork {
		d.work = append(d.work, work{call.ID, call.Name, now, time.Time{}})
	} else {
		d.work[maxWork-1] = work{from: d.work[maxWork-1].from}
	}
	d.calls.Put(call.ID, deed{strconv.FormatUint(sum.Sum64(), 36), call.Detail(), call.Writes(), now})
}

// end takes note of what a call came to.
func (d *deeds) end(result stream.ToolResult, now time.Time) {
	for i := range d.work {
		if w := &d.work[i]; w.id == result.ID && w.id != "" && w.to.IsZero() {
			w.to = now
		}
	}
	it, ok := d.calls.Get(result.ID)
	if !ok {
		return
	}
	d.calls.Drop(result.ID)
	took := now.Sub(it.begun)
	d.waited = d.waited || took >= longWork && !result.IsError || took >= minWait && waiting().MatchString(it.what)
	if !result.IsError {
		d.failed.Drop(it.call)
		if d.stuck.call == it.call {
			d.stuck, d.times = deed{}, 0
		}
		if it.writes && len(d.wrote) < maxWrote {
			d.wrote = append(d.wrote, it.what)
		}
		return
	}
	n, _ := d.failed.Get(it.call)
	n++
	d.failed.Put(it.call, n)
	if n > max(maxSame, d.times) {
		d.stuck, d.times = it, n
	}
}

// stuckText says what was tried in vain again and again; "" for nothing.
func (d *deeds) stuckText() string {
	if d.times == 0 {
		return ""
	}
	return fmt.Sprintf("`%s` failed %d times", loop.OneLine(d.stuck.what), d.times)
}
