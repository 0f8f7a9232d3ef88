package fallback

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// loopWith is a policy with fallbacks by what each stands in for.
func loopWith(t *testing.T, on ...[]string) Policy {
	cfg := &setup.Config{}
	cfg.Backend.Name, cfg.Accounts.Path = "own", filepath.Join(t.TempDir(), "limited")
	for i, kinds := range on {
		f := setup.Fallback{Model: "m", On: kinds}
		f.Backend.Name = fmt.Sprint("fallback ", i+1)
		cfg.Fallbacks = append(cfg.Fallbacks, f)
	}
	return New(cfg)
}

func TestWhoWorks(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	all, quota := []string(nil), []string{settings.OnQuota}
	type limit struct {
		place int
		kind  string
		wait  time.Duration
	}
	for name, tt := range map[string]struct {
		on     [][]string
		limits []limit
		want   string
	}{
		"nobody is limited":               {[][]string{all}, nil, "0"},
		"no fallback":                     {nil, []limit{{0, settings.OnRateLimit, time.Minute}}, "0 in 1m0s"},
		"the first that can":              {[][]string{all, all}, []limit{{0, settings.OnRateLimit, time.Hour}}, "1"},
		"the next one":                    {[][]string{all, all}, []limit{{0, settings.OnRateLimit, time.Hour}, {1, "", time.Minute}}, "2"},
		"all are, and a fallback is next": {[][]string{all}, []limit{{0, settings.OnRateLimit, time.Hour}, {1, "", time.Minute}}, "0 in 1m0s"},
		"all are, and the own is next":    {[][]string{all}, []limit{{0, settings.OnRateLimit, time.Minute}, {1, "", time.Hour}}, "0 in 1m0s"},
		"a limit is over":                 {[][]string{all}, []limit{{0, settings.OnRateLimit, 0}}, "0"},
		"not for this":                    {[][]string{quota, all}, []limit{{0, settings.OnOverloaded, time.Hour}}, "2"},
		"for nothing of this":             {[][]string{quota}, []limit{{0, settings.OnOverloaded, time.Hour}}, "0 in 1h0m0s"},
		"for this":                        {[][]string{quota, all}, []limit{{0, settings.OnQuota, time.Hour}}, "1"},
		"what limits a fallback is no matter of the others": {[][]string{all, quota}, []limit{{0, settings.OnQuota, time.Hour}, {1, settings.OnOverloaded, time.Hour}}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			p := loopWith(t, tt.on...)
			for _, l := range tt.limits {
				p.limit(l.place, l.kind, now.Add(l.wait))
			}
			place, at := p.who(now)
			got := fmt.Sprint(place)
			if !at.IsZero() {
				got += " in " + at.Sub(now).String()
			}
			if got != tt.want {
				t.Errorf("it is %s, want %s", got, tt.want)
			}
		})
	}
}

// What a policy wants behind each run, with who works, for how long nobody does, and what is told.
func TestRunsAreSettled(t *testing.T) {
	limited := judge.Report{Outcome: loop.OutcomeError, Limited: true}
	unreached, broke := judge.Report{Outcome: loop.OutcomeError, Unreached: true}, judge.Report{Outcome: loop.OutcomeError, Broke: true}
	overloaded := judge.Report{Outcome: loop.OutcomeError, Overloaded: true}
	unstartable := judge.Report{Outcome: loop.OutcomeError, Problem: "no login", NeverBegan: true, Nobody: true, Unstartable: true}
	well := judge.Report{Outcome: loop.OutcomeOK}
	quota := []string{settings.OnQuota}
	for name, tt := range map[string]struct {
		on   [][]string
		role string // which does all runs; "": the loop's own agent
		runs []judge.Report
		want []string
	}{
		"no fallback":                   {nil, "", []judge.Report{limited, well}, []string{"own: rate_limit 1m0s", "own: "}},
		"it works meanwhile":            {[][]string{nil}, "", []judge.Report{limited, well}, []string{"own: ", "fallback 1: "}},
		"both are limited":              {[][]string{nil}, "", []judge.Report{limited, limited}, []string{"own: ", "fallback 1: rate_limit 1m0s"}},
		"it works while they wait":      {[][]string{nil}, "", []judge.Report{overloaded, well}, []string{"own: ", "fallback 1: "}},
		"and without the network":       {[][]string{nil}, "", []judge.Report{unreached, well}, []string{"own:  told", "fallback 1:  told"}},
		"it isn't for this":             {[][]string{quota}, "", []judge.Report{limited}, []string{"own: rate_limit 1m0s"}},
		"a role of its own":             {[][]string{nil}, "codex", []judge.Report{limited, limited}, []string{"codex: rate_limit 1m0s", "codex: rate_limit 1m0s"}},
		"no credits":                    {nil, "", []judge.Report{broke}, []string{"own: quota 1h0m0s"}},
		"no credits, and it is next":    {[][]string{nil}, "", []judge.Report{broke, limited}, []string{"own: ", "fallback 1: rate_limit 1m0s"}},
		"nobody has credits":            {[][]string{nil}, "", []judge.Report{broke, broke}, []string{"own: ", "fallback 1: quota 1h0m0s"}},
		"one has credits again":         {[][]string{nil}, "", []judge.Report{broke, well, limited}, []string{"own: ", "fallback 1: ", "fallback 1: rate_limit 1m0s"}},
		"one that can't begin":          {[][]string{nil}, "", []judge.Report{limited, unstartable}, []string{"own: ", "fallback 1: rate_limit 1m0s the fallback can't work: no login"}},
		"the own one that can't":        {[][]string{nil}, "", []judge.Report{unstartable}, []string{"own: backoff 1s"}},
		"the network, told of twice":    {nil, "", []judge.Report{unreached, unreached, well, well}, []string{"own: network 5s told", "own: network 5s", "own:  told", "own: "}},
		"a network that comes and goes": {nil, "", []judge.Report{unreached, well, unreached}, []string{"own: network 5s told", "own:  told", "own: network 5s told"}},
	} {
		t.Run(name, func(t *testing.T) {
			now, p := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), loopWith(t, tt.on...)
			var counts judge.Tally
			counts.RateLimits, counts.Unreached, counts.Failures = 1, 1, 1
			for i, r := range tt.runs {
				cfg := *p.cfg
				cfg.Backend.Name = cmp.Or(tt.role, cfg.Backend.Name)
				p.Begin()
				by, _ := p.Agent(cfg, true, now)
				p.After(&r)
				if isFit := by.Backend.Name == "own" || i == 0; r.NeverBegan && (r.Unfit == isFit || r.Nobody != isFit) {
					t.Errorf("it is unfit: %t, nobody's: %t", r.Unfit, r.Nobody)
				}
				pause, news := p.Settle(r, counts, now)
				got := by.Backend.Name + ": " + pause.Reason
				if pause.Reason == loop.WaitBackoff { // chance makes it longer or shorter
					got += " 1s"
				} else if pause.Reason != "" {
					got += " " + pause.Until.Sub(now).String()
				}
				for _, text := range news {
					if strings.Contains(text, "the provider") {
						text = "told"
					}
					got += " " + text
				}
				if got != tt.want[i] {
					t.Errorf("run %d: %q, want %q", i+1, got, tt.want[i])
				}
			}
		})
	}
}

