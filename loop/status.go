package loop

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// State is where a loop stands.
type State string

// The states of a loop.
const (
	StateStarting    State = "starting"
	StateRunning     State = "running"
	StateWaiting     State = "waiting" // for a time, or for its user
	StatePaused      State = "paused"
	StateCancelling  State = "cancelling"
	StateInterrupted State = "interrupted" // its owner went away; it can be continued
	StateFailed      State = "failed"      // it ended by failures; it can be continued
	StateEnded       State = "ended"
)

// Left says whether nobody drives the loop and its state file is still there,
// so that it can be continued or discarded.
func (s State) Left() bool { return s == StateInterrupted || s == StateFailed }

// Over says whether the loop has come to its end.
func (s State) Over() bool { return s == StateEnded || s.Left() }

// SilentAfter is how long a running agent gives no sign until that is told.
const SilentAfter = 3 * time.Minute

// ToolStatus is a tool that runs, or an agent at work as the tool call that it is shown as.
type ToolStatus struct {
	Call      stream.ToolCall `json:"call"`
	StartedAt time.Time       `json:"startedAt"`
}

// The reasons for which a loop waits. An agent that waits by itself has the reasons of stream.ErrorKind.
const (
	WaitRateLimit  = "rate_limit" // a limit of the provider's
	WaitOverloaded = "overloaded" // the provider has no room
	WaitNetwork    = "network"    // the provider can't be reached
	WaitBackoff    = "backoff"    // the last run failed
	WaitPacing     = "pacing"     // runs end well at once, and may do nothing
	WaitPermission = "permission" // the agent asks the user, see Question
	WaitResources  = "resources"  // this machine can't use the state file, for want of files, space or memory
)

// The reasons for which a loop pauses.
const (
	PauseUser      = "user"
	PauseUnchecked = "unchecked" // it couldn't be verified what the agent promised
	// the cost is limited, and so many runs in a row are of unknown cost
	PauseUnknownCost = "unknown_cost"
	PauseBudget      = "budget" // the user's budget of a day or week is used, or can't be kept
	PauseQuota       = "quota"  // the agent's account has no credits, and nobody knows until when
)

// WaitReasons lists those that a RetryStatus has.
func WaitReasons() []string {
	return []string{WaitRateLimit, WaitOverloaded, WaitNetwork, WaitBackoff, WaitPacing, WaitResources}
}

// WaitText says a reason in the words of a status line.
func WaitText(reason string) string {
	switch reason {
	case WaitOverloaded:
		return "provider overloaded"
	case WaitNetwork:
		return "provider out of reach"
	case WaitPacing:
		return "pacing short runs"
	case WaitResources:
		return "machine short of resources"
	}
	return strings.ReplaceAll(reason, "_", " ")
}

// RetryStatus is a wait: the loop's before its next run, or the agent's own before it asks its model again.
type RetryStatus struct {
	Attempt  int       `json:"attempt,omitempty"`
	ResumeAt time.Time `json:"resumeAt,omitzero"`
	Reason   string    `json:"reason,omitempty"` // a WaitReason
}

// HatCost is what the runs of a hat have cost.
type HatCost = hats.Cost

// RefusedTask is an open task of a plan that was refuted.
type RefusedTask = plan.Refused

// Pause is what a loop waits for its user for, besides questions, and for how long.
type Pause struct {
	Unpriced   int       `json:"unpriced,omitempty"`   // so many runs of unknown cost in a row, while the loop pauses for that
	OverBudget string    `json:"overBudget,omitempty"` // why it pauses for the user's budget, or for an account without credits
	Unchecked  string    `json:"unchecked,omitempty"`  // why the promise couldn't be verified, while the loop pauses for that
	Deadline   time.Time `json:"deadline,omitzero"`    // when it ends, or a question is denied, if nobody looks by then; absent: it waits
}

// Condition is what is special about how a loop stands.
type Condition struct {
	Refuted int `json:"refuted,omitempty"` // promises in a row that weren't true
	Pause
	Pausing bool `json:"pausing,omitempty"` // it will pause when its iteration has ended
	Driven
}

// Driven is what the process says that drives a loop, and what others read in its record.
type Driven struct {
	Detached bool `json:"detached,omitempty"` // it runs alone, even if a window shows it
}

// Times are when a loop and its iteration began.
type Times struct {
	StartedAt          time.Time `json:"startedAt,omitzero"`
	IterationStartedAt time.Time `json:"iterationStartedAt,omitzero"`
}

