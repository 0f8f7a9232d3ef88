package start

import (
	"cmp"
	"context"
	"errors"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// Check is what a start says of how promises are verified.
type Check struct {
	Verify string // a command that the shell runs when the agent promises
	Until  string // one that ends the loop when it passes, without any promise
	Off    bool   // nothing is verified, whatever the files say
}

// over returns the check in force: c, and what c doesn't say from below, the check of the files or of a loop that goes on.
func (c Check) over(below verify.Check) (verify.Check, error) {
	said := below
	said.Command = nil
	switch {
	case c.Off && (c.Verify != "" || c.Until != ""), c.Verify != "" && c.Until != "":
		return below, errors.New("--verify, --until and --no-verify exclude each other; leave all but one out")
	case c.Off:
		return verify.Check{}, nil
	case c.Until != "":
		said.Shell, said.When = c.Until, verify.OnUntil
	case c.Verify != "":
		said.Shell = c.Verify
		if said.When == verify.OnUntil || said.When == "" {
			said.When = verify.OnPromise
		}
	default:
		return below, nil
	}
	return said, said.Validate()
}

// GateSource is the name of a gate in Sources.
func GateSource(g verify.Gate) string {
	if g == verify.CommandGate {
		return "verify"
	}
	return string(g)
}

// gateSources tells who wants the gates besides the command.
func (r Resolver) gateSources(check verify.Check, to Sources) {
	for _, g := range verify.Gates() {
		if g != verify.CommandGate && check.Has(g) {
			to[GateSource(g)] = r.Settings.Source("verify." + string(g))
		}
	}
}

// verify sets how the promises of a loop are verified, and tells who says so.
func (r Resolver) verify(ctx context.Context, cfg *setup.Config, to Sources) (err error) {
	to["verify"] = cmp.Or(r.Settings.Source("verify.command"), config.FromDefault)
	if r.Start.Check != (Check{}) {
		to["verify"] = config.FromStart
	}
	if cfg.Verification.Check, err = r.Start.Check.over(r.Settings.Verify); err != nil {
		return err
	}
	r.gateSources(cfg.Verification.Check, to)
	if r.Was == nil {
		cfg.Verification.Suggested = r.suggest(cfg.Verification.Check)
		cfg.SetUp = r.Start.Tree.Wanted && len(r.Settings.Worktree.Setup) > 0
	}
	cfg.Verification.Reviewer, err = r.Reviewer(ctx, cfg.Verification.Check)
	return err
}

// suggest is a check that the folder has, where no command verifies and none is refused.
func (r Resolver) suggest(check verify.Check) verify.Suggestion {
	if check.Has(verify.CommandGate) || r.Start.Check.Off {
		return verify.Suggestion{}
	}
	return verify.Suggest(r.Settings.Files.Folder)
}
