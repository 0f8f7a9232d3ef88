package stream

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Event is one thing that an agent did or said, the same for every backend.
// The set is closed: only this package adds kinds, so a type switch over it
// can be complete. Events hold copies, never bytes of the line they came from.
//
// Those that take events by name, and drop others: wire's Projector.Event, history's Writer.Handle, Feed.Handle of
// server/feed, decode's summary.add, and of loop/engine progress's Follow, executor's Subagent.Handle and agentRun.own, and
// newReview. wire/events_test.go says which of them go without which.
type Event interface{ event() }

// SessionStart says who is at work. It may come again when more is known
// (pi names its model only with the first message); non-empty fields replace.
type SessionStart struct {
	Backend   string `json:"backend,omitempty"` // "pi", "claude"; empty for text
	Version   string `json:"version,omitempty"` // of the agent, where it says so
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// Text is a piece of assistant text for the live view. The authoritative text
// of a message comes with its MessageEnd.
type Text struct {
	Delta            string `json:"delta"`
	MessageID        string `json:"messageId,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"` // set: a subagent speaks
}

// Thinking is a piece of the model's reasoning, for the live view.
type Thinking struct {
	Delta            string `json:"delta"`
	MessageID        string `json:"messageId,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
}

// MessageEnd closes an assistant message. Text is all of its text blocks, joined by a newline. Discarded: the attempt
// failed and will be (or was) retried; the text of its Text events is taken back, and Text is empty.
type MessageEnd struct {
	MessageID        string `json:"messageId,omitempty"`
	Text             string `json:"text"`
	Discarded        bool   `json:"discarded,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
}

// ToolCall says that a tool starts to run. Calls of one turn may overlap.
type ToolCall struct {
	ID               string          `json:"id"`
	Name             string          `json:"name"`
	Input            json.RawMessage `json:"input,omitempty"` // compact JSON, as the model gave it
	ParentToolCallID string          `json:"parentToolCallId,omitempty"`
	Dir              string          `json:"dir,omitempty"` // the folder in which the agent works, without links; "" where nobody knows
}

// editing are the tools of the known agents that write a file.
var editing = map[string]bool{
	"edit": true, "write": true, "Edit": true, "Write": true, "NotebookEdit": true,
	"create": true, "create_file": true, "edit_file": true, "write_file": true, "replace": true,
	"patch": true, "apply_patch": true, "file_change": true, "str_replace_editor": true,
}

// Writes says whether the tool is one that writes a file.
func (c ToolCall) Writes() bool { return editing[c.Name] }

// ToolProgress is the output of a running tool so far; it replaces the last.
type ToolProgress struct {
	ID     string `json:"id"`
	Output string `json:"output"`
}

// ToolResult ends a tool call. A failed tool is normal agent life and keeps
// its ID; it is no Error of the run.
type ToolResult struct {
	ID               string `json:"id"`
	Output           string `json:"output"`
	IsError          bool   `json:"isError,omitempty"`
	ParentToolCallID string `json:"parentToolCallId,omitempty"`
	Spent            Spent  `json:"spent,omitzero"` // of a call that had agents work
}

// Spent is what the agents of a tool call used, as far as it is known. It is part of the run's Usage, too.
type Spent struct {
	Cost     Cost     `json:"costUsd,omitzero"`
	Tokens   int64    `json:"totalTokens,omitempty"`
	Duration Duration `json:"durationMs,omitzero"`
}

// Duration is a length of time, in JSON whole milliseconds. An impossible one is read as 0.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// IsZero says whether JSON has nothing of it.
func (d Duration) IsZero() bool { return time.Duration(d).Milliseconds() == 0 }

// MarshalJSON gives the number of milliseconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(d).Milliseconds(), 10), nil
}

// UnmarshalJSON reads what MarshalJSON gives. A file may have any number.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var ms int64
	err := json.Unmarshal(data, &ms)
	if ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		ms = 0
	}
	*d = Duration(time.Duration(ms) * time.Millisecond)
	return err
}

// Tokens are counts of model tokens; Input excludes what came from the cache.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
}

// Plus returns the sums of t and u.
func (t Tokens) Plus(u Tokens) Tokens {
	return Tokens{t.Input + u.Input, t.Output + u.Output, t.CacheRead + u.CacheRead, t.CacheWrite + u.CacheWrite}
}

// Above is by how much t is more than u, and never less.
func (t Tokens) Above(u Tokens) Tokens {
	return Tokens{max(t.Input-u.Input, 0), max(t.Output-u.Output, 0), max(t.CacheRead-u.CacheRead, 0), max(t.CacheWrite-u.CacheWrite, 0)}
}

// Minus returns the differences of t and u.
func (t Tokens) Minus(u Tokens) Tokens {
	return Tokens{t.Input - u.Input, t.Output - u.Output, t.CacheRead - u.CacheRead, t.CacheWrite - u.CacheWrite}
}

