// Package limits has what can bound a loop: one table with the name of each
// limit in every place that knows it, its unit, its default and its words. Its
// rows are rows of internal/settings, from which all else is derived.
package limits

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Limits bound a loop. 0 is no limit.
type Limits struct {
	MaxIterations int           // runs in total
	MaxCostUSD    float64       // dollars, over all iterations
	MaxDuration   time.Duration // time spent running, without waits and pauses
	IdleTimeout   time.Duration // of one run without any output
	ToolTimeout   time.Duration // the same while a tool of it is at work, where that is longer
	MaxFailures   int           // failed iterations in a row
	MaxUnchanged  int           // iterations in a row that brought nothing new
	MaxUnknown    int           // runs in a row of unknown cost, where the cost is limited
}

// Given are the limits that a file, a flag or a user gives, and the promise that ends the loop; nil gives none. Its JSON is
// that of messages and session files.
type Given struct {
	MaxIterations *int      `json:"maxIterations,omitempty"`
	MaxCostUSD    *float64  `json:"maxCostUsd,omitempty"`
	MaxDuration   *Duration `json:"maxDurationMs,omitempty"`
	IdleTimeout   *Duration `json:"idleTimeoutMs,omitempty"`
	ToolTimeout   *Duration `json:"toolTimeoutMs,omitempty"`
	MaxFailures   *int      `json:"maxConsecutiveFailures,omitempty"`
	MaxUnchanged  *int      `json:"maxUnchangedIterations,omitempty"`
	MaxUnknown    *int      `json:"maxUnknownCostRuns,omitempty"`
	Promise       *string   `json:"completionPromise,omitempty"` // "": there is none
}

// Limit describes one limit.
type Limit struct {
	Name    Name
	Key     string // in the state file, and in ralph.toml below [limits]
	Wire    string // in messages and session files; times are milliseconds there
	Flag    string // on the command line, without dashes
	Unit    Unit
	Default string   // as a flag has it; "" is no limit
	Samples []string // values to suggest, as a flag has them
	Usage   string   // the flag's help, whose first part ends at a semicolon
	Seldom  bool     // the first help doesn't show the flag
	Doc     string   // one sentence or two, Markdown
	Zero    string   // what 0 means
	With    Name     // the limit without which this one is about nothing; "" is none
	Usual   bool     // people are told of it only where it isn't the default
	field
}

// Name is what a limit is called: "the iteration limit".
type Name string

// The names.
const (
	Iterations Name = "iteration"
	Cost       Name = "cost"
	Time       Name = "time"
	Silence    Name = "silence"
	Tool       Name = "quiet tool"
	Failures   Name = "failure"
	Progress   Name = "progress"
	Unknown    Name = "unknown cost"
)

