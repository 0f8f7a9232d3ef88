package setup

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

func TestWhatAStartCannotHoldIsToldBeforeIt(t *testing.T) {
	tells := backends.Backend{Name: "pi", Output: decode.FormatPi}
	silent := backends.Backend{Name: "/opt/bin/mine", Output: decode.FormatText}
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"nothing":                      {func(*Config) {}, ""},
		"a check that isn't there yet": {func(c *Config) { c.Verify = verify.Check{Shell: "./check"} }, "./check, which verifies, isn't in the folder or can't be executed: until it can, no promise is verified"},
		"a check that setup brings":    {func(c *Config) { c.Verify, c.SetUp = verify.Check{Shell: "./check"}, true }, ""},
		"no cost":                      {func(c *Config) { c.Backend = silent }, "mine doesn't tell what a run costs, so the cost cap can't be enforced"},
		"no cost, and no cap":          {func(c *Config) { c.Backend, c.Limits.MaxCostUSD = silent, 0 }, ""},
		"a step without cost":          {func(c *Config) { c.Steps = [][]Role{{{Backend: tells}, {Backend: silent}}} }, "mine doesn't tell what a run costs, so the cost cap can't be enforced"},
		"a reviewer without cost": {func(c *Config) {
			c.Verify, c.Reviewer, c.Backend = verify.Check{Reviewer: "critic"}, Role{Backend: backends.Backend{Name: "codex", Output: decode.FormatCodex}}, silent
		}, "mine, codex don't tell what a run costs, so the cost cap can't be enforced"},
		"no snapshots": {func(c *Config) { c.Changes.Keep = 0 }, ""},
	} {
		c := Config{Folder: t.TempDir(), Backend: tells}
		c.Limits.MaxCostUSD, c.Limits.MaxUnchanged, c.Changes.Keep = 1, 5, time.Hour
		tt.change(&c)
		if got := c.Doubts(); strings.Join(got, "\n") != tt.want || slices.Contains(got, "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
