package main

import (
	"time"

	"github.com/spf13/cobra"

	"ralph-lsp/loop"
)

// limitFlags bound a loop.
type limitFlags struct {
	iterations, failures count
	cost                 usd
	duration, idle       span
	promise              string
}

func (l *limitFlags) addFlags(cmd *cobra.Command) {
	d := loop.DefaultLimits()
	l.iterations, l.failures = count(d.MaxIterations), count(d.MaxFailures)
	l.duration, l.idle = span(d.MaxDuration), span(d.IdleTimeout)
	f := cmd.Flags()
	f.Var(&l.iterations, "max-iterations", "runs of the agent in total; 0 is no limit")
	f.StringVar(&l.promise, "completion-promise", "", "the loop is done when the agent says <promise>`TEXT`</promise>")
	f.Var(&l.cost, "max-cost", "dollars that the loop may cost; 0 is no limit")
	f.Var(&l.duration, "max-time", "how long the loop may run; 0 is no limit")
	f.Var(&l.idle, "idle-timeout", "how long the agent may be silent; 0 is no limit")
	f.Var(&l.failures, "max-failures", "failed runs in a row that end the loop; 0 is no limit")
}

// limits are all of them, for a loop that begins.
func (l *limitFlags) limits() loop.Limits {
	return loop.Limits{
		MaxIterations: int(l.iterations),
		MaxCostUSD:    float64(l.cost),
		MaxDuration:   time.Duration(l.duration),
		IdleTimeout:   time.Duration(l.idle),
		MaxFailures:   int(l.failures),
	}
}

// patch are those that were given, for a loop that goes on.
func (l *limitFlags) patch(cmd *cobra.Command) loop.Patch {
	all := l.limits()
	var p loop.Patch
	changed := cmd.Flags().Changed
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
		p.Promise = &l.promise
	}
	return p
}
