package wire

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// MethodStatus is the notification that carries the state of all loops.
const MethodStatus = "ralph/status"

// The values of a status' health.
const (
	HealthOK      = "ok"
	HealthWarning = "warning" // a limit was reached or is near, a loop waits or was interrupted
	HealthError   = "error"   // a loop failed
)

// StatusParams are the parameters of ralph/status: all loops, in place of the status before. Health and Message are
// those of the first.
type StatusParams struct {
	Seq     int64        `json:"seq"`
	Health  string       `json:"health"` // HealthOK or HealthWarning or HealthError
	Busy    bool         `json:"busy"`   // an agent is at work
	Message string       `json:"message"`
	Text    string       `json:"text,omitempty"` // a remark about loops of other places: that some aren't listed, or can't be reached
	Loops   []LoopStatus `json:"loops"`
}

// NewStatus sums up the loops, those that need the user most first: how the first is,
// and a line for a status bar.
func NewStatus(loops []LoopStatus) StatusParams {
	status := StatusParams{Health: HealthOK, Message: "Ralph", Loops: SortByNeed(loops)}
	for i, l := range status.Loops {
		status.Busy = status.Busy || l.Busy || l.Host == "" && factsOf(l).busy
		status.Loops[i].Name = NameOf(l, len(loops) > 1)
	}
	if len(loops) > 0 {
		first := status.Loops[0]
		status.Health = health(classOfLoop(first))
		text := TextOf(first)
		if first.Host != "" { // its maker knows more of it
			text = first.Text
		}
		status.Message = first.Name
		if len(loops) > 1 {
			status.Message += ":"
		}
		status.Message = strings.TrimSpace(status.Message + " " + text)
	}
	return status
}

// SortByNeed returns loops with those first that need the user most; never nil.
func SortByNeed(loops []LoopStatus) []LoopStatus {
	sorted := append([]LoopStatus{}, loops...)
	slices.SortStableFunc(sorted, compareNeed)
	return sorted
}

// LoopStatus is one loop in a ralph/status snapshot.
type LoopStatus struct {
	LoopID   string    `json:"loopId,omitempty"`
	Folder   string    `json:"folder,omitempty"`   // file URI; it needn't exist for a loop of another machine
	Worktree *Worktree `json:"worktree,omitempty"` // of a loop that works in one of ours
	// of a loop of a fleet: the worker that has it or had it last, HostFleet before
	Host   string `json:"host,omitempty"`
	Origin string `json:"origin,omitempty"` // file URI of the open folder whose repository such a loop works on, where there is one
	Title  string `json:"title,omitempty"`  // its prompt's beginning, told apart from others
	Name   string `json:"name,omitempty"`   // begins what a user is told of it: "Ralph", and which one where there are several
	State  string `json:"state"`            // a State, or "idle"
	Summary
	Live bool `json:"live"` // somebody drives it: it goes on, at once or when it is told to
	Busy bool `json:"busy"` // an agent is at work
	loop.Condition
	Can     []string `json:"can,omitempty"`     // each a Can
	Sandbox *Sandbox `json:"sandbox,omitempty"` // around its agents; absent: none
	Table
	Iteration     int    `json:"iteration,omitempty"`
	MaxIterations int    `json:"maxIterations,omitempty"` // absent: unlimited
	Tasks         *Tasks `json:"tasks,omitempty"`         // of one that works through a plan
	loop.Times
	SilentSince time.Time    `json:"silentSince,omitzero"` // the agent's last sign, once that is long ago
	Backend     *BackendInfo `json:"backend,omitempty"`
	Hat         string       `json:"hat,omitempty"`
	Usage
	Work
	Ending
	Owned          bool   `json:"owned"` // false: another process drives it, or none
	StateFileURI   string `json:"stateFileUri,omitempty"`
	SessionFileURI string `json:"sessionFileUri,omitempty"`
}

