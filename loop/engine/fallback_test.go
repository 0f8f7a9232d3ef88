package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Who works is told by the names of the backends, in the order of the runs.
func TestFallbacks(t *testing.T) {
	limited, overloaded := fails(stream.KindRateLimit, "429"), fails(stream.KindOverloaded, "busy")
	quota := limited
	quota.result.Rejected = &stream.Quota{Window: "five_hour", Rejected: true}
	credits, network := fails(stream.KindQuota, "no credits"), fails(stream.KindNetwork, "Connection error.")
	noLogin := fails(stream.KindAuth, "not logged in")
	noLogin.result.Terminal = true
	done := says("<promise>DONE</promise>")
	long := withTime(says("on it"), 2*time.Minute)
	both := []setup.Fallback{{Role: agent("claude"), Model: "haiku"}, {Role: agent("gemini")}}
	for name, tt := range map[string]struct {
		fallbacks []setup.Fallback
		hats      []setup.Role
		runs      []run
		want      []string
		end       loop.StopReason
		within    time.Duration // it waited for less
		told      string
	}{
		"it works meanwhile":             {both, nil, []run{limited, says("a"), done}, []string{"pi", "claude", "claude"}, loop.StopPromise, 10 * time.Second, "claude with haiku works until "},
		"the own works again":            {both, nil, []run{limited, long, done}, []string{"pi", "claude", "pi"}, loop.StopPromise, 3 * time.Minute, "pi works again"},
		"the next one":                   {both, nil, []run{limited, limited, done}, []string{"pi", "claude", "gemini"}, loop.StopPromise, 10 * time.Second, "gemini works until "},
		"all are limited":                {both[:1], nil, []run{limited, overloaded, done}, []string{"pi", "claude", "claude"}, loop.StopPromise, 20 * time.Second, "waiting overloaded"},
		"it isn't for this":              {[]setup.Fallback{{Role: agent("claude"), On: []string{settings.OnQuota}}}, nil, []run{limited, done}, []string{"pi", "pi"}, loop.StopPromise, 2 * time.Minute, "waiting rate_limit"},
		"it is for this":                 {[]setup.Fallback{{Role: agent("claude"), On: []string{settings.OnQuota}}}, nil, []run{quota, done}, []string{"pi", "claude"}, loop.StopPromise, 10 * time.Second, "claude works until "},
		"credits that are used up":       {both, nil, []run{credits, says("a"), done}, []string{"pi", "claude", "claude"}, loop.StopPromise, 10 * time.Second, "claude with haiku works until "},
		"for credits":                    {[]setup.Fallback{{Role: agent("claude"), On: []string{settings.OnQuota}}}, nil, []run{credits, done}, []string{"pi", "claude"}, loop.StopPromise, 10 * time.Second, "claude works until "},
		"credits, and it is limited":     {both[:1], nil, []run{credits, limited, done}, []string{"pi", "claude", "claude"}, loop.StopPromise, 3 * time.Minute, "waiting rate_limit"},
		"it isn't for the network":       {[]setup.Fallback{{Role: agent("claude"), On: []string{settings.OnQuota}}}, nil, []run{says("a"), network, done}, []string{"pi", "pi", "pi"}, loop.StopPromise, 10 * time.Second, "waiting network"},
		"it is for the network":          {[]setup.Fallback{{Role: agent("claude"), On: []string{settings.OnNetwork}}}, nil, []run{says("a"), network, done}, []string{"pi", "pi", "claude"}, loop.StopPromise, 10 * time.Second, "claude works until "},
		"one that can't begin":           {both[:1], nil, []run{limited, noLogin, done}, []string{"pi", "claude", "pi"}, loop.StopPromise, 2 * time.Minute, "the fallback can't work: not logged in"},
		"a hat with an agent of its own": {both, []setup.Role{{Hat: hats.Hat{Name: "builder", Triggers: []string{hats.Start}}, Backend: agent("codex").Backend}}, []run{limited, done}, []string{"codex", "codex"}, loop.StopPromise, 2 * time.Minute, "waiting rate_limit"},
		"none":                           {nil, nil, []run{limited, done}, []string{"pi", "pi"}, loop.StopPromise, 2 * time.Minute, "waiting rate_limit"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				began := time.Now()
				r := start(t, func(c *setup.Config) {
					c.Fallbacks, c.Roles.Hats, c.Limits.MaxFailures = slices.Clone(tt.fallbacks), tt.hats, 1
					c.Limits.MaxIterations = 3 // what is refused is none
				}, tt.runs...)
				r.over(tt.end, len(tt.want))
				var got []string
				for _, s := range r.agents.specs {
					got = append(got, s.Backend.Name)
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("%v worked, want %v", got, tt.want)
				}
				if who := r.Status().Session.Backend; tt.hats == nil && who != got[len(got)-1] {
					t.Errorf("the status says that %s works", who)
				}
				if took := time.Since(began); took > tt.within {
					t.Errorf("it took %s", took)
				}
				if !r.log.has(tt.told) {
					t.Errorf("%q isn't told:\n%q", tt.told, r.log.lines)
				}
				for _, s := range r.agents.specs {
					if isHaiku := slices.Contains(s.Ours, "haiku"); isHaiku != (s.Backend.Name == "claude" && len(tt.fallbacks) > 0 && tt.fallbacks[0].Model != "") {
						t.Errorf("%s was told %v", s.Backend.Name, s.Ours)
					}
				}
			})
		})
	}
}

// agent is a role of a backend that is looked for, and never started.
func agent(name string) setup.Role {
	b, _ := backends.Lookup(name)
	b.Command = "/bin/true"
	return setup.Role{Backend: b}
}
