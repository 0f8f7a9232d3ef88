package settings

// Notify says of what a loop tells a user who isn't looking, and how. Events are the names of
// what On may have.
type Notify struct {
	On       []string // nil: nothing
	Terminal string   // Auto or Off
	Desktop  string   // the same
	Command  []string // a program with its arguments
	Reply    []string // a program with its arguments, which prints the user's answer to a question
	Webhook  string   // an address
	Include  []string // what else is told: NotifyReceipt

	KeepAwake bool // the machine doesn't fall asleep while runs are at work
}

// What On and Include may have.
const (
	NotifyEnd      = "end"      // it is done, or at a limit
	NotifyFailed   = "failed"   // it has ended otherwise, and nobody wanted that
	NotifyQuestion = "question" // an agent waits for an answer
	NotifyPaused   = "paused"   // not by its user
	NotifyWaiting  = "waiting"  // for longer than a minute

	NotifyReceipt = "receipt"
)

// NotifyEvents lists the events.
func NotifyEvents() []string {
	return []string{NotifyEnd, NotifyFailed, NotifyQuestion, NotifyPaused, NotifyWaiting}
}

// What a fallback stands in for.
const (
	OnRateLimit  = "rate_limit"
	OnOverloaded = "overloaded" // the provider is
	OnNetwork    = "network"    // the provider can't be reached
	OnQuota      = "quota"      // a window of a subscription or the account's credits are used up, or the limit lasts for over an hour
)

// Reliefs are all of them.
func Reliefs() []string { return []string{OnRateLimit, OnOverloaded, OnQuota, OnNetwork} }
