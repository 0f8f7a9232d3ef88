package fallback

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

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
			s := New(len(tt.on), func(i int) []string { return tt.on[i] })
			for _, l := range tt.limits {
				s.Limit(l.place, l.kind, now.Add(l.wait))
			}
			place, at := s.Who(now)
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

func TestKindsOfLimits(t *testing.T) {
	var quota, credits judge.Report
	quota.Exit.Result.Rejected = &stream.Quota{Window: "five_hour"}
	credits.Exit.Result.Failure = &stream.Error{Kind: stream.KindQuota}
	for want, got := range map[string]string{
		settings.OnOverloaded:                            KindOf(judge.Report{Overloaded: true}, 2*time.Hour),
		settings.OnRateLimit:                             KindOf(judge.Report{}, time.Hour),
		settings.OnQuota:                                 KindOf(quota, time.Minute),
		settings.OnNetwork:                               KindOf(judge.Report{Unreached: true}, 2*time.Hour),
		settings.OnQuota + " of credits":                 KindOf(judge.Report{Broke: true}, time.Minute) + " of credits",
		settings.OnQuota + " of credits that come again": KindOf(credits, time.Minute) + " of credits that come again",
		settings.OnQuota + " by its length":              KindOf(judge.Report{}, time.Hour+time.Second) + " by its length",
	} {
		if got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}
