package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/worktree"
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
	f.BoolVar(&instead.branch, "branch", false, "land nothing: commit what isn't committed on the loop's branch, which stays, for the command of [land]")
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
	tree, err := loop.FindTree(dir, p.LoopID)
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
		said, err = discarded(cmd, tree, p)
	case instead.branch || instead.bundle != "":
		said, err = settled(cmd, tree, p, instead.bundle)
		branch = tree.Branch
	default:
		said, branch, err = landed(cmd, tree, p)
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
	d, err := descriptionOf(cmd, tree)
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

func descriptionOf(cmd *cobra.Command, tree worktree.Tree) (answers.Description, error) {
	seen, err := terminal.SeenIn(tree.Folder)
	if err == nil && seen.Last == nil {
		err = fmt.Errorf("a description says how a loop ended, and none has in %s yet", tree.Folder)
	}
	if err != nil {
		return answers.Description{}, err
	}
	changed, err := worktree.Changes(cmd.Context(), tree, loop.OwnFilesIn(tree))
	if err != nil {
		return answers.Description{}, err
	}
	return answers.Describe(answers.Work{Receipt: terminal.ReceiptOf(*seen.Last), Changes: changed}), nil
}

// writePatch writes what a loop did to a file, or prints it.
func writePatch(cmd *cobra.Command, tree worktree.Tree, file string) error {
	patch, err := worktree.Patch(cmd.Context(), tree, loop.OwnFilesIn(tree))
	if err != nil {
		return err
	}
	if out := cmd.OutOrStdout(); file == "-" {
		_, err = terminal.Raw(out).Write(terminal.ForReaders(out, patch))
		return err
	}
	return os.WriteFile(file, patch, 0o666)
}

// settled commits what isn't committed on the loop's branch, which stays.
func settled(cmd *cobra.Command, tree worktree.Tree, p wire.LandParams, bundle string) (answers.LandResult, error) {
	said := answers.LandResult{Text: tree.Branch + " has all of the loop's work; nothing landed", Class: wire.ClassOK}
	o, err := p.Options()
	if err == nil && bundle != "" {
		said.Text += ". " + bundle + " has the branch: git fetch " + tell.ShellWord(bundle) + " " + tell.ShellWord(tree.Branch)
		bundle, err = filepath.Abs(bundle)
	}
	if err == nil {
		err = loop.Settle(cmd.Context(), tree, o, bundle)
	}
	return said, err
}

// landed lands a loop's worktree, on a branch that is named where there was anything to land.
func landed(cmd *cobra.Command, tree worktree.Tree, p wire.LandParams) (said answers.LandResult, branch string, err error) {
	o, err := p.Options()
	if err != nil {
		return said, "", err
	}
	done, err := loop.Land(cmd.Context(), tree, o)
	if !done.Already {
		branch = done.Into
	}
	return answers.LandedOf(p, done), branch, err
}

// discarded discards a loop's worktree. Before, it asks, unless that is confirmed.
func discarded(cmd *cobra.Command, tree worktree.Tree, p wire.LandParams) (answers.LandResult, error) {
	ctx := cmd.Context()
	if !p.Confirmed {
		would, err := loop.Discard(ctx, tree, true)
		question := answers.DiscardQuestion(p, would)
		if err != nil || p.DryRun {
			return question, err
		}
		yes, asked := confirm(cmd, question.Text)
		if !asked {
			return question, fmt.Errorf("%s Nobody can be asked here; --yes answers", question.Text)
		}
		if !yes {
			return answers.NothingDiscarded(), nil
		}
	}
	done, err := loop.Discard(ctx, tree, false)
	return answers.DiscardedOf(done), err
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
