package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/fleet/submitter"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// asSubmitter does something as the user's token says, if that may only submit.
func (b *busFlags) asSubmitter(cmd *cobra.Command, do func(ctx context.Context, c *submitter.Client) error) (isSubmitter bool, err error) {
	token, err := b.token()
	if err != nil || natsbus.SubmitterOf(token) == "" {
		return false, err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), dialPatience)
	defer cancel()
	o := b.reach(cmd.Name())
	o.Token = token
	line, err := natsbus.DialSubmitter(ctx, o)
	if err != nil {
		return true, err
	}
	defer line.Close()
	return true, do(cmd.Context(), &submitter.Client{Line: line.Ask})
}

// makeSubmitters reads the tokens of submitters, NAME=FILE each, or makes them.
func makeSubmitters(all []string) (tokens []string, err error) {
	for _, said := range all {
		token, err := makeSubmitter(said)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, nil
}

func makeSubmitter(said string) (token string, err error) {
	name, file, ok := strings.Cut(said, "=")
	if !ok {
		return "", fmt.Errorf("--submitter %s: say it as NAME=FILE", said)
	}
	token, err = natsbus.NewToken(name)
	if err == nil {
		err = makeFile(file, token)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if token = strings.TrimSpace(string(data)); err == nil && natsbus.SubmitterOf(token) != name {
		err = fmt.Errorf("%s has no token of it: name a file that isn't there, and it is made", file)
	}
	if err != nil {
		err = fmt.Errorf("the submitter %s: %w", name, err)
	}
	return token, err
}

// admit answers submitters until ctx is done.
func admit(ctx context.Context, bus *natsbus.Bus, o natsbus.ServeOptions) error {
	if len(o.Submitters) == 0 {
		return nil
	}
	dir := filepath.Join(o.Dir, "submitters")
	_, err := git.Find()
	if err := errors.Join(err, os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil { // what is there is of the last time
		return fmt.Errorf("what submitters send can't be checked: %w", err)
	}
	for _, token := range o.Submitters {
		desk := &submitter.Desk{Bus: bus, Name: natsbus.SubmitterOf(token), Dir: dir,
			Check: func(ctx context.Context, t *fleet.Task) error { return admissible(ctx, bus, t) }}
		if err := bus.Serve(ctx, desk.Name, desk.Answer); err != nil {
			return err
		}
	}
	return nil
}

// maySay are the flags of ralph-lsp run, beside limits, that a submitter may give: none of them loosens walls, has a
// program outside of them run, or needs somebody who answers.
var maySay = []string{"backend", "model", "no-instruct", "verify", "until", "no-verify", "sandbox"}

// admissible says which flags of a task a submitter may not give, and writes the others as submit does.
func admissible(ctx context.Context, bus fleet.Bus, t *fleet.Task) error {
	var flags loopFlags
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.addFlags(all)
	bounds := pflag.NewFlagSet("", pflag.ContinueOnError)
	start.AddLimits(bounds, &flags.said)
	if err := all.Parse(t.Flags); err != nil {
		return err
	}
	if all.NArg() > 0 {
		return fmt.Errorf("%q is no flag", all.Arg(0))
	}
	var problem error
	all.Visit(func(f *pflag.Flag) {
		if !slices.Contains(maySay, f.Name) && bounds.Lookup(f.Name) == nil {
			problem = fmt.Errorf("--%s isn't for submitters", f.Name)
		}
	})
	agent := flags.said.Agent
	switch {
	case problem != nil:
		return problem
	case slices.ContainsFunc(flags.given, func(flag string) bool {
		return strings.HasPrefix(flag, "--sandbox=") && flag != "--sandbox="+sandbox.Workspace
	}):
		return errors.New("a submitter's loops have walls: leave --sandbox out")
	case agent.Name != "" && agent.Name != config.Auto && !slices.Contains(backends.Names(), agent.Name):
		return fmt.Errorf("a submitter names one of the known agents (--backend %s)", strings.Join(backends.Names(), ", "))
	case strings.HasPrefix(agent.Model, "-"):
		return fmt.Errorf("%q is no model", agent.Model)
	}
	t.Flags = flags.given
	if limits := (fleet.Record{Task: *t}).Limits(); limits.MaxIterations <= 0 || limits.MaxDuration <= 0 {
		return errors.New("a submitter's loops have limits: --max-iterations and --max-time can't be 0")
	}
	q, err := join(ctx, bus, t, t.Labels[fleet.LabelSubmitter])
	if err != nil {
		return err
	}
	return flags.money(ctx, bus, *t, q, io.Discard)
}
