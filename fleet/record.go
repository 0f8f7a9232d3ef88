package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Phase says how a loop stands on the bus.
type Phase string

// The phases.
const (
	Queued  Phase = "queued"  // somebody may take its next iteration, once ResumeAt is past
	Running Phase = "running" // a worker has it, for as long as its lease
	Paused  Phase = "paused"
	Ended   Phase = "ended"
	Removed Phase = "removed" // it is on the bus no more; only Watch tells it
)

// Phases has those of the loops on the bus.
var Phases = []Phase{Running, Queued, Paused, Ended}

// Wish is what a user wants of a loop that runs.
type Wish string

// The wishes; "" is none.
const (
	WishPause  Wish = "pause" // behind its iteration
	WishCancel Wish = "cancel"
)

// Record is a loop, as the bus has it. It says where files are, so it stays small.
type Record struct {
	Task
	Phase   Phase    `json:"phase"`
	Wish    Wish     `json:"wish,omitempty"`
	Changed []string `json:"changed,omitempty"` // limits and promise as flags that win over the task's
	Attempt int      `json:"attempt"`           // the last one that began; it says whose word counts
	Worker  string   `json:"worker,omitempty"`  // who has it, or had it last

	Committed  int       `json:"committed"` // the attempt whose files count; 0: none
	HasState   bool      `json:"hasState,omitempty"`
	Agent      string    `json:"agent,omitempty"` // that its state is of
	Kept       []int     `json:"kept,omitempty"`  // attempts that have a transcript, oldest first
	Iterations int       `json:"iterations"`
	CostUSD    float64   `json:"costUsd,omitempty"`
	LostUSD    float64   `json:"lostUsd,omitempty"`      // what its attempts that don't count have cost, or had reserved where nobody knows
	CostOpen   bool      `json:"costOpen,omitempty"`     // it has cost more than is known
	Forgotten  float64   `json:"forgottenUsd,omitempty"` // of CostUSD: what its state doesn't know, as another version wrote that
	Unknown    int       `json:"unknownCosts,omitempty"` // iterations that didn't say what they cost
	ResumeAt   time.Time `json:"resumeAt,omitzero"`
	Reason     string    `json:"reason,omitempty"` // why it waits

	Tasks *wire.Tasks `json:"tasks,omitempty"` // how far its plan is, as its last attempt that counts said

	Guidance []string `json:"guidance,omitempty"` // that no state has yet, oldest first
	Told     int      `json:"told,omitempty"`     // pieces that some state has taken

	StopReason string    `json:"stopReason,omitempty"`
	Text       string    `json:"text,omitempty"`     // its last words in one line
	Failures   int       `json:"failures,omitempty"` // attempts in a row that came to nothing
	FailedOn   []string  `json:"failedOn,omitempty"` // the workers that these were of
	UpdatedAt  time.Time `json:"updatedAt"`

	Indexed bool `json:"indexed,omitempty"` // the bus knows its name; older versions tell it none

	Needs []string `json:"needs,omitempty"` // what later versions can do, without which a worker leaves it alone
	Rest  rest     `json:",embed"`
}

// The errors of what a record can't do.
var (
	ErrEnded  error = as{"the loop has ended", loop.ErrNotRunning}
	ErrNotOur       = errors.New("another worker has the loop by now")
)

// maxAttempts in a row that come to nothing end a loop: no checkout, no program, a child
// that dies each time.
const maxAttempts = 5

// workerFailures is the stop reason of such a loop.
const workerFailures = "worker_failures"

// Begin gives the loop to a worker. Whoever had it before has lost it.
func (r *Record) Begin(worker string, now time.Time) {
	r.lose()
	r.Phase, r.Attempt, r.Worker, r.UpdatedAt = Running, r.Attempt+1, worker, now
}

// lose counts what the ledger does for an attempt of which nobody has said how it went.
func (r *Record) lose() {
	if r.Phase == Running {
		r.CostOpen, r.LostUSD = true, r.LostUSD+unknown(*r)
	}
}

// Cost is what the loop has cost in all, as the ledger has it.
func (r Record) Cost() float64 { return r.CostUSD + r.LostUSD }

