package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Row is what came of branches that land one behind the other, or would.
type Row struct {
	Landed  []Landed
	Refused []*Refused // one of each branch that doesn't fit
}

// LandRow brings branches of one repository to the branch that is checked out there, each on top of those before it, as
// fetched ones whose worktrees are elsewhere. All of it is computed first, and git moves the user's branch once. Where
// some don't fit, the others land if the caller takes some; else nothing does. The branches stay.
//
// Errors: a *Refused of what is in the way of all, and what git or the system says. Nothing has landed then.
func LandRow(ctx context.Context, trees []Tree, o LandOptions, some bool) (Row, error) {
	if len(trees) == 0 {
		return Row{}, nil
	}
	o.How = cmp.Or(o.How, HowMerge)
	l, release, err := prepare(ctx, trees[0], o)
	if err != nil {
		return Row{}, err
	}
	defer release()
	if err := l.lookAtUser(ctx, trees...); err != nil {
		return Row{}, err
	}
	row, end, err := walk(ctx, l, trees, false)
	if err == nil && end != l.head {
		// Whose files are in the way is asked only where some are: it takes as long as all the rest.
		err = l.wouldTouch(ctx, end)
		if _, isRefused := errors.AsType[*Refused](err); isRefused {
			row, end, err = walk(ctx, l, trees, true)
		}
	}
	if err != nil {
		return Row{}, err
	}
	if o.DryRun {
		return row, nil
	}
	if len(row.Refused) > 0 && !some {
		return Row{Refused: row.Refused}, nil
	}
	if end == l.head {
		return row, nil
	}
	// Half of a landing is worse than a late one.
	if err := l.fastForward(context.WithoutCancel(ctx), end, row.what()); err != nil {
		return Row{}, err
	}
	return row, nil
}

// what returns the names of the branches that bring something.
func (r Row) what() string {
	brings := slices.DeleteFunc(slices.Clone(r.Landed), func(l Landed) bool { return l.Already })
	if len(brings) == 1 {
		return brings[0].Branch
	}
	return fmt.Sprintf("%s and %d more", brings[0].Branch, len(brings)-1)
}

// walk computes what each branch makes of what the ones before it have made. A careful one looks after each whether that
// would touch what isn't committed.
func walk(ctx context.Context, l *landing, trees []Tree, careful bool) (row Row, end string, err error) {
	at := *l
	var before []Landed // that bring something
	for _, t := range trees {
		one := at
		one.tree, one.own = t, l.user.In(t.Path)
		done, err := one.next(ctx, careful)
		if refused, isRefused := errors.AsType[*Refused](err); isRefused {
			row.Refused = append(row.Refused, one.withRival(ctx, refused, before))
			continue
		}
		if err != nil {
			return row, l.head, err
		}
		row.Landed = append(row.Landed, done)
		if at.onto = done.Commit; !done.Already {
			before = append(before, done)
		}
	}
	return row, at.onto, nil
}

// next computes what one branch makes.
func (l *landing) next(ctx context.Context, careful bool) (Landed, error) {
	if err := l.findBranch(ctx); err != nil {
		return Landed{}, err
	}
	if err := l.lookAtTree(ctx); err != nil {
		return Landed{}, err
	}
	done, err := l.compute(ctx)
	if err == nil && careful && !done.Already {
		err = l.wouldTouch(ctx, done.Commit)
	}
	return done, err
}

// withRival names the branch that lands first in place of the user's, if the conflict is with that one. It is the one
// before which this branch would land, and behind which it doesn't. Each trial takes several gits, so only the branches
// that changed a file of the conflict are tried, by halves.
func (l *landing) withRival(ctx context.Context, refused *Refused, before []Landed) *Refused {
	conflicts := func(onto string) bool {
		trial := *l
		trial.onto, trial.user.sign = onto, nil
		_, err := trial.makeCommit(ctx)
		is, _ := errors.AsType[*Refused](err)
		return is != nil && is.Reason == ReasonConflict
	}
	if refused.Reason != ReasonConflict || len(before) == 0 || conflicts(l.head) {
		return refused
	}
	touches := func(b Landed) bool {
		return slices.ContainsFunc(refused.Paths, func(p InTheWay) bool { return slices.Contains(b.paths, p.Path) })
	}
	// Git may have found the conflict across a rename: then any of them may be it.
	if some := slices.DeleteFunc(slices.Clone(before), func(b Landed) bool { return !touches(b) }); len(some) > 0 {
		before = some
	}
	first := sort.Search(len(before)-1, func(i int) bool { return conflicts(before[i].Commit) })
	return conflictOf(l, before[first].Branch, "when that has landed, ", refused.Paths)
}
