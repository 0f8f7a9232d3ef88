package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// answering is a run of so many answers of a model, each of which takes a minute and costs the same.
func answering(n int, usd float64) run {
	r := run{pace: time.Minute, result: stream.Result{Text: "found", Turns: n}}
	for i := range n {
		end := stream.TurnEnd{StopReason: "toolUse"}
		if i == n-1 {
			end.StopReason = "stop"
		}
		r.result.Usage = stream.Usage{Cost: stream.USD(usd * float64(i+1))}
		r.events = append(r.events, r.result.Usage, end)
	}
	return r
}

// Who says nothing for long keeps nobody waiting for what an answer costs.
func TestNobodyWaitsForEverForTheFirstAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := answering(1, 0.1)
		slow.pace = time.Hour
		r, tr := crewed(t, []string{"a b c"}, func(c *setup.Config) {
			c.Limits.MaxCostUSD, c.Limits.MaxIterations, c.Limits.IdleTimeout = 2, 1, 0
		}, map[string][]run{"a": {slow}, "b": {slow}, "c": {slow}})
		if end := r.Wait(); end.Reason != loop.StopMaxIterations || tr.most != 3 || time.Duration(end.Duration) > time.Hour+3*time.Minute {
			t.Errorf("%+v, %d at once", end, tr.most)
		}
	})
}

// Eight agents at once had eight answers under way when the cap was reached.
func TestAgentsAtOnceGoBeyondTheCapByOneAnswer(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cap     float64
		answers int // of each agent
		usd     float64
		most    float64 // that may be spent
		least   float64
		atOnce  int // how many worked at once at most
		is      loop.StopReason
	}{
		{name: "dear answers", cap: 2, answers: 5, usd: 1, most: 3, least: 2, atOnce: 1, is: loop.StopMaxCost},
		{name: "one answer each", cap: 2, answers: 1, usd: 1, most: 3, least: 2, atOnce: 2, is: loop.StopMaxCost},
		{name: "cheap ones", cap: 2, answers: 5, usd: 0.1, most: 2.1, least: 1.2, atOnce: 8, is: loop.StopMaxCost},
		{name: "room for all", cap: 100, answers: 5, usd: 1, most: 40, least: 40, atOnce: 8, is: loop.StopMaxIterations},
		{name: "no cap", answers: 5, usd: 1, most: 40, least: 40, atOnce: 8, is: loop.StopMaxIterations},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				names, plays := []string{}, map[string][]run{}
				for i := range 8 {
					name := fmt.Sprintf("a%d", i)
					names, plays[name] = append(names, name), []run{answering(tt.answers, tt.usd)}
				}
				r, tr := crewed(t, []string{strings.Join(names, " ")}, func(c *setup.Config) {
					c.Limits.MaxCostUSD, c.Limits.MaxIterations, c.Limits.IdleTimeout, c.Roles.AtOnce = tt.cap, 1, 0, 8
				}, plays)
				end := r.Wait()
				if end.Reason != tt.is || end.Cost.USD > tt.most+1e-9 || end.Cost.USD < tt.least-1e-9 || tr.most != tt.atOnce {
					t.Errorf("%s at %v with %d at once, want %s between %v and %v with %d\n%s", end.Reason, end.Cost.USD, tr.most, tt.is, tt.least, tt.most, tt.atOnce, strings.Join(r.log.lines, "\n"))
				}
			})
		})
	}
}
