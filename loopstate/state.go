package loopstate

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// State is how a loop stands: its file, which is the user's, and its counts, which are in a file of ours (see
// record). Prompt is the file's body, byte for byte. Pointers are nil for keys that the file doesn't have.
//
// All texts but Prompt are UTF-8; other bytes are replaced when it is written. Times are in UTC.
type State struct {
	// The user's. An iteration that is under way isn't written there.
	Active    bool      `json:"-"`
	StartedAt time.Time `json:"-"`

	settings.Values `json:"-"` // what the file names of what a loop keeps

	LoopID        string `json:"-"`
	AgentChoice   `json:"-"`
	SandboxEngine string `json:"-"` // the engine of the walls around the agents
	Prompt        string `json:"-"`

	// Ours.
	Iteration int  `json:"iteration"` // the one that runs or runs next, see StopReason; 1 is the first
	Begun     bool `json:"begun"`     // it runs, was cut off when its owner died, or failed
	Spent
	InARow   InARow    `json:"inARow"`
	ResumeAt time.Time `json:"resumeAt"` // set while the loop waits
	Failed
	Steering
	Verification
	OverBudget  string     `json:"overBudget"` // why the loop pauses for the user's budget, or for an account without credits
	Refutation  string     `json:"refutation"` // what the next run is told of the last verification
	Turn        string     `json:"turn"`       // the hat that runs or ran last, where hats hand over
	Queue       hats.Queue `json:"queue"`      // of topics; the topic of the hat that runs is the first
	HatCosts    hats.Costs `json:"hatCosts"`   // the cost of each hat's runs
	Allowed     []string   `json:"allowed"`    // rules of what the agents needn't ask for any more: "Bash(git commit:*)"
	Stuck       string     `json:"stuck"`      // a call that the last iteration tried in vain again and again, for the next process
	SessionFile string     `json:"sessionFile"`
	Closing     string     `json:"onClose"` // whether the loop goes on without its window, as it was started or resumed

	Account account.Account `json:"account"`        // the account to be told at its end
	Tasks   plan.Book       `json:"tasks,omitzero"` // how far its plan is

	// Accept goes with a change alone: that promise counts all the same. Nothing keeps it.
	Accept bool `json:"-"`
}

// AgentChoice is who does a loop's work.
type AgentChoice struct {
	Backend       string
	Hat           string // that the loop was started with
	Agents        string // flags that name the agents of files that do the work: "--chain scout,worker"
	Model         string
	BackendArgs   []string
	BackendOutput string // of a program of the user's own; "" is text
	BackendPrompt string // the same, how it gets the prompt; "" is stdin
}

// Spent is what a loop has used so far.
type Spent struct {
	Cost         stream.Cost   `json:"costUsd"`
	UnknownCosts int           `json:"unknownCosts"` // runs whose cost isn't in that, as nobody knows it
	Elapsed      time.Duration `json:"elapsed"`      // running time, without waits and pauses
	Tokens       stream.Tokens `json:"tokens"`
}

// Failed is how a loop failed. The iteration of its state is then the last one that ran.
type Failed struct {
	StopReason string    `json:"stopReason"`
	StopError  string    `json:"stopError"` // the last failure in one line
	StoppedAt  time.Time `json:"stoppedAt"`
}

// Steering is what the user tells a loop's agents.
type Steering struct {
	Queued     []string `json:"guidance"`     // messages for the running iteration if it listens, else for the next
	QueuedNext []string `json:"guidanceNext"` // messages for the next iteration alone
	Standing   []string `json:"standing"`     // messages that each run is told until the user takes them back
	Guided     []string `json:"guided"`       // messages that the running iteration was told
}

// Verification is how far the verification of what the last iteration did has come.
type Verification struct {
	Checking  bool   `json:"checking"`  // it is to be verified before another run begins
	Promised  string `json:"promised"`  // what it promised, while that isn't verified; "" is nothing
	Unchecked string `json:"unchecked"` // why that could not be verified: the loop pauses
}

// InARow counts the runs at the end of a loop that went the same way.
type InARow struct {
	Failures      int
	StartFailures int // no agent began to work
	Stalls        int // silent for longer than the idle timeout
	Denials       int // permissions were refused
	ShortRuns     int // ended well at once, without a tool
	RateLimits    int // refused by a rate limit
	Overloads     int // refused as the provider was overloaded
	Unreached     int // failed as the provider couldn't be reached
	Refuted       int // promises that weren't true
	NoProgress    int // brought nothing new
	UnknownCosts  int // cost what nobody knows
}

// defaultState is what a file says that has a prompt and nothing else.
func defaultState() State {
	return State{Active: true, Iteration: 1}
}

// Limits are those that the file names, and the defaults for the others.
func (s State) Limits() limits.Limits { return s.Given.Over(limits.Default()) }

// clone returns a copy that shares no memory with s.
func (s State) clone() State { return s.With(s) }

// With is a state with our part of another one.
func (s State) With(other State) State {
	return s.with(other.ours())
}

// ours is what a state has that isn't the user's, nil where that can't be written: a time may have
// a year that is none.
func (s State) ours() []byte {
	data, _ := json.Marshal(s)
	return data
}

// isSound says whether what a file tells of our part can be true.
func (s State) isSound() bool {
	n := s.InARow
	return min(s.Iteration, s.UnknownCosts, n.Failures, n.StartFailures, n.Stalls, n.Denials, n.ShortRuns, n.RateLimits,
		n.Overloads, n.Unreached, n.Refuted, n.NoProgress, n.UnknownCosts) >= 0 &&
		min(s.Tokens.Input, s.Tokens.Output, s.Tokens.CacheRead, s.Tokens.CacheWrite, int64(s.Elapsed)) >= 0
}

// with is a state with what is ours, as ours wrote it. It shares no memory with s.
func (s State) with(ours []byte) State {
	s.BackendArgs, s.Given = slices.Clone(s.BackendArgs), s.Given.Clone()
	if ours == nil {
		return s
	}
	// These belong to another state.
	s.Steering, s.Allowed = Steering{}, nil
	s.Queue, s.HatCosts, s.Account, s.Tasks = hats.Queue{}, nil, account.Account{}, plan.Book{}
	_ = json.Unmarshal(ours, &s)
	return s
}
