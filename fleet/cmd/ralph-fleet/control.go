package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/fleet/submitter"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// newControl is a command that does something to loops.
func newControl(name, short string, loops choice, do func(h *fleet.Handle) (string, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name + " LOOP...",
		Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			return loops.each(cmd, args, func(ctx context.Context, bus fleet.Bus, r fleet.Record) (string, error) {
				text, err := do(&fleet.Handle{Ctx: ctx, Bus: bus, Record: r})
				return r.Name + "  " + text, err
			})
		},
	}
	loops.addFlags(cmd)
	cmd.Flags().BoolVar(&loops.all, "all", false, "every loop "+loops.what)
	return cmd
}

func pauseLoop(h *fleet.Handle) (string, error) {
	err := h.Pause()
	if h.IsLive() {
		return "pauses behind its iteration", err
	}
	return "paused", err
}

func newResume() *cobra.Command {
	var change start.Options
	var reserve float64
	which := choice{what: "that hasn't ended, or with new limits ended at one", fits: func(r fleet.Record) bool {
		return r.Phase != fleet.Ended || change.Patch() != (loop.Patch{}) && r.CanGoOn() && loop.StopReason(r.StopReason).Capped()
	}}
	cmd := newControl("resume", "Let loops go on that are paused, wait, failed, or reached a limit", which,
		func(h *fleet.Handle) (string, error) {
			if reserve != 0 {
				if err := h.Reserve(reserve); err != nil {
					return "", err
				}
			}
			return "goes on", h.Resume(change.Patch())
		})
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	start.AddLimits(own, &change)
	own.VisitAll(func(f *pflag.Flag) { f.DefValue = "" }) // without a flag nothing changes
	cmd.Flags().AddFlagSet(own)
	cmd.Flags().Float64Var(&reserve, "reserve", 0, "`USD` that an iteration costs at most from now on; kept back from the "+
		"budget while it runs")
	return cmd
}

func newNext() *cobra.Command {
	running := choice{what: "that is in an iteration", fits: func(r fleet.Record) bool { return r.Phase == fleet.Running }}
	return newControl("next", "End the iterations that loops are in; the next ones begin", running, nextIteration)
}

// nextIteration ends the iteration that a loop is in.
func nextIteration(h *fleet.Handle) (string, error) {
	_, err := h.Next()
	if r, _, lost := h.Bus.Get(h.Ctx, h.Record.ID); lost == nil && errors.Is(err, fleet.ErrNobody) {
		return "", fmt.Errorf("%s is in no iteration: %s", r.Name, r.Sentence(time.Now()))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", h.Record.ID, err)
	}
	return h.Result().Text, err
}

func newCancel() *cobra.Command {
	which := thatGoOn()
	which.submitters = true
	return newControl("cancel", "End loops; returns when nothing of them is left", which, func(h *fleet.Handle) (string, error) {
		if own, ok := h.Bus.(*submitter.Client); ok {
			return "cancelled", own.Cancel(h.Ctx, h.Record.ID)
		}
		return "cancelled", h.Cancel()
	})
}

func newSteer() *cobra.Command {
	loops := thatGoOn()
	cmd := &cobra.Command{
		Use:   "steer LOOP|--label KEY=VALUE TEXT...",
		Short: "Tell loops something",
		Args: func(cmd *cobra.Command, args []string) error {
			words := []string{"say which loop is meant", "say what it should be told"}
			return cli.Needs(`ralph-fleet steer make-the-tests-pass "Leave the parser alone"`, words[min(len(loops.labels), 1):]...)(cmd, args)
		},
		Annotations: map[string]string{cli.TakesText: "text"},
		RunE: func(cmd *cobra.Command, args []string) error {
			named := 1 - min(len(loops.labels), 1)
			return loops.each(cmd, args[:named], func(ctx context.Context, bus fleet.Bus, r fleet.Record) (string, error) {
				_, err := (&fleet.Handle{Ctx: ctx, Bus: bus, Record: r}).Steer(loop.Steering{Text: strings.Join(args[named:], " ")})
				return r.Name + "  will be told", err
			})
		},
	}
	loops.addFlags(cmd)
	loops.bus.completeLoops(cmd, 1)
	return cmd
}

