package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/worktree"
)

// lander lands branches of loops in a repository, one behind the other.
type lander struct {
	cmd  *cobra.Command
	repo string // its top
	o    worktree.LandOptions
	p    wire.LandParams
}

func newLand() *cobra.Command {
	loops := choice{what: "that is done", fits: func(r fleet.Record) bool {
		return r.Phase == fleet.Ended && loop.StopReason(r.StopReason).Ending().Class == loop.ClassOK
	}}
	l := lander{o: worktree.LandOptions{Keep: true}}
	var how start.Landing
	var describes bool
	cmd := &cobra.Command{
		Use:   "land LOOP...",
		Short: "Bring what loops have done to your branch, one behind the other",
		Long: `Fetch what loops have done, and merge it into the branch that you are on, one loop
behind the other as they are named, or as they were submitted. All of it is merged
beside your files first. One that conflicts, or would touch what you haven't committed,
doesn't land, and you are told with which loop it does: of named loops nothing lands then,
of --all-done and --label all that fit. The branches ralph/<name> stay. No hook runs, and
nothing is pushed.`,
		Example: `  ralph-fleet land make-the-tests-pass
  ralph-fleet land --label when=nightly --squash
  ralph-fleet land --all-done --dry-run`,
		RunE: func(cmd *cobra.Command, names []string) (err error) {
			l.cmd, l.o.DryRun, l.o.Message, l.p.DryRun = cmd, how.DryRun, how.Message, how.DryRun
			if l.o.How, err = how.How(); err != nil {
				return err
			}
			if l.repo, err = topOf(cmd.Context(), l.repo); err != nil {
				return err
			}
			return loops.with(cmd, names, func(ctx context.Context, bus fleet.Bus, found []fleet.Record) error {
				if len(names) == 0 {
					slices.SortFunc(found, func(a, b fleet.Record) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
				}
				trees, err := l.fetch(ctx, bus, found)
				switch {
				case err != nil || len(found) == 0:
					return err
				case describes:
					return l.describe(ctx, bus, found, trees)
				}
				return l.land(ctx, trees, len(names) == 0)
			})
		},
	}
	loops.addFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&loops.all, "all-done", false, "all loops that are done")
	f.StringVar(&l.repo, "into", ".", "the `FOLDER` of the repository")
	how.AddHow(f)
	f.BoolVar(&how.DryRun, "dry-run", false, "only say what would land")
	cli.AddDescribe(cmd, &describes)
	return cmd
}

// topOf is the top of the work tree that a folder is in.
func topOf(ctx context.Context, folder string) (string, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	program, err := git.Find()
	if err != nil {
		return "", err
	}
	top, err := git.Git{Program: program, Dir: dir}.Text(ctx, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", fmt.Errorf("%s is in no work tree of git: say where the repository is with --into", dir)
	}
	return filepath.FromSlash(top), nil
}

// fetch fetches loops, each as a branch.
func (l *lander) fetch(ctx context.Context, bus fleet.Bus, loops []fleet.Record) ([]worktree.Tree, error) {
	trees := make([]worktree.Tree, len(loops))
	for i, r := range loops {
		branch, err := fleet.Fetch(ctx, bus, r, l.repo)
		if err != nil {
			return nil, err
		}
		// Its worktree was on another machine: what there is is the branch.
		trees[i] = worktree.Tree{Path: filepath.Join(l.repo, ".git", "ralph-fleet", r.ID), Branch: branch, Repo: l.repo, Base: r.Base}
	}
	return trees, nil
}

// land lands loops, one behind the other: those that fit, or if all are wanted, all or none. The error has whatever
// doesn't land.
func (l *lander) land(ctx context.Context, trees []worktree.Tree, some bool) error {
	row, err := worktree.LandRow(ctx, trees, l.o, some)
	if err != nil {
		return err
	}
	for _, done := range row.Landed {
		fmt.Fprintln(l.cmd.OutOrStdout(), answers.LandedOf(l.p, done).Text)
	}
	if len(row.Refused) == 0 {
		return nil
	}
	refused := make([]error, len(row.Refused))
	for i, one := range row.Refused {
		refused[i] = one
	}
	what := fmt.Sprintf("of %s, %d can't land", tell.Counted(len(trees), "loop"), len(refused))
	if !some {
		what = answers.NothingLanded + what + "; name the others to land those"
	}
	return fmt.Errorf("%s\n%w", what, errors.Join(refused...))
}

// describe prints a pull request's title and body with what loops did.
func (l *lander) describe(ctx context.Context, bus fleet.Bus, loops []fleet.Record, trees []worktree.Tree) (err error) {
	done := make([]answers.Work, len(loops))
	for i, r := range loops {
		if done[i].Receipt, err = receiptOf(ctx, bus, r, ""); err == nil {
			done[i].Changes, err = worktree.Changes(ctx, trees[i], nil)
		}
		if err != nil {
			return err
		}
		done[i].Receipt.Title = cmp.Or(done[i].Receipt.Title, r.Name)
	}
	_, err = fmt.Fprint(l.cmd.OutOrStdout(), answers.Describe(done...))
	return err
}