// Total returns how many tokens t counts.
func (t Tokens) Total() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// Cost is an amount in US dollars that may be unknown. Unknown is never 0.
type Cost struct {
	USD   float64
	Known bool
}

// USD returns the known cost of amount dollars.
func USD(amount float64) Cost { return Cost{USD: amount, Known: true} }

// CostOf returns a cost that somebody reports, in US dollars. An impossible one is unknown.
func CostOf(usd float64) Cost {
	if !(usd >= 0 && usd <= format.MaxUSD) {
		return Cost{}
	}
	return USD(usd)
}

// Plus adds two costs; an unknown one adds nothing, and two of them stay unknown.
func (c Cost) Plus(d Cost) Cost { return Cost{USD: c.USD + d.USD, Known: c.Known || d.Known} }

// IsZero says whether the cost is unknown, or one that isn't to be believed.
func (c Cost) IsZero() bool { return !c.Known || !CostOf(c.USD).Known }

// MarshalJSON gives the amount, or null when it is unknown.
func (c Cost) MarshalJSON() ([]byte, error) {
	if c.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(c.USD)
}

// UnmarshalJSON reads what MarshalJSON gives. A file may have any value, and sums of costs must stay numbers.
func (c *Cost) UnmarshalJSON(data []byte) error {
	var usd *float64
	err := json.Unmarshal(data, &usd)
	if *c = (Cost{}); usd != nil {
		*c = CostOf(*usd)
	}
	return err
}

// Usage is what the run has used so far: totals since its start, not a delta,
// whichever way the backend counts. Context is the size of the last request
// and its answer in tokens, ContextSize the model's window (0: unknown).
type Usage struct {
	Tokens      Tokens `json:"tokens"`
	Cost        Cost   `json:"costUsd"`
	Context     int64  `json:"context,omitempty"`
	ContextSize int64  `json:"contextSize,omitempty"`
}

// Counts says whether u counts anything.
func (u Usage) Counts() bool { return u.Tokens != (Tokens{}) || u.Cost.USD > 0 }

// Plus adds what was used after u.
func (u Usage) Plus(v Usage) Usage {
	u.Tokens, u.Cost = u.Tokens.Plus(v.Tokens), u.Cost.Plus(v.Cost)
	if v.Context > 0 {
		u.Context = v.Context
	}
	return u
}

// Spent returns u as the usage of agents that a tool call started.
func (u Usage) Spent() Spent { return Spent{Cost: u.Cost, Tokens: u.Tokens.Total()} }

// ErrorKind sorts failures by what a driver can do about them.
type ErrorKind string

// The kinds of failure. Anything else is KindOther.
const (
	KindOther      ErrorKind = ""
	KindRateLimit  ErrorKind = "rate_limit"     // wait, then go on
	KindQuota      ErrorKind = "quota"          // the account has no credits: its user has to act, or a time to come
	KindOverloaded ErrorKind = "overloaded"     // the provider is busy
	KindNetwork    ErrorKind = "network"        // the provider can't be reached
	KindServer     ErrorKind = "server_error"   // 5xx, a broken stream
	KindAuth       ErrorKind = "authentication" // 401, 403, not logged in
	KindRequest    ErrorKind = "request"        // 400, 404, prompt too long
	KindBudget     ErrorKind = "budget"         // the agent's own budget flag
	KindAborted    ErrorKind = "aborted"        // stopped from outside
)

// Retry says that the agent itself waits and tries again; until Delay is over
// its silence is no stall.
type Retry struct {
	Attempt     int       `json:"attempt"`
	MaxAttempts int       `json:"maxAttempts,omitempty"`
	Delay       Duration  `json:"delayMs"`
	Kind        ErrorKind `json:"reason,omitempty"`
	Message     string    `json:"message,omitempty"`
}

// Quota is the state of one usage window of a subscription.
type Quota struct {
	Window      string    `json:"window"`                // "five_hour", "seven_day"
	Utilization float64   `json:"utilization,omitempty"` // 0 to 1
	ResetsAt    time.Time `json:"resetsAt,omitzero"`
	Rejected    bool      `json:"rejected,omitempty"` // requests are refused until ResetsAt
}

// Compaction says that the agent summarises its context (Done: has summarised).
type Compaction struct {
	Done   bool   `json:"done"`
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
}

// TurnEnd ends one model call with its tools. A turn whose attempt failed and
// is retried ends too. Usage is the turn's own; its cost is unknown where the
// backend gives only totals.
type TurnEnd struct {
	StopReason string `json:"stopReason,omitempty"` // the backend's word: "stop", "toolUse", "error", "end_turn"
	Error      string `json:"error,omitempty"`
	Usage      Usage  `json:"usage"`
}

// Error is a failure of the run or of an attempt (never of a tool).
type Error struct {
	Message  string    `json:"message"`
	Kind     ErrorKind `json:"kind,omitempty"`
	ResetsAt time.Time `json:"resetsAt,omitzero"` // rate limits: when to try again, if said
	Refused  bool      `json:"refused,omitempty"` // the prompt wasn't taken: nothing was begun
}

