package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

func TestWhatAStartCannotHoldIsToldBeforeIt(t *testing.T) {
	tells := backends.Backend{Name: "pi", Output: decode.FormatPi}
	silent := backends.Backend{Name: "/opt/bin/mine", Output: decode.FormatText}
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"nothing": {func(*Config) {}, ""},
		"a check that isn't there yet": {func(c *Config) { c.Verification.Check = verify.Check{Shell: "./check"} },
			"./check, which verifies, isn't in the folder or can't be executed: until it can, no promise is verified"},
		"a check that setup brings": {func(c *Config) { c.Verification.Check, c.SetUp = verify.Check{Shell: "./check"}, true }, ""},
		"no cost":                   {func(c *Config) { c.Backend = silent }, "mine doesn't tell what a run costs, so the cost cap can't be enforced"},
		"no agent":                  {func(c *Config) { c.Backend = backends.Backend{} }, ""},
		"no cost, and no cap":       {func(c *Config) { c.Backend, c.Limits.MaxCostUSD = silent, 0 }, ""},
		"a step without cost": {func(c *Config) { c.Roles.Steps = [][]Role{{{Backend: tells}, {Backend: silent}}} },
			"mine doesn't tell what a run costs, so the cost cap can't be enforced"},
		"a reviewer without cost": {func(c *Config) {
			c.Verification.Check, c.Verification.Reviewer, c.Backend = verify.Check{Reviewer: "critic"}, Role{Backend: backends.Backend{Name: "codex", Output: decode.FormatCodex}}, silent
		}, "mine, codex don't tell what a run costs, so the cost cap can't be enforced"},
		"tasks that can't be done": {func(c *Config) {
			c.Values.Plan = "PLAN.md"
			os.WriteFile(filepath.Join(c.Folder, "PLAN.md"), []byte("- [ ] one\n- [ ] two (after: ten)\n- [x] three (verify: )\n- [ ] four (verify: )\n"), 0o600)
		}, `the loop can't do all of its plan: PLAN.md:2: after: there is no task "ten"; name one by its text or its number` + "\n" +
			"the loop can't do all of its plan: PLAN.md:4: verify: says nothing; write it, or leave the parentheses out"},
		"no snapshots": {func(c *Config) { c.Storage.Changes.Keep = 0 }, ""},
	} {
		c := Config{Folder: t.TempDir(), Backend: tells}
		c.Limits.MaxCostUSD, c.Limits.MaxUnchanged, c.Storage.Changes.Keep = 1, 5, time.Hour
		tt.change(&c)
		if got := c.Doubts(); strings.Join(got, "\n") != tt.want || slices.Contains(got, "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
