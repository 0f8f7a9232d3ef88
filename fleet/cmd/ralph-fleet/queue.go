package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

func newQueue() *cobra.Command {
	var bus busFlags
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show the queues, each with its limits and what it has spent",
		Long: `A queue has loops that belong together, say those of a team: what they need of a worker,
what they may cost in all and on a day, how many run at once, who may submit them and
which workers take them. Loops that are submitted to no queue share the limits of all
(ralph-fleet limits) alone; those hold for the loops of queues as well.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return bus.with(cmd, func(ctx context.Context, bus *natsbus.Bus) error {
				all, err := ledger.Queues(ctx, bus)
				if err != nil {
					return err
				}
				return printQueues(cmd.OutOrStdout(), all, time.Now())
			})
		},
	}
	bus.addFlags(cmd)
	cmd.AddCommand(newQueueAdd(), newQueueRemove())
	return cmd
}

func newQueueAdd() *cobra.Command {
	var bus busFlags
	var changes []func(*ledger.Queue)
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a queue, or change what is given of one that is there",
		Example: `  ralph-fleet queue add web --max-cost 500 --per-day 50 --at-once 8
  ralph-fleet queue add gpu --needs gpu,agent=claude --worker gpu-1,gpu-2
  ralph-fleet queue add interns --per-day 5 --submitter alice,bob`,
		Args: cli.Needs("ralph-fleet queue add web --per-day 50", "say what the queue is called"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bus.with(cmd, func(ctx context.Context, bus *natsbus.Bus) error {
				err := ledger.SetQueue(ctx, bus, args[0], func(q *ledger.Queue) {
					for _, change := range changes {
						change(q)
					}
				})
				if err != nil {
					return err
				}
				l, err := ledger.QueueOf(ctx, bus, args[0])
				if err != nil {
					return err
				}
				return printQueues(cmd.OutOrStdout(), []ledger.Ledger{l}, time.Now())
			})
		},
	}
	bus.addFlags(cmd)
	f := cmd.Flags()
	add(f, &changes, "needs", "`LABELS` that its loops need of a worker, as submit --on has them; \"\": none", parseWords,
		func(q *ledger.Queue, v []string) { q.Needs = v })
	add(f, &changes, "max-cost", "`USD` that its loops may cost in all; 0: no limit", limits.ParseUSD,
		func(q *ledger.Queue, v float64) { q.MaxUSD = v })
	add(f, &changes, "per-day", "`USD` that they may cost on a day (UTC); 0: no limit", limits.ParseUSD,
		func(q *ledger.Queue, v float64) { q.PerDay = v })
	add(f, &changes, "at-once", "`N` of its loops run at once; 0: any number", limits.ParseCount,
		func(q *ledger.Queue, v int) { q.AtOnce = v })
	add(f, &changes, "submitter", "`NAMES` of those who may only submit, and may submit here (serve --submitter); \"\": none",
		parseWords, func(q *ledger.Queue, v []string) { q.Submitters = v })
	add(f, &changes, "worker", "`NAMES` of the workers that take its loops; \"\": all", parseWords,
		func(q *ledger.Queue, v []string) { q.Workers = v })
	add(f, &changes, "walled", "true: its workers are containers or machines that agents may have, walls enough for loops "+
		"of submitters. They are those of --worker, else those that name it (worker --queue)", strconv.ParseBool,
		func(q *ledger.Queue, v bool) { q.Walled = v })
	return cmd
}

func newQueueRemove() *cobra.Command {
	var bus busFlags
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a queue; its loops wait until one of that name is added",
		Args:  cli.Needs("ralph-fleet queue remove web", "say which queue is meant"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bus.with(cmd, func(ctx context.Context, bus *natsbus.Bus) error { return ledger.RemoveQueue(ctx, bus, args[0]) })
		},
	}
	bus.addFlags(cmd)
	return cmd
}

// add adds a flag that changes what is kept on the bus, where it is given.
func add[T, V any](f *pflag.FlagSet, changes *[]func(*T), name, usage string, parse func(string) (V, error), set func(*T, V)) {
	f.Func(name, usage, func(text string) error {
		v, err := parse(text)
		*changes = append(*changes, func(to *T) { set(to, v) })
		return err
	})
}

// parseWords reads words with commas between.
func parseWords(text string) (words []string, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words, nil
}

func printQueues(out io.Writer, all []ledger.Ledger, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no queues; all loops share the limits of ralph-fleet limits")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range all {
		q := l.Queue
		facts := []string{spentOf(l.Spent, q.MaxUSD)}
		if q.PerDay > 0 {
			facts = append(facts, "today "+spentOf(l.Today(now), q.PerDay))
		}
		running := format.Counted(len(l.Running), "iteration") + " run"
		if q.AtOnce > 0 {
			running += fmt.Sprintf(" of %d", q.AtOnce)
		}
		facts = append(facts, running)
		if q.Walled {
			facts = append(facts, "its machines are the walls")
		}
		for _, said := range [][2]string{{"needs", strings.Join(q.Needs, ", ")}, {"submitters", strings.Join(q.Submitters, ", ")},
			{"workers", strings.Join(q.Workers, ", ")}} {
			if said[1] != "" {
				facts = append(facts, said[0]+" "+said[1])
			}
		}
		fmt.Fprintf(table, "%s\t%s\n", q.Name, strings.Join(facts, " · "))
	}
	return table.Flush()
}

// spentOf says what was spent of a limit; 0 is none.
func spentOf(usd, limit float64) string {
	if limit == 0 {
		return fmt.Sprintf("$%.2f spent", usd)
	}
	return fmt.Sprintf("$%.2f of $%.2f", usd, limit)
}

// join makes a task one of a queue. A submitter who may submit to queues has one of these, and theirs where it is one;
// "" is everybody else.
func join(ctx context.Context, bus fleet.Bus, t *fleet.Task, submitter string) (q *ledger.Queue, err error) {
	if submitter != "" {
		all, err := ledger.Queues(ctx, bus)
		if err != nil {
			return nil, err
		}
		var theirs []string
		for _, l := range all {
			if slices.Contains(l.Queue.Submitters, submitter) {
				theirs = append(theirs, l.Queue.Name)
			}
		}
		switch {
		case len(theirs) == 1:
			t.Queue = cmp.Or(t.Queue, theirs[0])
		case len(theirs) > 1 && t.Queue == "":
			return nil, fmt.Errorf("say to which queue: --queue %s", strings.Join(theirs, " or "))
		}
		if t.Queue != "" && !slices.Contains(theirs, t.Queue) {
			return nil, fmt.Errorf("the queue %s isn't for the submitter %s", t.Queue, submitter)
		}
	}
	if t.Queue == "" {
		return nil, nil
	}
	l, err := ledger.QueueOf(ctx, bus, t.Queue)
	if err != nil {
		return nil, err
	}
	return l.Queue, fleet.Join(t, *l.Queue)
}
