package loopstate

import "time"

// State is what the state file says. Prompt is the file's body, byte for byte.
// Pointers are nil for keys that the file doesn't have.
type State struct {
	Active            bool
	Iteration         int    // the one that runs or runs next; 1 is the first
	MaxIterations     int    // runs in total; 0 is unlimited
	CompletionPromise string // "" is none (null in the file)
	StartedAt         time.Time

	LoopID                 string
	Backend                string
	Hat                    string
	Model                  string
	BackendArgs            []string
	CostUSD                *float64 // spent so far; nil is unknown
	MaxCostUSD             *float64
	MaxDuration            *time.Duration
	IdleTimeout            *time.Duration
	MaxConsecutiveFailures *int
	Elapsed                time.Duration // running time so far, without waits and pauses
	ResumeAt               time.Time     // set while the loop waits; moving it to the past ends the wait
	Guidance               []string      // what the user wants the next run to know
	SessionFile            string

	Prompt string
}
