package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

func newLand() *cobra.Command {
	var p wire.LandParams
	var l start.Landing
	var asJSON, describes bool
	cmd := &cobra.Command{
		Use:   "land [LOOP]",
		Short: "Bring what a loop did in its worktree to your branch",
		Long: `Merge the branch of a loop that worked in a git worktree into the branch that you are
on, and remove the worktree. What the loop hasn't committed is committed first. What
doesn't merge cleanly, or would touch what you haven't committed, is refused and changes
nothing. LOOP is a loop's id or its branch; with one worktree it needn't be named. No hook
runs, and nothing is pushed.`,
		Example: `  ralph-lsp land
  ralph-lsp land fix-the-parser --squash -m "Fix the parser"
  ralph-lsp land --dry-run
  ralph-lsp land --describe
  ralph-lsp land fix-the-parser --discard`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeTrees,
	}
	f := cmd.Flags()
	l.AddFlags(f)
	f.BoolVar(&p.Confirmed, "yes", false, "with --discard: don't ask")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	cli.AddDescribe(cmd, &describes)
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
		return landIn(cmd, dir, p, describes, asJSON)
	})
}

// landIn lands or discards a loop of a folder's repository, or describes what it did, and says so.
func landIn(cmd *cobra.Command, dir string, p wire.LandParams, describes, asJSON bool) error {
	kept, err := sessionsOf(cmd, dir)
	if err != nil {
		return err
	}
	tree, err := loop.FindTree(dir, p.LoopID, kept)
	if err != nil {
		return err
	}
	if describes {
		return describe(cmd, tree, asJSON)
	}
	said, err := landed(cmd, tree, p, kept)
	if err != nil {
		return landingFailed(cmd, p, err, asJSON)
	}
	if asJSON {
		terminal.WriteJSON(cmd.OutOrStdout(), said)
	} else {
		fmt.Fprintln(cmd.OutOrStdout(), terminal.Line(said.Text))
	}
	return nil
}

// describe prints what a pull request says of what a loop did.
func describe(cmd *cobra.Command, tree worktree.Tree, asJSON bool) error {
	seen, err := terminal.SeenIn(tree.Folder)
	if err == nil && seen.Status.Last == nil {
		err = fmt.Errorf("a description says how a loop ended, and none has in %s yet", tree.Folder)
	}
	if err != nil {
		return err
	}
	changed, err := worktree.Changes(cmd.Context(), tree, loop.OwnFilesIn(tree))
	if err != nil {
		return err
	}
	d := answers.Describe(answers.Work{Receipt: terminal.ReceiptOf(*seen.Status.Last), Changes: changed})
	if asJSON {
		terminal.WriteJSON(cmd.OutOrStdout(), map[string]string{"title": d.Title, "body": d.Body})
		return nil
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), d)
	return err
}

// landed lands or discards a loop's worktree. Before it discards one it asks, unless that is confirmed.
func landed(cmd *cobra.Command, tree worktree.Tree, p wire.LandParams, kept history.Options) (answers.LandResult, error) {
	ctx := cmd.Context()
	if !p.Discard {
		o, err := p.Options()
		if err != nil {
			return answers.LandResult{}, err
		}
		done, err := loop.Land(ctx, tree, o, kept)
		return answers.LandedOf(p, done), err
	}
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