// Outcome is what an attempt came to.
type Outcome struct {
	HasState   bool // there is more to do; the files of the attempt have the state
	Agent      string
	Iterations int
	CostUSD    float64 // of the loop so far
	CostOpen   bool
	Forgotten  float64
	Unknown    int
	ResumeAt   time.Time
	Paused     bool
	Reason     string // why, where the loop itself didn't pause
	StopReason string // of one that is over
	Text       string
	Tasks      *wire.Tasks
	Took       int // pieces of guidance that its state has
}

// Commit takes over what an attempt came to, if it is the loop's last one.
func (r *Record) Commit(attempt int, o Outcome, now time.Time) error {
	if r.Attempt != attempt || r.Phase != Running {
		return ErrNotOur
	}
	r.Agent = o.Agent
	r.Committed, r.HasState, r.Kept = attempt, o.HasState, append(slices.Clone(r.Kept), attempt)
	r.Iterations, r.CostUSD, r.CostOpen = o.Iterations, o.CostUSD, r.CostOpen || o.CostOpen
	r.Forgotten, r.Unknown = o.Forgotten, o.Unknown
	r.ResumeAt, r.Reason, r.Text, r.Failures = o.ResumeAt, o.Reason, clip(o.Text), 0
	r.FailedOn, r.Tasks = nil, cmp.Or(o.Tasks, r.Tasks)
	r.Kept = r.Kept[max(len(r.Kept)-maxKept, 0):]
	r.Guidance, r.Told = r.Guidance[min(o.Took, len(r.Guidance)):], r.Told+o.Took
	if r.Phase, r.UpdatedAt = Queued, now; o.Paused {
		r.Phase = Paused
	}
	if r.obey(); o.StopReason != "" { // whatever was wished
		r.Phase, r.StopReason = Ended, o.StopReason
	}
	return nil
}

// Fail takes note of an attempt that came to nothing.
func (r *Record) Fail(attempt int, why string, now time.Time) error {
	if r.Attempt != attempt || r.Phase != Running {
		return ErrNotOur
	}
	why = clip(why)
	r.Failures, r.Text, r.UpdatedAt = r.Failures+1, why, now
	if !slices.Contains(r.FailedOn, r.Worker) {
		r.FailedOn = append(slices.Clone(r.FailedOn), r.Worker)
	}
	switch {
	case r.Wish == WishCancel:
		r.Phase, r.StopReason = Ended, "cancelled"
	case r.Failures >= maxAttempts:
		r.Phase, r.StopReason = Ended, workerFailures
	case r.Wish == WishPause:
		r.Phase = Paused
	default:
		r.Phase, r.ResumeAt, r.Reason = Queued, now.Add(time.Second<<min(r.Failures, 6)), why
	}
	r.Wish = ""
	return nil
}

// capped ends a loop whose cost cap is used up with what its iterations don't know: attempts that don't count, and what
// its state has forgotten.
func (r *Record) capped(now time.Time) bool {
	if r.lose(); r.LostUSD+r.Forgotten == 0 {
		return false
	}
	if limit := r.Limits().MaxCostUSD; limit <= 0 || ledger.Cents(r.Cost()) < ledger.Cents(limit) {
		return false
	}
	r.Phase, r.StopReason, r.Text, r.UpdatedAt = Ended, string(loop.StopMaxCost), loop.StopMaxCost.Ending().String(), now
	return true
}

// GiveBack puts the loop back without anything having been done with it.
func (r *Record) GiveBack(attempt int, now time.Time) error {
	if r.Attempt != attempt || r.Phase != Running {
		return ErrNotOur
	}
	r.Phase, r.UpdatedAt = Queued, now
	r.obey()
	return nil
}

// obey does at once what is wished of a loop that nobody has.
func (r *Record) obey() {
	switch r.Wish {
	case WishCancel:
		r.Phase, r.StopReason = Ended, "cancelled"
	case WishPause:
		r.Phase = Paused
	}
	r.Wish = ""
}

// Pause keeps the loop from its next iteration.
func (r *Record) Pause(now time.Time) error { return r.want(WishPause, now) }

