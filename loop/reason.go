package loop

import (
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// StopReason is why a loop ended.
type StopReason string

// The reasons for which a loop ends.
const (
	StopPromise          StopReason = "promise"
	StopMaxIterations    StopReason = "max_iterations"
	StopMaxCost          StopReason = "max_cost"
	StopMaxTime          StopReason = "max_time"
	StopCancelled        StopReason = "cancelled"
	StopStateRemoved     StopReason = "state_removed"     // the user deleted the state file
	StopUnverified       StopReason = "unverified"        // too many promises in a row were refuted
	StopNoProgress       StopReason = "no_progress"       // too many iterations in a row brought nothing new
	StopFailures         StopReason = "failures"          // too many in a row
	StopPermissionDenied StopReason = "permission_denied" // refused twice in a row
	StopUnauthorized     StopReason = "unauthorized"      // not logged in, or a key that isn't one
	StopStalled          StopReason = "stalled"           // silent twice in a row
	StopUnanswered       StopReason = "unanswered"        // nobody looked at it, and it waited for its user
	StopBackendError     StopReason = "backend_error"     // no run of the agent has begun
	StopInterrupted      StopReason = "interrupted"       // the editor or terminal went away
	StopOnce             StopReason = "once"              // one iteration was asked for
	StopDetached         StopReason = "detached"          // it goes on in a process of its own
	StopBadStateFile     StopReason = "bad_state_file"    // the user's edit can't be read
)

// Class says how something that a person is told is meant.
type Class string

// The classes.
const (
	ClassInfo    Class = "info"
	ClassOK      Class = "ok"
	ClassWarning Class = "warning"
	ClassError   Class = "error"
)

// Remedy is something that can be done about an end.
type Remedy string

// The remedies.
const (
	RemedyRaise    Remedy = "raise"    // the limit that was reached, and go on
	RemedyResume   Remedy = "resume"   // go on
	RemedyLift     Remedy = "lift"     // go on without the limit that was reached
	RemedyDiscard  Remedy = "discard"  // the loop that was left
	RemedyDoctor   Remedy = "doctor"   // look at which agents there are
	RemedyOpenFile Remedy = "openFile" // the state file, to mend it
)

// Ending is everything about a reason for which loops end. Code that tells of an end or offers something asks this
// table. Reasons are compared where one is given (judge.Decide and the engine), where an end gets facts that only its
// reason has (EndOf of progress, endOf of the engine), and for StopDetached, after which the loop is still driven.
type Ending struct {
	Reason    StopReason
	Class     Class
	Limit     limits.Name // the one that was reached; "" is none
	State     State       // that the loop is left in; of one that is Left the state file stays
	OfMachine bool        // it is about where it ran: on another machine it may go well
	Untouched bool        // nothing is done to the state file: it is gone, or the user's to mend
	HandsOn   bool        // another process goes on where it stands: its waits stay as they are
	Kept      bool        // the loop can go on, with what the registry has: its state file is removed
	What      string      // in words: "stopped"
	Why       string      // in words: "iteration limit reached"; "" when What says all
	Remedies  []Remedy    // what an editor offers, the safest first
	Caution   string      // what to know before going on, a sentence; "" when there is nothing
	Advice    string      // what helps, told at a terminal of a loop that failed; "" when there is nothing to say
}

// The remedies for a loop at a limit, and for one that was left.
var (
	raise = []Remedy{RemedyRaise, RemedyDiscard}
	left  = []Remedy{RemedyResume, RemedyDiscard}
)

// endings has every reason once, in the order in which they are listed.
var endings = []Ending{
	{Reason: StopPromise, Class: ClassOK, State: StateEnded, What: "done"},
	{Reason: StopMaxIterations, Class: ClassWarning, Limit: limits.Iterations, State: StateEnded, Kept: true, What: "stopped",
		Why: "iteration limit reached", Remedies: raise},
	{Reason: StopMaxCost, Class: ClassWarning, Limit: limits.Cost, State: StateEnded, Kept: true, What: "stopped",
		Why: "cost limit reached", Remedies: raise},
	{Reason: StopMaxTime, Class: ClassWarning, Limit: limits.Time, State: StateEnded, Kept: true, What: "stopped",
		Why: "time limit reached", Remedies: raise},
	{Reason: StopCancelled, Class: ClassInfo, State: StateEnded, What: "cancelled"},
	{Reason: StopStateRemoved, Class: ClassInfo, State: StateEnded, Untouched: true, What: "cancelled", Why: "state file removed"},
	{Reason: StopUnverified, Class: ClassError, State: StateFailed, What: "failed", Why: "the promises weren't true", Remedies: left,
		Advice: "look at what the verification says, and change the prompt or the code"},
	{Reason: StopNoProgress, Class: ClassError, Limit: limits.Progress, State: StateFailed, What: "failed", Why: "it turned in circles",
		Remedies: []Remedy{RemedyResume, RemedyLift, RemedyDiscard},
		Advice:   "change the prompt, or say --max-unchanged-iterations 0 if nothing new is as it should be"},
	{Reason: StopFailures, Class: ClassError, State: StateFailed, What: "failed", Why: "too many failures in a row", Remedies: left,
		Advice: "fix the cause"},
	{Reason: StopPermissionDenied, Class: ClassError, State: StateFailed, What: "failed",
		Why: "the agent was refused permission", Remedies: left,
		Caution: "A loop keeps the arguments that its agent was started with, whatever the settings say by now.",
		Advice:  "change the prompt, or allow it: in the agent's own settings, or with its permission flags (--backend-arg)"},
	{Reason: StopUnauthorized, Class: ClassError, State: StateFailed, OfMachine: true, What: "failed",
		Why: "the agent isn't logged in", Remedies: left,
		Advice: "log in with the agent itself, or set its key"},
	{Reason: StopStalled, Class: ClassError, State: StateFailed, What: "failed", Why: "the agent fell silent", Remedies: left,
		Advice: "raise --idle-timeout, or --tool-timeout where a tool was at work (0: no limit)"},
	{Reason: StopUnanswered, Class: ClassError, State: StateFailed, What: "stopped", Why: "nobody answered", Remedies: left,
		Advice: "be there when it asks again, let it wait longer with --ask-timeout, or believe a promise with resume --accept"},
	{Reason: StopBackendError, Class: ClassError, State: StateEnded, Kept: true, OfMachine: true, What: "failed",
		Why: "the agent never began to work", Remedies: []Remedy{RemedyDoctor, RemedyResume, RemedyDiscard},
		Advice: "see ralph-lsp doctor"},
	{Reason: StopInterrupted, Class: ClassWarning, State: StateInterrupted, What: "interrupted", Remedies: left},
	{Reason: StopOnce, Class: ClassInfo, State: StateInterrupted, HandsOn: true, What: "left",
		Why: "one iteration was asked for", Remedies: left},
	{Reason: StopDetached, Class: ClassInfo, State: StateInterrupted, HandsOn: true, What: "detached", Why: "it goes on alone"},
	{Reason: StopBadStateFile, Class: ClassError, State: StateEnded, Untouched: true, What: "failed", Why: "the state file can't be used",
		Remedies: []Remedy{RemedyOpenFile}},
}

// Endings lists what there is to know of each reason.
func Endings() []Ending { return slices.Clone(endings) }

// Ending returns the row of a reason. An unknown one, as in a later version's session file, is told by its name.
func (r StopReason) Ending() Ending {
	for _, e := range endings {
		if e.Reason == r {
			return e
		}
	}
	return Ending{Reason: r, Class: ClassError, State: StateEnded, What: "ended", Why: strings.ReplaceAll(string(r), "_", " ")}
}

// Capped says whether the loop stopped because it has used up a limit of the user's, and goes on when that is raised:
// programs end with 2 then, and a loop of a fleet is resumed with a higher one.
func (r StopReason) Capped() bool {
	e := r.Ending()
	return e.Limit != "" && e.State == StateEnded
}

// Failed says whether the loop stopped because its runs failed. Its state file
// stays and says so, as the loop can go on once that is seen to.
func (r StopReason) Failed() bool { return r.Ending().State == StateFailed }

// String is how and why a loop ended: "stopped: iteration limit reached".
func (e Ending) String() string { return e.With("") }

// With is String with words behind the first one, such as " after 5 iterations":
// "failed after 5 iterations: too many failures in a row".
func (e Ending) With(howFar string) string {
	if e.Why == "" {
		return e.What + howFar
	}
	return e.What + howFar + ": " + e.Why
}
