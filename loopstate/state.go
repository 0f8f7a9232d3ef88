package loopstate

import (
	"slices"
	"time"

	"ralph-lsp/internal/limits"
)

// State is what the state file says. Prompt is the file's body, byte for byte.
// Pointers are nil for keys that the file doesn't have.
//
// All texts but Prompt are UTF-8; what isn't is replaced when it is written.
// Times are in UTC.
type State struct {
	Active            bool
	Iteration         int    // the one that runs or runs next, see StopReason; 1 is the first
	CompletionPromise string // "" is none (null in the file)
	StartedAt         time.Time

	limits.Given // those that the file names

	LoopID        string
	Backend       string
	Hat           string
	Agents        string // flags that name the agents of files that do the work: "--chain scout,worker"
	Model         string
	BackendArgs   []string
	BackendOutput string        // of a program of the user's own; "" is text
	BackendPrompt string        // the same, how it gets the prompt; "" is stdin
	Quiet         bool          // the agent isn't told the loop's rules
	Sandbox       string        // "workspace": there are walls around the agents; "" is none
	SandboxEngine string        // the same, what makes them
	CostUSD       *float64      // spent so far; nil is unknown
	UnknownCosts  int           // runs so far whose cost isn't in that, as nobody knows it
	Elapsed       time.Duration // running time so far, without waits and pauses
	ResumeAt      time.Time     // set while the loop waits; moving it to the past ends the wait
	StopReason    string        // of a loop that failed: why; Iteration is then the last one that ran
	StopError     string        // the same, the last failure in one line
	StoppedAt     time.Time     // the same, when
	Guidance      []string      // what the user wants the agent to know: the running one if it listens, else the next
	GuidanceNext  []string      // what only the next one is to know
	Guided        []string      // what the iteration that runs was told
	Tokens        Tokens        // used so far
	Begun         bool          // the iteration runs, was cut off when its owner died, or failed
	InARow        InARow
	Checking      bool          // what the last iteration did is to be verified before another one
	Promised      string        // what it promised, while that isn't verified
	Unchecked     string        // why that could not be verified: the loop pauses
	Accept        bool          // a request: count that promise all the same
	Refutation    string        // what the next run is told of the last verification
	Topics        []string      // pending ones, the oldest first; that of the hat that runs is the first
	HatRuns       []string      // how often each hat has run: "builder 4"
	HatCosts      []string      // what each hat's runs have cost, in dollars: "builder 1.2"; "+" behind it: at least, "?": nobody knows
	Published     []string      // which topics came how often, with which payload: "build.done 2 1a2b3c4d"
	Permissions   string        // "ask": the agents ask the user before they do something; "" is not
	AskTimeout    time.Duration // after which they are denied what nobody has answered; 0: never
	Allowed       []string      // rules of what they needn't ask for any more: "Bash(git commit:*)"
	Stuck         string        // what the last iteration tried in vain again and again, for the next process
	Questions     []string      // what they wait to be told, each as JSON; for other processes to show
	Answers       []string      // requests: answers to them, each as JSON
	EndIteration  int           // a request: end that iteration, and go on with the next
	Cancel        bool          // a request: end the loop now and remove the file
	SessionFile   string

	Prompt string
}

// Tokens counts what a loop has used.
type Tokens struct{ Input, Output, CacheRead, CacheWrite int64 }

// InARow counts the runs at the end of a loop that went the same way.
type InARow struct {
	Failures      int
	StartFailures int // no agent began to work
	Stalls        int // silent for longer than the idle timeout
	Denials       int // permissions were refused
	ShortRuns     int // ended well at once, without a tool
	RateLimits    int // refused by a rate limit
	Overloads     int // refused as the provider was overloaded
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
func (s State) clone() State {
	s.BackendArgs = slices.Clone(s.BackendArgs)
	s.Guidance = slices.Clone(s.Guidance)
	s.GuidanceNext = slices.Clone(s.GuidanceNext)
	s.Guided = slices.Clone(s.Guided)
	s.Topics, s.HatRuns, s.Published = slices.Clone(s.Topics), slices.Clone(s.HatRuns), slices.Clone(s.Published)
	s.HatCosts = slices.Clone(s.HatCosts)
	s.Allowed, s.Questions, s.Answers = slices.Clone(s.Allowed), slices.Clone(s.Questions), slices.Clone(s.Answers)
	if s.CostUSD != nil {
		s.CostUSD = new(*s.CostUSD)
	}
	s.Given = s.Given.Clone()
	return s
}
