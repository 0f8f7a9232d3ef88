package start

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

func TestEachLimitHasAFlagAndASource(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddLimits(flags, new(Options))
	_, sources := resolve(t, Resolver{Settings: settingsOf(t, "")})
	for _, s := range settings.All() {
		if sources[s.Wire] == "" {
			t.Errorf("%s comes from nowhere", s.Wire)
		}
	}
	for _, limit := range limits.All() {
		flag := flags.Lookup(limit.Flag)
		if flag == nil || flag.Value.Type() == "" || flag.DefValue == "" {
			t.Errorf("--%s: %+v", limit.Flag, flag)
		}
		if sources[limit.Wire] == "" {
			t.Errorf("%s comes from nowhere", limit.Wire)
		}
	}
}

func TestWhatIsTypedChangesALoop(t *testing.T) {
	now := loop.Limits{MaxIterations: 50, MaxCostUSD: 5, MaxDuration: time.Hour}
	given := func(g limits.Given) loop.Patch { return loop.Patch{Given: g} }
	for _, tt := range []struct {
		text    string
		reached limits.Name
		want    loop.Patch
		problem string
	}{
		{text: "", want: loop.Patch{}},
		{text: " --max-iterations=80 --max-time 2h ", want: given(limits.Given{MaxIterations: new(80), MaxDuration: new(limits.Duration(2 * time.Hour))})},
		{text: `--completion-promise "ALL DONE" --max-failures 0`, want: loop.Patch{Given: limits.Given{MaxFailures: new(0), Promise: new("ALL DONE")}}},
		{text: "--max-cost +2.50", want: given(limits.Given{MaxCostUSD: new(7.5)})},
		{text: "+10", want: given(limits.Given{MaxIterations: new(60)})},
		{text: "80", want: given(limits.Given{MaxIterations: new(80)})},
		{text: "$7", want: given(limits.Given{MaxCostUSD: new(7.0)})},
		{text: "+30m", want: given(limits.Given{MaxDuration: new(limits.Duration(90 * time.Minute))})},
		{text: "80 $7 2h", want: given(limits.Given{MaxIterations: new(80), MaxCostUSD: new(7.0), MaxDuration: new(limits.Duration(2 * time.Hour))})},
		{text: "80, $7,  2h", want: given(limits.Given{MaxIterations: new(80), MaxCostUSD: new(7.0), MaxDuration: new(limits.Duration(2 * time.Hour))})},
		{text: "0,5", want: given(limits.Given{MaxCostUSD: new(0.5)})},
		{text: "$2,50 1.5h", want: given(limits.Given{MaxCostUSD: new(2.5), MaxDuration: new(limits.Duration(90 * time.Minute))})},
		{text: "2d", want: given(limits.Given{MaxDuration: new(limits.Duration(48 * time.Hour))})},
		{text: "$1,000", problem: `the cost limit is "$1,000"; write an amount in US dollars`},
		{text: "7", reached: limits.Cost, want: given(limits.Given{MaxCostUSD: new(7.0)})},
		{text: "+$2", reached: limits.Cost, want: given(limits.Given{MaxCostUSD: new(7.0)})},
		{text: "2", reached: limits.Time, problem: `the time limit is "2"; write it with its unit: 2s, 2m or 2h`},
		{text: "2h", reached: limits.Iterations, problem: `the iteration limit is "2h"; write a whole number`},
		{text: "0", reached: limits.Cost, problem: "0 would be no limit of cost; say --max-cost 0 for that"},
		{text: "--max-failures +1", problem: `--max-failures is "+1", and there is nothing to add to; write a whole number`},
		{text: "more", problem: `the iteration limit is "more"; write a whole number`},
		{text: "--max-iteration 3", problem: "unknown flag --max-iteration; did you mean --max-iterations?"},
		{text: "--backend pi", problem: "unknown flag --backend; there are --completion-promise, --idle-timeout, --max-cost"},
		{text: "--max-time", problem: "--max-time needs a value"},
		{text: `"80`, problem: `a quote " is opened`},
	} {
		got, err := ParseChange(tt.text, now, tt.reached)
		if err != nil && (tt.problem == "" || !strings.Contains(err.Error(), tt.problem)) || err == nil && tt.problem != "" {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.problem)
			continue
		}
		if err != nil {
			continue
		}
		was, promise := tt.want.Over(now, "-")
		if l, p := got.Over(now, "-"); l != was || p != promise {
			t.Errorf("%q: got %+v %q, want %+v %q", tt.text, l, p, was, promise)
		}
	}
}
