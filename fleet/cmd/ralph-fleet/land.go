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
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// lander lands branches of loops in a repository, one behind the other.
type lander struct {
	cmd  *cobra.Command
	repo string // its top
	o    worktree.LandOptions
	p    wire.LandParams

	some   bool           // what fits lands, whatever becomes of the rest
	loops  []fleet.Record // that are fetched
	trees  []worktree.Tree
	failed []error // one of each loop that can't be fetched or doesn't fit
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
				if l.some = len(names) == 0; l.some {
					slices.SortFunc(found, func(a, b fleet.Record) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
				}
				if err := l.lookAt(ctx, found); err != nil && !describes {
					return err
				}
				if err := l.fetch(ctx, bus, found); err != nil || len(found) == 0 {
					return err
				}
				if describes {
					return l.describe(ctx, bus)
				}
				return l.land(ctx)
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

// lookAt refuses a repository that is on the branch of one of the loops. Git can't move that branch, so a loop that went
// on would get another one, and the rest would land on the old one.
func (l *lander) lookAt(ctx context.Context, loops []fleet.Record) error {
	on, branch := fleet.LoopIn(ctx, l.repo)
	if !slices.ContainsFunc(loops, func(r fleet.Record) bool { return r.ID == on }) {
		return nil
	}
	return fmt.Errorf("%s is on the loop's own branch %s; git -C %s switch BRANCH, then land again", l.repo, branch, format.ShellWord(l.repo))
}

// fetch fetches loops, each as a branch: those that it can if some will do, else all.
func (l *lander) fetch(ctx context.Context, bus fleet.Bus, loops []fleet.Record) error {
	for _, r := range loops {
		branch, err := fleet.Fetch(ctx, bus, r, l.repo)
		switch {
		case err != nil && (!l.some || ctx.Err() != nil):
			return err
		case err != nil:
			l.failed = append(l.failed, err)
			continue
		}
		// Its worktree was on another machine: what there is is the branch.
		path := filepath.Join(l.repo, ".git", "ralph-fleet", r.ID)
		l.loops = append(l.loops, r)
		l.trees = append(l.trees, worktree.Tree{Path: path, Branch: branch, Repo: l.repo, Base: r.Base})
	}
	return nil
}

// land lands what is fetched, one loop behind the other. The error has whatever doesn't land.
func (l *lander) land(ctx context.Context) error {
	row, err := worktree.LandRow(ctx, l.trees, l.o, l.some)
	if err != nil {
		return errors.Join(append(l.failed, err)...)
	}
	for _, done := range row.Landed {
		fmt.Fprintln(l.cmd.OutOrStdout(), answers.LandedOf(l.p, done).Text)
	}
	all := len(l.trees) + len(l.failed)
	for _, refused := range row.Refused {
		l.failed = append(l.failed, refused)
	}
	if len(l.failed) == 0 {
		return nil
	}
	what := fmt.Sprintf("of %s, %d can't land", format.Counted(all, "loop"), len(l.failed))
	if !l.some {
		what = answers.NothingLanded + what + "; name the others to land those"
	}
	return fmt.Errorf("%s\n%w", what, errors.Join(l.failed...))
}

// describe prints a pull request's title and body with what the loops did that are fetched.
func (l *lander) describe(ctx context.Context, bus fleet.Bus) (err error) {
	done := make([]answers.Work, len(l.loops))
	for i, r := range l.loops {
		if done[i].Receipt, err = receiptOf(ctx, bus, r, ""); err == nil {
			done[i].Changes, err = worktree.Changes(ctx, l.trees[i], nil)
		}
		if err != nil {
			return err
		}
		done[i].Receipt.Title = cmp.Or(done[i].Receipt.Title, r.Name)
	}
	if len(done) > 0 {
		_, err = fmt.Fprint(l.cmd.OutOrStdout(), answers.Describe(done...))
	}
	return errors.Join(append(l.failed, err)...)
}