// Topic is an <event topic="..." target="...">payload</event> block in a message.
type Topic struct {
	Topic   string `json:"topic"`
	Target  string `json:"target,omitempty"`
	Payload string `json:"payload"`
}

// TopicMiss is a topic that an agent seems to have meant to publish, and why it didn't:
// one sentence. Kind is the same for misses of the same kind.
type TopicMiss struct {
	Kind NearKind `json:"kind"`
	Why  string   `json:"why"`
}

// NearKind sorts near misses by what was wrong with them.
type NearKind string

// Denied says that the agent's own permission rules refused a tool call. It
// comes once for each.
type Denied struct {
	Denial
}

// Denial is a tool call that was refused.
type Denial struct {
	Tool   string `json:"tool"`
	ID     string `json:"id,omitempty"`
	Detail string `json:"detail,omitempty"` // the command or the path, shortened
}

// Heard says that the agent has read what it was told while it worked. One without a
// text may be about the prompt.
type Heard struct {
	ID   string `json:"id,omitempty"`   // under which it was told
	Text string `json:"text,omitempty"` // of agents that don't say the ID
}

// Question is something that the agent waits to be told. Nothing of the run goes on
// before it is answered.
type Question struct {
	ID          string          `json:"id"`
	Method      string          `json:"method"` // "confirm", "select", "input", "editor", "can_use_tool", "elicitation" and others of claude's
	Tool        string          `json:"tool,omitempty"`
	CallID      string          `json:"callId,omitempty"` // of the tool call that it is about
	Input       json.RawMessage `json:"input,omitempty"`  // of the tool, whole
	Title       string          `json:"title,omitempty"`
	Message     string          `json:"message,omitempty"`
	Options     []string        `json:"options,omitempty"`
	Placeholder string          `json:"placeholder,omitempty"`
	Prefill     string          `json:"prefill,omitempty"` // of "editor"

	// Yes and No are what an agent that names its answers wants to be told, "" for what it doesn't offer.
	Yes string `json:"-"`
	No  string `json:"-"`
}

// Withdrawn says that a question needs no answer any more.
type Withdrawn struct {
	ID string `json:"id"`
}

// Answered is what an agent says to a request of whoever drives it, and about nothing else.
type Answered struct {
	ID      string          `json:"id"`
	Result  json.RawMessage `json:"-"`
	Failure string          `json:"failure,omitempty"`
}

// Complete is the last event of a run; it comes once, when the stream is over.
type Complete struct {
	Result Result `json:"result"`
}

// Result is what a run came to, judged by its stream alone (the exit code is
// known to whoever started the process).
type Result struct {
	// Text is the authoritative text of the main agent's last message that has any.
	Text string `json:"text"`
	// EarlierPromise is the content of the first <promise> tag in an earlier
	// message, when there was one: it doesn't complete a loop, but explains why.
	EarlierPromise string `json:"earlierPromise,omitempty"`
	// Topics are those that the main agent's messages publish, in their order, each once.
	Topics      []Topic     `json:"topics,omitempty"`
	TopicMisses []TopicMiss `json:"topicMisses,omitempty"` // the first of each kind
	StopReason  string      `json:"stopReason,omitempty"`
	// Terminal: the agent said that it was done (a stream without structure never does).
	Terminal bool `json:"terminal"`
	// CutOff: the stream ended in mid-line.
	CutOff bool `json:"cutOff,omitempty"`
	// Failure is nil for a run that ended well.
	Failure   *Error        `json:"failure,omitempty"`
	Usage     Usage         `json:"usage"`
	Duration  time.Duration `json:"duration"` // wall-clock time from start to end of the stream, nanoseconds
	Turns     int           `json:"turns"`    // model calls
	ToolCalls int           `json:"toolCalls"`
	Denials   []Denial      `json:"denials,omitempty"`
	// AtWork is the tool that was at work when the stream ended, the last that had begun: "bash go test"; "" for none.
	AtWork string `json:"-"`
	// Rejected is the quota window that refused the last request, if one did.
	Rejected     *Quota `json:"rejected,omitempty"`
	SkippedLines int    `json:"skippedLines"` // malformed or over the limit
	// Ignored is what else of the output didn't count, and why: a sentence for people, "" for nothing.
	Ignored string `json:"ignored,omitempty"`
	Lines   int    `json:"lines"`
}

func (SessionStart) event() {}
func (Text) event()         {}
func (Thinking) event()     {}
func (MessageEnd) event()   {}
func (ToolCall) event()     {}
func (ToolProgress) event() {}
func (ToolResult) event()   {}
func (Usage) event()        {}
func (Retry) event()        {}
func (Quota) event()        {}
func (Compaction) event()   {}
func (TurnEnd) event()      {}
func (Error) event()        {}
func (Denied) event()       {}
func (Heard) event()        {}
func (Question) event()     {}
func (Withdrawn) event()    {}
func (Answered) event()     {}
func (Complete) event()     {}
