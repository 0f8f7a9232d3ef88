package start

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// AddLimits adds the flags that bound a loop to a set, with the defaults of a new loop.
func AddLimits(f *pflag.FlagSet, to *Options) { addLimits(f, &to.Values, nil) }

// addLimits adds them for a loop with the limits now; nil for a new one.
func addLimits(f *pflag.FlagSet, to *settings.Values, now *loop.Limits) {
	for _, flag := range settingFlags(true) {
		flag.addSetting(f, to, now)
		flag.Group.In(f, flag.Seldom, flag.Name)
	}
}

// LimitsIn returns the limits among a command line's flags that are written as --max-iterations=5. It ignores others, and
// values that it can't read.
func LimitsIn(flags []string) loop.Patch {
	var o Options
	own := newFlagSet()
	AddLimits(own, &o)
	for _, flag := range flags { // each by itself: one that can't be read would hide the others
		_ = own.Parse([]string{flag})
	}
	return o.Patch()
}

// FlagsOf are limits and a promise as flags, one word each.
func FlagsOf(p loop.Patch) []string { return settings.Values{Given: p.Given}.Flags("=") }

// ParseChange reads what a person types to change a loop with the limits now:
// flags, with quotes as in a shell, and values alone.
//
//	--max-iterations 80 --completion-promise "ALL DONE"
//	+10
//
// +10 adds to the present value. Commas may stand between values: "80, $7, 2h". A value alone is for the limit that the loop
// has reached. If it has reached none, dollars (also 0.5 and 0,5) are for the cost, a time is for the time, and any other
// number is for the iterations.
func ParseChange(text string, now loop.Limits, reached limits.Name) (loop.Patch, error) {
	var said settings.Values
	flags := newFlagSet()
	addLimits(flags, &said, &now)
	words, err := shellWords(text)
	if err != nil {
		return loop.Patch{}, err
	}
	if err := flags.Parse(words); err != nil {
		return loop.Patch{}, FlagError(flags, err, "there are "+flagNames(flags), "")
	}
	for _, value := range flags.Args() {
		value = strings.TrimSuffix(value, ",")
		limit := limitMeant(value, reached)
		if value == "0" {
			return loop.Patch{}, fmt.Errorf("0 would be %s; say --%s 0 for that", limit.Words(loop.Limits{}), limit.Flag)
		}
		if err := limit.SetFrom(now, &said.Given, value); err != nil {
			return loop.Patch{}, fmt.Errorf("the %s limit %w", limit.Name, err)
		}
	}
	return loop.Patch{Given: said.Given}, nil
}

// limitMeant is the limit that a value alone is one of.
func limitMeant(value string, reached limits.Name) limits.Limit {
	amount := strings.TrimPrefix(value, "+")
	name := limits.Iterations
	switch {
	case reached != "":
		name = reached
	case strings.TrimRight(amount, "dhms") != amount:
		name = limits.Time
	case strings.HasPrefix(amount, "$"), strings.ContainsAny(amount, ".,"):
		name = limits.Cost
	}
	limit, _ := limits.ByName(name)
	return limit
}

// flagNames lists the flags of a set: "--max-cost, --max-time".
func flagNames(flags *pflag.FlagSet) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return strings.Join(names, ", ")
}