// Summary says in words how a loop stands, and what its user can say to that.
type Summary struct {
	Text     string    `json:"text,omitempty"` // how it stands, in one line: "failed at 3/50: ..."
	Line     string    `json:"line,omitempty"` // with cost and what it does, for a status line: "3/50 · $1.42 · bash go test"
	Class    Class     `json:"class"`
	Question string    `json:"question,omitempty"` // of one that goes on: to be asked before its folder gets another task
	Offers   []Command `json:"offers,omitempty"`   // the commands about its end, the safe one first
	Talks    []Talk    `json:"talks,omitempty"`    // where typed text can go; the first is what Return does
}

// Table is what there is to know of a loop, row by row.
type Table struct {
	CostText   string   `json:"costText,omitempty"`   // "$1.42 of $10.00"
	LimitTexts []string `json:"limitTexts,omitempty"` // its limits, a line each
	Details    []Detail `json:"details,omitempty"`    // its facts, for a table
}

// Usage is what a loop has used so far.
type Usage struct {
	Hats    []loop.HatCost `json:"hats,omitempty"` // the cost of each so far, where hats hand over
	Cost    *CostStatus    `json:"cost,omitempty"` // absent: unknown
	Time    TimeStatus     `json:"time,omitzero"`
	Tokens  stream.Tokens  `json:"tokens,omitzero"`
	Context *Context       `json:"context,omitempty"`
	Quota   []stream.Quota `json:"quota,omitempty"`
}

// Work is what works for a loop right now, and what waits for its user.
type Work struct {
	Tool      *RunningTool  `json:"tool,omitempty"`
	Agents    []RunningTool `json:"agents,omitempty"` // that work for the loop's, or as its steps; their titles say at what
	Retry     *RetryStatus  `json:"retry,omitempty"`
	Questions []Question    `json:"questions,omitempty"` // that wait for the user's answer, the oldest first
	Allowed   []AllowedRule `json:"allowed,omitempty"`   // the user's permissions for the whole loop
}

// Ending is how a loop ended that is over.
type Ending struct {
	StopReason string    `json:"stopReason,omitempty"`
	Error      string    `json:"error,omitempty"`
	EndedAt    time.Time `json:"endedAt,omitzero"` // of one that is over, where that is known
	Last       *Receipt  `json:"last,omitempty"`   // how the folder's last loop ended, of one that is over
}

// Talk is a command for words that a user types: they go into its argument, as Key.
type Talk struct {
	Command
	Key  string `json:"key"`
	Hint string `json:"hint"` // for the empty box
}

// Sandbox says what confines the agents of a loop.
type Sandbox struct {
	Text   string `json:"text"`   // "sandboxed"
	Engine string `json:"engine"` // what makes them: "bubblewrap"
}

// Detail is a row of a table about a loop.
type Detail struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// BackendInfo names the agent at work.
type BackendInfo struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
}

// CostStatus is what a loop has cost.
type CostStatus struct {
	Amount    float64     `json:"amount"`
	Currency  string      `json:"currency"` // "USD"
	Limit     float64     `json:"limit,omitempty"`
	Iteration stream.Cost `json:"iteration,omitzero"`    // of the running one
	Estimated bool        `json:"estimated"`             // the cost of some iteration is unknown
	Unknown   int         `json:"unknownRuns,omitempty"` // of so many, where that is known
}

// unknown is of how many runs the cost isn't known; -1: of some.
func (c CostStatus) unknown() int {
	if c.Estimated && c.Unknown == 0 {
		return -1
	}
	return c.Unknown
}

// TimeStatus is what a loop has used of the time that it may run; waits and
// pauses don't count. While it runs, the time since iterationStartedAt comes on top.
type TimeStatus struct {
	Spent stream.Duration `json:"spentMs"`          // by the iterations that ended
	Limit stream.Duration `json:"limitMs,omitzero"` // absent: unlimited
}

// Context is the fill of the model's window in tokens.
type Context struct {
	Used int64 `json:"used"`
	Size int64 `json:"size,omitempty"`
}

// RunningTool is the tool that runs now.
type RunningTool struct {
	ToolCallID string    `json:"toolCallId"`
	Name       string    `json:"name"`
	Title      string    `json:"title"`
	Kind       ToolKind  `json:"kind"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
}

// RetryStatus is what a loop waits for.
type RetryStatus struct {
	loop.RetryStatus
	Text string `json:"text,omitempty"` // the reason in words
}
