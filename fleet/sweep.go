package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// sweepEvery is how often one of the workers takes away what nobody wants any more.
const sweepEvery = time.Hour

// grace is how old a file has to be that no loop speaks of: one that is being written
// belongs to a record that says so later.
const grace = time.Hour

// marksLast is how long the mark of a removed loop stays: who watches and was away is told by it.
const marksLast = 24 * time.Hour

// Swept is what a sweep took away.
type Swept struct {
	Loops, Files int
	Unread       int // loops that can't be read: what is kept of them stays
}

// sweep takes part in sweeping until ctx is done.
func (w *Worker) sweep(ctx context.Context) {
	for ; ctx.Err() == nil; Pause(ctx, sweepEvery/6) {
		done, err := Sweep(ctx, w.Bus, w.now())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.Log.Warn("removing old loops, files and checkouts failed, and is tried again later", "error", err)
		case done.Unread > 0:
			w.Log.Warn("swept; loops whose records can't be read were left alone", "loops", done.Loops, "files", done.Files, "unread", done.Unread)
		case done != Swept{}:
			w.Log.Info("swept", "loops", done.Loops, "files", done.Files)
		}
	}
}

// Sweep removes loops that ended longer ago than the limits keep them, and files that no
// loop speaks of. Of all that call it, one does so in an hour: who writes it down first.
func Sweep(ctx context.Context, bus Bus, now time.Time) (done Swept, err error) {
	isMine, keep := false, time.Duration(0)
	err = ledger.Change(ctx, bus, func(l *ledger.Ledger) bool {
		isMine, keep = now.Sub(l.Swept) >= sweepEvery, l.Limits.KeepEnded
		l.Swept = now.UTC()
		return isMine
	})
	if err != nil || !isMine {
		return done, err
	}
	all, unread, err := bus.List(ctx)
	if err != nil {
		return done, err
	}
	lost := requeue(ctx, bus, all)
	defer func() { err = errors.Join(err, lost) }()
	loops, repos := map[string]Record{}, map[string]bool{}
	for _, r := range all {
		if keep > 0 && r.Phase == Ended && now.Sub(r.UpdatedAt) > keep {
			if err := RemoveEnded(ctx, bus, r.ID, now.Add(-keep)); err == nil {
				done.Loops++
				continue
			} else if !errors.Is(err, errGoesOn) && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound) {
				return done, err
			}
		}
		loops[r.ID], repos[r.RepoFile()] = r, true
	}
	done.Unread = len(unread)
	var old []string
	err = bus.Files(ctx, func(name string, at time.Time) {
		if now.Sub(at) > grace && !isWanted(name, loops, repos) && !mayBeOf(unread, name) {
			old = append(old, name)
		}
	})
	if err != nil {
		return done, err
	}
	for _, name := range old {
		if err := bus.RemoveFile(ctx, name, now.Add(-grace)); err != nil {
			return done, err
		}
		done.Files++
	}
	return done, bus.Tidy(ctx, now.Add(-marksLast))
}

// requeue has all loops taken that want a worker, should the queue have lost them. One that can't be keeps no other one
// from it, unless the bus is away.
func requeue(ctx context.Context, bus Bus, all []Record) (problem error) {
	for _, r := range all {
		if r.Phase != Queued && r.Phase != Running {
			continue
		}
		err := bus.Enqueue(ctx, r)
		if problem = cmp.Or(problem, err); ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return problem
}

var errGoesOn = errors.New("it hasn't ended: cancel it first")

// RemoveEnded removes a loop that ended before a time, or whenever for none. Who lets it go on meanwhile wins.
func RemoveEnded(ctx context.Context, bus Bus, id string, before time.Time) error {
	r, revision, err := bus.Get(ctx, id)
	if err != nil {
		return err
	}
	if r.Phase != Ended {
		return fmt.Errorf("%s: %w", id, errGoesOn)
	}
	if !before.IsZero() && r.UpdatedAt.After(before) {
		return fmt.Errorf("%s: %w", id, ErrConflict)
	}
	return bus.Remove(ctx, r, revision)
}

// mayBeOf says whether a file may be of a loop that can't be read: which repository that has isn't known.
func mayBeOf(unread []string, name string) bool {
	kind, rest, _ := strings.Cut(name, "/")
	id, _, _ := strings.Cut(rest, "/")
	return len(unread) > 0 && (kind == "repo" || slices.Contains(unread, id))
}

// isWanted says whether a loop speaks of a file. Names that no version here has made are wanted.
func isWanted(name string, loops map[string]Record, repos map[string]bool) bool {
	part := strings.Split(name, "/")
	switch {
	case part[0] == "repo":
		return repos[name]
	case part[0] == "prompt" && len(part) == 2:
		_, ok := loops[part[1]]
		return ok
	case part[0] != "loop" || len(part) != 4:
		return true
	}
	r, ok := loops[part[1]]
	n, err := strconv.Atoi(part[2])
	switch {
	case err != nil:
		return true
	case !ok:
		return false
	case n >= r.Committed: // it counts, or may still
		return n == r.Committed || n == r.Attempt && r.Phase == Running
	case part[3] == "log":
		return slices.Contains(r.Kept, n)
	case part[3] == "bundle", part[3] == "state":
		return false
	}
	return true
}
