package start

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph-lsp/config"
	"ralph-lsp/internal/tell"
	"ralph-lsp/loop"
)

// tighten makes the limits of a state file no looser than the user's, but for
// what the start says, and tells what was not taken. A loop that the user
// started here keeps its limits; any other may be a stranger's.
func (r Resolver) tighten(cfg *loop.Config, found Found, files config.Files) {
	if files.KnowsLoop(found.LoopID) {
		return
	}
	c, own, said := &cfg.Change, r.Settings.Limits, found.Limits
	held := slices.DeleteFunc([]string{
		hold("max_iterations", "max-iterations", &c.MaxIterations, own.MaxIterations, said.MaxIterations),
		hold("max_cost_usd", "max-cost", &c.MaxCostUSD, own.MaxCostUSD, said.MaxCostUSD),
		hold("max_duration", "max-time", &c.MaxDuration, own.MaxDuration, said.MaxDuration),
		hold("idle_timeout", "idle-timeout", &c.IdleTimeout, own.IdleTimeout, said.IdleTimeout),
		hold("max_consecutive_failures", "max-failures", &c.MaxFailures, own.MaxConsecutiveFailures, said.MaxFailures),
	}, func(text string) bool { return text == "" })
	if len(held) > 0 {
		cfg.Warnings = append(cfg.Warnings, "the loop wasn't started here, so its state file can't loosen your limits: "+strings.Join(held, ", "))
	}
}

// isStrangersChoice says whether a state file that may be a stranger's chooses
// one of the user's hats, or another agent than the files name.
func (r Resolver) isStrangersChoice(named Agent, found Found, files config.Files) bool {
	isOther := named.Name != "" && r.Settings.Backend != config.Auto && named.Name != r.Settings.Backend
	return (named.Hat != "" || isOther) && !files.KnowsLoop(found.LoopID)
}

// Adopt lets the state file that is a start's prompt say what the start
// doesn't. One that isn't of the user's own loop loosens no limit; the warnings
// tell what was not taken.
func (r *Resolver) Adopt(says Options, isOwn bool) (warnings []string) {
	if !isOwn {
		own, _ := r.Editor.Limits.Over(r.filesLimits(), "")
		c, s := &says.Limits, r.Start.Limits
		held := slices.DeleteFunc([]string{
			drop("max_iterations", &c.MaxIterations, s.MaxIterations, own.MaxIterations),
			drop("max_cost_usd", &c.MaxCostUSD, s.MaxCostUSD, own.MaxCostUSD),
			drop("max_duration", &c.MaxDuration, s.MaxDuration, own.MaxDuration),
			drop("idle_timeout", &c.IdleTimeout, s.IdleTimeout, own.IdleTimeout),
			drop("max_consecutive_failures", &c.MaxFailures, s.MaxFailures, own.MaxFailures),
		}, func(text string) bool { return text == "" })
		if len(held) > 0 {
			warnings = append(warnings, "a state file can't loosen your limits: "+strings.Join(held, ", "))
		}
	}
	r.Start = r.Start.Over(says)
	return warnings
}

// drop takes a limit out of what a file says where the user's own is stricter
// and the start says nothing, and tells so.
func drop[T int | float64 | time.Duration](key string, said **T, start *T, own T) string {
	if start != nil || *said == nil || !isLooser(**said, own) {
		return ""
	}
	text := fmt.Sprintf("%s = %s is not taken, %s counts", key, limitText(**said), limitText(own))
	*said = nil
	return text
}

// isLooser compares limits; 0 is none.
func isLooser[T int | float64 | time.Duration](a, b T) bool {
	return b != 0 && (a == 0 || a > b)
}

// hold sets a limit to the user's own where the file's is looser and the start
// says nothing, and tells so.
func hold[T int | float64 | time.Duration](key, flag string, change **T, own, said T) string {
	if *change != nil || !isLooser(said, own) {
		return ""
	}
	*change = &own
	return fmt.Sprintf("%s = %s is not taken, %s counts (give --%s to change it)", key, limitText(said), limitText(own), flag)
}

// limitText writes a limit as a state file has it.
func limitText(v any) string {
	if d, ok := v.(time.Duration); ok {
		return tell.Duration(d)
	}
	return fmt.Sprint(v)
}