// Cancel ends the loop: at once where nobody has it, else when its worker has ended all.
func (r *Record) Cancel(now time.Time) error { return r.want(WishCancel, now) }

func (r *Record) want(w Wish, now time.Time) error {
	if r.Phase == Ended {
		return fmt.Errorf("%s: %w", r.ID, ErrEnded)
	}
	r.Wish, r.UpdatedAt = w, now
	if r.Phase != Running {
		r.obey()
	}
	return nil
}

// Bound changes limits and the promise for all iterations to come.
func (r *Record) Bound(p loop.Patch) error {
	if r.Phase == Ended {
		return fmt.Errorf("%s: %w", r.ID, ErrEnded)
	}
	r.bound(p)
	return nil
}

func (r *Record) bound(p loop.Patch) {
	r.Changed = start.FlagsOf(p.Or(start.LimitsIn(r.Changed)))
}

// Bounds are the limits and the promise that were given for the loop.
func (r Record) Bounds() loop.Patch { return start.LimitsIn(slices.Concat(r.Flags, r.Changed)) }

// Limits are what bounds the loop, as far as its submission says it.
func (r Record) Limits() loop.Limits { return r.Bounds().Given.Over(limits.Default()) }

// CanGoOn says whether a loop that has ended can be resumed: at a limit, or when it failed.
func (r Record) CanGoOn() bool {
	return r.Phase == Ended && r.StopReason != "cancelled" && (r.HasState || r.StopReason == workerFailures)
}

// Resume lets a loop go on that is paused, waits, or has ended and can go on (CanGoOn), with
// new limits if p has some. It says whether it has to be enqueued.
func (r *Record) Resume(p loop.Patch, now time.Time) (enqueue bool, err error) {
	switch {
	case r.Phase == Ended && !r.CanGoOn():
		return false, fmt.Errorf("%s: %w (%s) and can't go on; submit another", r.ID, ErrEnded, r.StopReason)
	case r.Phase == Ended && loop.StopReason(r.StopReason).Capped() && p == (loop.Patch{}):
		return false, fmt.Errorf("%s: %w: %s; resume it with a higher limit", r.ID, ErrEnded, loop.StopReason(r.StopReason).Ending())
	case r.Phase == Paused || r.Phase == Ended:
		r.StopReason, r.Failures = "", 0
		r.Phase, enqueue = Queued, true
	}
	r.bound(p)
	r.Wish, r.ResumeAt, r.Reason, r.FailedOn, r.UpdatedAt = "", time.Time{}, "", nil, now
	return enqueue, nil
}

// maxGuidance bounds what waits to be told, in bytes of the record.
const maxGuidance = 64 << 10

// What else a record has is bounded by these, so that it fits into a message: words in bytes, and
// attempts whose transcripts it names.
const (
	maxWords = 4 << 10
	maxKept  = 5000
)

// clip is the beginning of a text.
func clip(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "…"
}

// sizeOf is how long something is in a record, in bytes.
func sizeOf(v any) int {
	data, _ := Encode(v) // strings, numbers and maps of them
	return len(data)
}

// Steer tells the loop something, in the iteration that runs or the next one.
func (r *Record) Steer(text string, now time.Time) error {
	if r.Phase == Ended {
		return fmt.Errorf("%s: %w", r.ID, ErrEnded)
	}
	if sizeOf(append(slices.Clone(r.Guidance), text)) > maxGuidance {
		return fmt.Errorf("%s: more than %d KiB wait to be told: wait for the next iteration", r.ID, maxGuidance>>10)
	}
	r.Guidance, r.UpdatedAt = append(slices.Clone(r.Guidance), text), now
	return nil
}

// StateFile, CheckpointFile and TranscriptFile name the files of an attempt on the bus. Each
// attempt writes its own, once; the record says which count.
func (r Record) StateFile(attempt int) string { return fmt.Sprintf("loop/%s/%d/state", r.ID, attempt) }
func (r Record) CheckpointFile(attempt int) string {
	return fmt.Sprintf("loop/%s/%d/bundle", r.ID, attempt)
}
func (r Record) TranscriptFile(attempt int) string {
	return fmt.Sprintf("loop/%s/%d/log", r.ID, attempt)
}