// Usage is what a loop has used so far.
type Usage struct {
	Spent         time.Duration // by the iterations that ended; counts against MaxDuration
	Elapsed       time.Duration // Spent, and what the running iteration has added up to this snapshot
	Cost          stream.Cost   // of the whole loop so far
	UnknownCosts  int           // runs whose cost isn't in that, as nobody knows it; -1: some
	IterationCost stream.Cost
	Hats          hats.Costs    // the cost of each so far, where hats hand over
	Tokens        stream.Tokens // of the whole loop so far
	Context       int64         // tokens, see stream.Usage
	ContextSize   int64
	Quota         []stream.Quota
}

// Work is what works for a loop right now, and what waits for its user.
type Work struct {
	Tool      *ToolStatus    // nil: none
	Agents    AtWork         // that work for the loop's own, or one step after the other
	Retry     *RetryStatus   // nil: not waiting, or for the user
	Questions []ask.Question // that wait for the user, oldest first
	Allowed   []string       // rules that the user has allowed for as long as the loop lasts
	LastSign  time.Time      // of the running agent; zero while it waits or a tool runs
	LastLine  string         // the last line of the agent's text, for a status line
}

// Ended is how a loop ended that has ended, has failed or was interrupted.
type Ended struct {
	StopReason  StopReason
	EndedAt     time.Time // zero is unknown
	Last        *End      // how it ended; nil is unknown
	LeftRunning []int     // agents of an owner that is gone, which live on
	GivenUp     bool      // it ended and can't go on any more
	Error       string    // the last failure, in one line, of one that goes on as well
}

// Status is a snapshot of a loop.
type Status struct {
	LoopID     string
	Folder     string
	Worktree   *worktree.Tree // of ours that Folder is in; nil: it is in none
	State      State
	Iteration  int
	Plan       string    // the file of tasks that it works through; "" is none
	Tasks      plan.Book // how far it is
	Cause      string    // what keeps it from being done, and what helps; "": nothing stands out
	Limits     Limits
	Promise    string
	Title      string // of the prompt, one line
	NoProgress int    // runs in a row that brought nothing new
	Condition
	Times
	Owner     *loopstate.Owner // the living process that drives it, as others know it; nil: none, or this one
	Suspended int              // the process that drives it, where that stands still (Ctrl-Z); 0: it doesn't
	Hat       string           // "" is none
	Sandbox   string           // what makes the walls around its agents; "": there are none
	Usage
	Session stream.SessionStart // the agent; Backend is always set
	Work
	Notes    string   // the file in which its runs leave word for later ones
	Standing []string // messages that each run is told, until the user takes them back
	Ended
	StateFile   string
	SessionFile string // "": the loop isn't kept
}

// TreeOf is the worktree of ours that a folder is in, nil for none.
func TreeOf(folder string) *worktree.Tree {
	if tree, ok := worktree.Find(folder); ok {
		return &tree
	}
	return nil
}

// CanGoOn says whether the loop is over and can be continued.
func (s Status) CanGoOn() bool {
	return s.State.Left() || s.State == StateEnded && !s.GivenUp && s.StopReason.Ending().Kept
}

// SilentSince is since when the agent has given no sign; zero until that is told.
func (s Status) SilentSince() time.Time {
	if time.Since(s.LastSign) < SilentAfter {
		return time.Time{}
	}
	return s.LastSign
}

// CheckCallID is the id of a check as the tool that runs, and SurveyCallID the id of a first snapshot that takes
// long.
const (
	CheckCallID  = "verify"
	SurveyCallID = "survey"
)

// SurveyCall is a first snapshot as the tool that runs; text says how far it is.
func SurveyCall(text string) stream.ToolCall {
	call := stream.ToolCall{ID: SurveyCallID, Name: "looking at"}
	call.Input, _ = json.Marshal(map[string]string{"command": text}) // texts can always be encoded
	return call
}

// ReasonSurvey is why no agent begins yet: the folder is looked at first. It comes once; later changes to the same state
// say that it is further.
const ReasonSurvey = "survey"

// CheckCall is a check as the tool that runs; "" is one that nobody can name.
func CheckCall(subject string) stream.ToolCall {
	call := stream.ToolCall{ID: CheckCallID, Name: "verifying"}
	if subject != "" {
		call.Input, _ = json.Marshal(map[string]string{"command": subject}) // texts can always be encoded
	}
	return call
}
