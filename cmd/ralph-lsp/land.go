package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

func newLand() *cobra.Command {
	var p wire.LandParams
	var l start.Landing
	var instead insteadOfLanding
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "land [LOOP]",
		Short: "Bring what a loop did in its worktree to your branch",
		Long: `Merge the branch of a loop that worked in a git worktree into the branch that you are
on, and remove the worktree. What the loop hasn't committed is committed first. What
doesn't merge cleanly, or would touch what you haven't committed, is refused and changes
nothing. LOOP is a loop's id or its branch; with one worktree it needn't be named. No hook
runs, and nothing is pushed, but by the command that [land] of your config.toml, or of a
trusted ralph.toml, names: it gets the branch with the work, and a pull request's text.`,
		Example: `  ralph-lsp land
  ralph-lsp land fix-the-parser --squash -m "Fix the parser"
  ralph-lsp land --dry-run
  ralph-lsp land --branch
  ralph-lsp land --describe
  ralph-lsp land fix-the-parser --discard`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeTrees,
	}
	f := cmd.Flags()
	l.AddFlags(f)
	f.BoolVar(&p.Confirmed, "yes", false, "with --discard: don't ask")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	cli.AddDescribe(cmd, &instead.describes)
	f.BoolVar(&instead.branch, "branch", false, "land nothing: commit what isn't committed on the loop's branch, which "+
		"stays, for the command of [land]")
	f.StringVar(&instead.patch, "patch", "", "land nothing: write what the loop changed to `FILE`, for git apply; - is standard output")
	f.StringVar(&instead.bundle, "bundle", "", "land nothing: commit as --branch does, and write the branch to `FILE`, for git fetch")
	cmd.MarkFlagsMutuallyExclusive("describe", "branch", "patch", "bundle")
	for _, name := range []string{"branch", "patch", "bundle"} {
		for _, other := range []string{"squash", "rebase", "keep", "discard", "dry-run", "yes"} {
			cmd.MarkFlagsMutuallyExclusive(name, other)
		}
	}
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		if p.Confirmed && !l.Discard {
			return errors.New("--yes answers the question of --discard; a landing asks nothing")
		}
		if e, ok := named(args); ok {
			dir = e.Folder
		}
		if len(args) > 0 {
			l.Name = args[0]
		}
		if err := p.Take(l); err != nil {
			return err
		}
		p.Folder = wire.FileURI(dir)
		return landIn(cmd, dir, p, instead, asJSON)
	})
}

// insteadOfLanding is what becomes of a loop's work that doesn't land.
type insteadOfLanding struct {
	describes, branch bool
	patch, bundle     string // files
}

// landIn lands or discards a loop of a folder's repository, or does something else with its work, and says so.
func landIn(cmd *cobra.Command, dir string, p wire.LandParams, instead insteadOfLanding, asJSON bool) error {
	for _, file := range []string{instead.patch, instead.bundle} {
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("%s is there already, and stays as it is", file)
		}
	}
	ctx := cmd.Context()
	tree, err := local.Tree(service.Which{LoopID: p.LoopID, Folders: []string{dir}})
	if err != nil {
		return err
	}
	switch {
	case instead.describes:
		return describe(cmd, tree, asJSON)
	case instead.patch != "":
		return writePatch(cmd, tree, instead.patch)
	}
	var follows follower
	if !p.Discard && !p.DryRun && instead.bundle == "" {
		follows, err = followerOf(cmd, tree)
		defer follows.close()
	}
	if err != nil {
		return err
	}
	var said answers.LandResult
	var branch string // that has landed work, for the command
	switch {
	case p.Discard:
		said, err = discard(cmd, tree, p)
	case instead.branch || instead.bundle != "":
		branch = tree.Branch
		said, err = local.Settle(ctx, tree, p, instead.bundle)
	default:
		said, branch, err = local.Land(ctx, tree, p)
	}
	if err != nil {
		return landingFailed(cmd, p, err, asJSON)
	}
	if asJSON {
		terminal.WriteJSON(cmd.OutOrStdout(), said)
	} else {
		fmt.Fprintln(cmd.OutOrStdout(), terminal.Line(said.Text))
	}
	return follows.run(cmd, branch, asJSON)
}

// describe prints what a pull request says of what a loop did.
func describe(cmd *cobra.Command, tree worktree.Tree, asJSON bool) error {
	d, err := local.Describe(cmd.Context(), tree, terminal.ReceiptOf)
	if err != nil {
		return err
	}
	if asJSON {
		terminal.WriteJSON(cmd.OutOrStdout(), map[string]string{"title": d.Title, "body": d.Body})
		return nil
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), d)
	return err
}

// writePatch writes what a loop did to a file, or prints it.
func writePatch(cmd *cobra.Command, tree worktree.Tree, file string) error {
	patch, err := local.TreePatch(cmd.Context(), tree)
	if err != nil {
		return err
	}
	if out := cmd.OutOrStdout(); file == "-" {
		_, err = terminal.Raw(out).Write(terminal.ForReaders(out, patch))
		return err
	}
	return os.WriteFile(file, patch, 0o666)
}

// discard discards a loop's worktree. Before, it asks, unless that is confirmed.
func discard(cmd *cobra.Command, tree worktree.Tree, p wire.LandParams) (answers.LandResult, error) {
	said, err := local.Discard(cmd.Context(), tree, p)
	if err != nil || p.Confirmed || p.DryRun {
		return said, err
	}
	switch yes, asked := confirm(cmd, said.Text); {
	case !asked:
		return said, fmt.Errorf("%s Nobody can be asked here; --yes answers", said.Text)
	case !yes:
		return answers.NothingDiscarded(), nil
	}
	p.Confirmed = true
	return local.Discard(cmd.Context(), tree, p)
}

// landingFailed says why nothing landed: the exit code is 1.
func landingFailed(cmd *cobra.Command, p wire.LandParams, err error, asJSON bool) error {
	refused, ok := errors.AsType[*worktree.Refused](err)
	if !ok {
		return err
	}
	said := answers.LandRefused(p, refused)
	if asJSON {
		terminal.WriteJSON(cmd.OutOrStdout(), said)
		return &exitError{terminal.ExitFailed, said.Text}
	}
	out := cmd.ErrOrStderr()
	for _, f := range said.Refused {
		fmt.Fprintln(out, terminal.PaletteFor(out).Yellow("in the way: ")+terminal.Line(f.Text))
	}
	for _, next := range refused.Fix {
		fmt.Fprintln(out, "to go on: "+terminal.Line(next))
	}
	return &exitError{terminal.ExitFailed, answers.NothingLanded + refused.Text}
}

// completeTrees offers the branches of the loops that have worktrees.
var completeTrees = offers(func(_ *cobra.Command, dir string, args []string, _ string) (branches []cobra.Completion) {
	for _, tree := range worktree.List(dir) {
		if len(args) == 0 {
			branches = append(branches, tree.Branch)
		}
	}
	return branches
})