var table = []Limit{
	{
		Name: Iterations, Key: "max_iterations", Wire: "maxIterations", Flag: "max-iterations", Unit: Count,
		Default: "50", Samples: []string{"50", "20", "100"}, Zero: "no limit",
		Usage: "runs of the agent in total; 0 is no limit",
		Doc:   "How often the agent runs in total.",
		field: fieldOf[int]{
			counts, func(l *Limits) *int { return &l.MaxIterations }, func(g *Given) **int { return &g.MaxIterations },
			func(n int) string { return format.Counted(n, "iteration") }, "", "no limit of iterations",
		},
	}, {
		Name: Cost, Key: "max_cost_usd", Wire: "maxCostUsd", Flag: "max-cost", Unit: USD,
		Samples: []string{"5.0", "10.0"}, Zero: "no limit",
		Usage: "dollars that the loop may cost; 0 is no limit",
		Doc:   "What the whole loop may cost, in US dollars. A run that would go over it is stopped.",
		field: fieldOf[float64]{
			dollars, func(l *Limits) *float64 { return &l.MaxCostUSD }, func(g *Given) **float64 { return &g.MaxCostUSD },
			format.USD, "", "no limit of cost",
		},
	}, {
		Name: Time, Key: "max_duration", Wire: "maxDurationMs", Flag: "max-time", Unit: Span,
		Default: "4h", Samples: []string{"4h", "1h", "90m"}, Zero: "no limit",
		Usage: "how long the loop may run; 0 is no limit",
		Doc:   "How long the loop may run; waits and pauses don't count.",
		field: fieldOf[Duration]{
			spans, func(l *Limits) *Duration { return (*Duration)(&l.MaxDuration) }, func(g *Given) **Duration { return &g.MaxDuration },
			Duration.String, " of running", "no limit of time",
		},
	}, {
		Name: Silence, Key: "idle_timeout", Wire: "idleTimeoutMs", Flag: "idle-timeout", Unit: Span,
		Default: "10m", Samples: []string{"10m", "5m", "30m"}, Zero: "an agent may be silent for ever",
		Usage: "how long the agent may be silent; 0 is no limit",
		Doc:   "How long an agent may print nothing before its run is stopped.",
		field: fieldOf[Duration]{
			spans, func(l *Limits) *Duration { return (*Duration)(&l.IdleTimeout) }, func(g *Given) **Duration { return &g.IdleTimeout },
			Duration.String, " of silence", "no limit of silence",
		},
	}, {
		Name: Tool, Key: "tool_timeout", Wire: "toolTimeoutMs", Flag: "tool-timeout", Unit: Span, With: Silence, Seldom: true, Usual: true,
		Default: "1h", Samples: []string{"1h", "30m", "3h"}, Zero: "a tool may be quiet for ever",
		Usage: "how long a tool may be quiet, where that is longer than --idle-timeout; 0 is no limit",
		Doc: "How long an agent may print nothing while a tool of it is at work, where that is longer than `idle_timeout`. " +
			"What computes isn't quiet.",
		field: fieldOf[Duration]{
			spans, func(l *Limits) *Duration { return (*Duration)(&l.ToolTimeout) }, func(g *Given) **Duration { return &g.ToolTimeout },
			Duration.String, " of a quiet tool", "no limit of quiet tools",
		},
	}, {
		Name: Failures, Key: "max_consecutive_failures", Wire: "maxConsecutiveFailures", Flag: "max-failures", Unit: Count,
		Default: "5", Samples: []string{"5", "3"}, Zero: "no limit",
		Usage: "failed runs in a row; 0 is no limit",
		Doc:   "How many iterations in a row may fail.",
		field: fieldOf[int]{
			counts, func(l *Limits) *int { return &l.MaxFailures }, func(g *Given) **int { return &g.MaxFailures },
			func(n int) string { return format.Counted(n, "failure") }, " in a row", "no limit of failures",
		},
	}, {
		Name: Progress, Key: "max_unchanged_iterations", Wire: "maxUnchangedIterations", Flag: "max-unchanged-iterations",
		Unit: Count, Seldom: true,
		Default: "5", Samples: []string{"5", "10"}, Zero: "a loop may turn in circles",
		Usage: "iterations in a row without progress; 0 is no limit",
		Doc: "How many iterations in a row may bring nothing new: no file changed and nothing promised, an earlier state of " +
			"the files again, or a promise refuted as before.",
		field: fieldOf[int]{
			counts, func(l *Limits) *int { return &l.MaxUnchanged }, func(g *Given) **int { return &g.MaxUnchanged },
			func(n int) string { return format.Counted(n, "iteration") }, " without progress", "no limit of circles",
		},
	}, {
		Name: Unknown, Key: "max_unknown_cost_runs", Wire: "maxUnknownCostRuns", Flag: "max-unknown-cost-runs", Unit: Count,
		With: Cost, Seldom: true,
		Default: "3", Samples: []string{"3", "1"}, Zero: "the loop never pauses for that",
		Usage: "runs in a row of unknown cost; a loop with --max-cost pauses then, and 0 is never",
		Doc:   "How many runs in a row may be of unknown cost, where `max_cost_usd` is set; then the loop pauses, since the limit can't be kept.",
		field: fieldOf[int]{
			counts, func(l *Limits) *int { return &l.MaxUnknown }, func(g *Given) **int { return &g.MaxUnknown },
			func(n int) string { return format.Counted(n, "run") }, " of unknown cost", "no limit of runs of unknown cost",
		},
	},
}

// All returns the limits in the order in which people are told of them.
func All() []Limit { return slices.Clone(table) }

// IsTold says whether people are told of a limit: what isn't limited isn't, but for the iterations.
func (l Limit) IsTold(all Limits) bool {
	if with, ok := ByName(l.With); ok && with.IsZero(all) {
		return false
	}
	if l.Usual && l.Text(all) == l.Default {
		return false
	}
	return l.Name == Iterations || !l.IsZero(all)
}

