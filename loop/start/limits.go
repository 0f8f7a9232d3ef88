package start

import (
	"time"

	"github.com/spf13/pflag"

	"ralph-lsp/loop"
)

// Limits are the flags that bound a loop.
type Limits struct {
	iterations, failures Count
	cost                 USD
	duration, idle       Span
	Promise              string
}

// AddFlags adds them to a set, with the defaults of a new loop.
func (l *Limits) AddFlags(f *pflag.FlagSet) {
	d := loop.DefaultLimits()
	l.iterations, l.failures = Count(d.MaxIterations), Count(d.MaxFailures)
	l.duration, l.idle = Span(d.MaxDuration), Span(d.IdleTimeout)
	f.Var(&l.iterations, "max-iterations", "runs of the agent in total; 0 is no limit")
	f.StringVar(&l.Promise, "completion-promise", "", "the loop is done when the agent says <promise>`TEXT`</promise>")
	f.Var(&l.cost, "max-cost", "dollars that the loop may cost; 0 is no limit")
	f.Var(&l.duration, "max-time", "how long the loop may run; 0 is no limit")
	f.Var(&l.idle, "idle-timeout", "how long the agent may be silent; 0 is no limit")
	f.Var(&l.failures, "max-failures", "failed runs in a row that end the loop; 0 is no limit")
}

// Limits are all of them, for a loop that begins.
func (l *Limits) Limits() loop.Limits {
	return loop.Limits{
		MaxIterations: int(l.iterations),
		MaxCostUSD:    float64(l.cost),
		MaxDuration:   time.Duration(l.duration),
		IdleTimeout:   time.Duration(l.idle),
		MaxFailures:   int(l.failures),
	}
}

// Patch are those that were given in flags, for a loop that goes on.
func (l *Limits) Patch(flags *pflag.FlagSet) loop.Patch {
	all := l.Limits()
	var p loop.Patch
	changed := flags.Changed
	if changed("max-iterations") {
		p.MaxIterations = &all.MaxIterations
	}
	if changed("max-cost") {
		p.MaxCostUSD = &all.MaxCostUSD
	}
	if changed("max-time") {
		p.MaxDuration = &all.MaxDuration
	}
	if changed("idle-timeout") {
		p.IdleTimeout = &all.IdleTimeout
	}
	if changed("max-failures") {
		p.MaxFailures = &all.MaxFailures
	}
	if changed("completion-promise") {
		p.Promise = &l.Promise
	}
	return p
}
