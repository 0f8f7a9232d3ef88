package verify

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// State is how far a check has come.
type State string

// The states.
const (
	Running   State = "running"
	Verified  State = "verified"
	Refuted   State = "refuted"
	Unchecked State = "unchecked" // nobody knows: it isn't there, took too long, or ran no test
)

// Exit is how a check's command ended.
type Exit struct {
	Code     int
	Signal   string        // that ended it, "" for none
	TimedOut time.Duration // the time that it was given and that wasn't enough; 0: it ended by itself
	Missing  string        // why it could not be started, or wasn't let go on
}

// Result is what a check's end means.
type Result struct {
	State    State
	Why      string    // completes "go test ./... ": "failed (exit 1): TestParse", in one line
	Code     int       // the exit code of a command; -1: there is none
	Empty    bool      // Unchecked as no test was run
	Output   string    // at most MaxExcerpt bytes: the lines that say what failed, and the last ones
	Problems []Problem // at most maxProblems
}

// Problem is a place in a file where something failed.
type Problem struct {
	Path    string `json:"path"`             // as it was printed
	Line    int    `json:"line,omitempty"`   // 1 is the first
	Column  int    `json:"column,omitempty"` // 0: not said
	Message string `json:"message"`
}

// The exit codes with which shells, and what runs commands for others, say that a
// program isn't there, or can't be run.
const (
	exitNoProgram  = 127
	exitNotAllowed = 126
	exitNoCommand  = 9009 // of cmd
	exitSignal     = 128  // with the signal's number on top
)

// killed has the signals that others send. They say nothing about the work.
var killed = map[string]int{"hangup": 1, "interrupt": 2, "killed": 9, "terminated": 15}

// Judge says what a check's end means. Nothing must be written any more.
func (o *Output) Judge(e Exit) Result {
	f := o.findings()
	r := Result{Code: e.Code, Output: o.excerpt(f), Problems: f.problems}
	headline := cmp.Or(f.named, f.detailed) // "" when nobody knows
	because := func(what string) string {
		if headline != "" {
			what += ": " + headline
		}
		return what
	}
	_, isKilled := killed[e.Signal]
	for _, number := range killed {
		isKilled = isKilled || e.Code == exitSignal+number
	}
	r.State = Unchecked
	switch {
	case e.Missing != "":
		r.Why = "could not be run: " + e.Missing
	case e.TimedOut > 0:
		r.Why = "took longer than " + format.Duration(e.TimedOut)
	case e.Code == exitNoProgram, e.Code == exitNotAllowed, e.Code == exitNoCommand:
		r.Why = because(fmt.Sprintf("could not be run (exit %d)", e.Code))
		if headline == "" && f.last != "" {
			r.Why += ": " + f.last
		}
	case isKilled && e.Signal != "":
		r.Why = "was ended from outside (" + e.Signal + ")"
	case isKilled:
		r.Why = fmt.Sprintf("was ended from outside (exit %d)", e.Code)
	case !f.ran && (f.nothingFails || f.nothing && e.Code == 0 && e.Signal == ""):
		r.Why, r.Empty = "ran no test", true
	case e.Signal != "":
		r.State, r.Why = Refuted, because("was ended by a signal ("+e.Signal+")")
	case e.Code != 0:
		r.State, r.Why = Refuted, because(fmt.Sprintf("failed (exit %d)", e.Code))
	default:
		r.State, r.Why, r.Problems = Verified, "passed", nil
	}
	return r
}