// ByKey returns the limit that the state file and ralph.toml know by a key.
func ByKey(key string) (Limit, bool) {
	return find(func(l Limit) bool { return l.Key == key })
}

// ByName returns the limit with a name.
func ByName(name Name) (Limit, bool) {
	return find(func(l Limit) bool { return l.Name == name })
}

// ByWire returns the limit that messages know by a key.
func ByWire(key string) (Limit, bool) {
	return find(func(l Limit) bool { return l.Wire == key })
}

func find(is func(Limit) bool) (Limit, bool) {
	if i := slices.IndexFunc(table, is); i >= 0 {
		return table[i], true
	}
	return Limit{}, false
}

// forEver is longer than any run.
const forEver = 1000 * time.Hour

// Patience is for how long beyond IdleTimeout a run may print nothing while a tool of it is at work.
func (l Limits) Patience() time.Duration {
	if l.ToolTimeout == 0 {
		return forEver
	}
	return max(l.ToolTimeout-l.IdleTimeout, 0)
}

// Unbounded warns of a loop without a limit on iterations, a promise and a budget.
const Unbounded = "without a limit, a promise and a budget hardly anything ends the loop; set one of them"

// Default returns the limits of a loop whose user says nothing.
func Default() Limits {
	var g Given
	for _, l := range table {
		if l.Default == "" {
			continue
		}
		if err := l.Set(&g, l.Default); err != nil {
			panic("the default of " + l.Key + " " + err.Error())
		}
	}
	return g.Over(Limits{})
}

// Over returns limits with those that are given in their place. It is about no promise.
func (g Given) Over(l Limits) Limits {
	for _, limit := range table {
		limit.over(&l, g)
	}
	return l
}

// Or returns what is given, and for the rest what another one gives.
func (g Given) Or(other Given) Given {
	for _, limit := range table {
		if !limit.IsIn(g) {
			limit.Copy(&g, other)
		}
	}
	if g.Promise == nil && other.Promise != nil {
		g.Promise = new(*other.Promise)
	}
	return g
}

// CompletionPromise is the promise that is given, "" for none.
func (g Given) CompletionPromise() string {
	if g.Promise == nil {
		return ""
	}
	return *g.Promise
}

// Clone returns a copy that shares no memory with g.
func (g Given) Clone() Given { return Given{}.Or(g) }

// All returns all of the limits as given, those that are 0 among them.
func (l Limits) All() Given {
	var g Given
	for _, limit := range table {
		limit.Take(&g, l)
	}
	return g
}

// Raise doubles a limit that was reached until there is room above what was
// used. It returns the change, and the new limit in words: "100 iterations". A
// limit that is none stays.
func (l Limits) Raise(reached Name, used Limits) (change Given, words string) {
	limit, _ := ByName(reached)
	change = limit.raised(l, used)
	return change, limit.Amount(change.Over(l))
}

// Given returns those of the limits that bound something.
func (l Limits) Given() Given {
	var g Given
	for _, limit := range table {
		if !limit.IsZero(l) {
			limit.Take(&g, l)
		}
	}
	return g
}

// Check says what is wrong with a limit. Errors are of type *Error.
func (l Limits) Check() error {
	for _, limit := range table {
		if err := limit.Check(l); err != nil {
			return &Error{limit.Wire, limit.Key, err}
		}
	}
	return nil
}

// Error says what is wrong with a limit, or with another setting.
type Error struct {
	Wire string // its name on the wire
	Name string // its name where it was said
	Err  error  // completes "NAME ..."
}

func (e *Error) Error() string { return e.Name + " " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Texts are the limits in words: "50 iterations", "$5.00", "4h of running". Of what
// isn't limited only the iterations are named.
func (l Limits) Texts() []string {
	var texts []string
	for _, limit := range table {
		if limit.IsTold(l) {
			texts = append(texts, limit.Words(l))
		}
	}
	return texts
}

// Line says in one line what bounds a loop with a promise; "" is none.
func (l Limits) Line(promise string) string {
	facts := l.Texts()
	if promise != "" {
		facts = append(facts, "promise "+promise)
	}
	return strings.Join(facts, " · ")
}