func newRemove() *cobra.Command {
	ended := choice{what: "that has ended", fits: func(r fleet.Record) bool { return r.Phase == fleet.Ended }}
	return newControl("remove", "Take loops that have ended off the bus, with all that is kept of them", ended,
		func(h *fleet.Handle) (string, error) {
			return "removed", fleet.RemoveEnded(h.Ctx, h.Bus, h.Record.ID, time.Time{})
		})
}

func newLimits() *cobra.Command {
	var bus busFlags
	var changes []func(*ledger.Limits)
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show the limits of all loops together, or set those that are given",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bus.with(cmd, func(ctx context.Context, bus *natsbus.Bus) error {
				err := ledger.Change(ctx, bus, func(l *ledger.Ledger) bool {
					for _, change := range changes {
						change(&l.Limits)
					}
					return len(changes) > 0
				})
				if err != nil {
					return err
				}
				now, err := ledger.Whole(ctx, bus)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "cost      %s\nper hour  %s\nat once   %s\nkept      %s\nlease     %s\nspent     $%.2f\nrunning   %s\n",
					orNone("$%.2f", now.Limits.MaxUSD), orNone("%.0f", float64(now.Limits.PerHour)), ofKeys(now.Limits.AtOnce),
					keptFor(now.Limits.KeepEnded), now.Limits.Lasts(), now.Spent, format.Counted(len(now.Running), "iteration"))
				return nil
			})
		},
	}
	bus.addFlags(cmd)
	f := cmd.Flags()
	add(f, &changes, "keep-ended", "this `TIME` (30d) after its end a loop is removed, with all that is kept of it; 0: never",
		limits.ParseSpan, func(l *ledger.Limits, v time.Duration) { l.KeepEnded = v })
	add(f, &changes, "max-cost", "`USD` that all loops together may cost; 0: no limit", limits.ParseUSD,
		func(l *ledger.Limits, v float64) { l.MaxUSD = v })
	add(f, &changes, "per-hour", "`N` iterations may begin within an hour; 0: no limit", limits.ParseCount,
		func(l *ledger.Limits, v int) { l.PerHour = v })
	add(f, &changes, "at-once", "`KEY=N`: so many loops of a key at once, 0: any number; the key * is any other; may be "+
		"given again", parseAtOnce, func(l *ledger.Limits, v map[string]int) {
		if l.AtOnce == nil {
			l.AtOnce = v
		}
		maps.Copy(l.AtOnce, v)
	})
	add(f, &changes, "lease", "a loop is taken over when nothing is heard of its worker for this `TIME`, in attempts to "+
		"come; longer than a restart of the bus takes", parseLease, func(l *ledger.Limits, v time.Duration) { l.Lease = v })
	return cmd
}

// parseAtOnce reads how many loops of a key may run at once: "anthropic=4".
func parseAtOnce(text string) (map[string]int, error) {
	key, n, _ := strings.Cut(text, "=")
	most, err := limits.ParseCount(n)
	if err != nil || key == "" {
		err = limits.BadValue(text, "a key and a whole number, such as anthropic=4")
	}
	return map[string]int{key: most}, err
}

func parseLease(text string) (time.Duration, error) {
	lease, err := limits.ParseSpan(text)
	if err == nil && lease < time.Second {
		err = limits.BadValue(text, fmt.Sprintf("a second or more: %s suits most", ledger.DefaultLease))
	}
	return lease, err
}

func ofKeys(atOnce map[string]int) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(atOnce)) {
		if n := atOnce[key]; n > 0 {
			all = append(all, fmt.Sprintf("%d of %s", n, key))
		} else {
			all = append(all, "any number of "+key)
		}
	}
	return cmp.Or(strings.Join(all, ", "), "no limit")
}

func keptFor(d time.Duration) string {
	if d == 0 {
		return "loops that have ended, until they are removed"
	}
	return "loops that have ended, for " + format.Elapsed(d)
}

func orNone(format string, value float64) string {
	if value == 0 {
		return "no limit"
	}
	return fmt.Sprintf(format, value)
}