// Each change of who works is told once.
func TestWhoWorksIsToldOnce(t *testing.T) {
	now, p := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), loopWith(t, nil)
	for i, want := range []string{"", "fallback 1 with m works until 12:02:00: own is limited until then", "", "own works again", ""} {
		if i == 1 {
			p.limit(0, settings.OnRateLimit, now.Add(2*time.Minute))
		}
		at := now.Add(time.Duration(i-1) * time.Minute)
		by, news := p.Agent(*p.cfg, true, at)
		if isOwn := i != 1 && i != 2; news != want || (by.Backend.Name == "own") != isOwn || (by.Model == "m") == isOwn {
			t.Errorf("%d: %s works with %q, and %q is told, want %q", i, by.Backend.Name, by.Model, news, want)
		}
	}
}

// What another loop was told of the account keeps a run from beginning, once. Who works alone tells others.
func TestLimitsThatOtherLoopsKnow(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	until := now.Add(3 * time.Hour)
	share := func(p Policy) (other Policy) {
		cfg := *p.cfg
		return New(&cfg)
	}
	first := loopWith(t)
	first.cfg.Accounts.Set(first.cfg.Account(), until)
	if at, why := first.Before(now); !at.Equal(until) || !strings.Contains(why, "the account of own is limited until") {
		t.Errorf("it waits until %s: %q", at, why)
	}
	if at, why := first.Before(now); why != "" || !at.IsZero() {
		t.Errorf("it waits again, until %s: %q", at, why)
	}
	second := share(first)
	second.cfg.Fallbacks = []setup.Fallback{{}}
	second = New(second.cfg)
	if at, why := second.Before(now); why != "" || !at.IsZero() {
		t.Errorf("although a fallback can work it waits until %s: %q", at, why)
	}
	if by, _ := second.Agent(*second.cfg, false, now); by.Backend.Name != "" {
		t.Errorf("%s works", by.Backend.Name)
	}
	third := share(first)
	for _, isSolo := range []bool{false, true} {
		third.Begin()
		third.Agent(*third.cfg, isSolo, now)
		third.After(&judge.Report{Outcome: loop.OutcomeOK})
		if isKnown := !first.cfg.Accounts.Until(first.cfg.Account(), now).IsZero(); isKnown == isSolo {
			t.Errorf("alone: %t, others know of a limit: %t", isSolo, isKnown)
		}
	}
}

func TestKindsOfLimits(t *testing.T) {
	var quota, credits judge.Report
	quota.Exit.Result.Rejected = &stream.Quota{Window: "five_hour"}
	credits.Exit.Result.Failure = &stream.Error{Kind: stream.KindQuota}
	for want, got := range map[string]string{
		settings.OnOverloaded:                            kindOf(judge.Report{Overloaded: true}, 2*time.Hour),
		settings.OnRateLimit:                             kindOf(judge.Report{}, time.Hour),
		settings.OnQuota:                                 kindOf(quota, time.Minute),
		settings.OnNetwork:                               kindOf(judge.Report{Unreached: true}, 2*time.Hour),
		settings.OnQuota + " of credits":                 kindOf(judge.Report{Broke: true}, time.Minute) + " of credits",
		settings.OnQuota + " of credits that come again": kindOf(credits, time.Minute) + " of credits that come again",
		settings.OnQuota + " by its length":              kindOf(judge.Report{}, time.Hour+time.Second) + " by its length",
	} {
		if got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}
