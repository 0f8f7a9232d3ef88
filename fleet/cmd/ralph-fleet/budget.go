package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osuser "os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

func newBudget() *cobra.Command {
	var bus busFlags
	var c ledger.Correction
	var queue string
	cmd := &cobra.Command{
		Use:   "budget",
		Short: "Show what all loops have spent, or correct it",
		Long: `Show what all loops together have spent, what running iterations have reserved, and who
has corrected that, and why. --correct adds a sum to what was spent, or takes one off:
a reservation that counted for a worker that died before its agent began, say, or a bill
that no agent told. ralph-fleet limits sets the budget.`,
		Example: `  ralph-fleet budget
  ralph-fleet budget --correct -12.50 --reason "the agents of Monday's outage never ran"`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isCorrection := cmd.Flags().Changed("correct"); isCorrection != cmd.Flags().Changed("reason") {
				return errors.New("--correct and --reason go together: the reason is kept with the sum")
			}
			return bus.with(cmd, func(ctx context.Context, bus *natsbus.Bus) error {
				if cmd.Flags().Changed("correct") {
					c.At, c.By = time.Now().UTC(), self()
					if err := ledger.Correct(ctx, bus, queue, c); err != nil {
						return err
					}
				}
				sums, err := ledger.Spending(ctx, bus, queue)
				if err != nil {
					return err
				}
				return printBudget(cmd.OutOrStdout(), sums)
			})
		},
	}
	bus.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&queue, "queue", "", "of the queue of that `NAME`, in place of all loops")
	f.Float64Var(&c.USD, "correct", 0, "add `USD` to what was spent; a negative sum is taken off")
	f.StringVar(&c.Reason, "reason", "", "why, in a `TEXT` that is kept with it")
	return cmd
}

// self is who gives a command, for others to ask.
func self() string {
	host, _ := os.Hostname()
	if u, err := osuser.Current(); err == nil {
		return u.Username + "@" + host
	}
	return host
}

func printBudget(out io.Writer, l ledger.Ledger) error {
	reserved, limit := 0.0, l.Limits.MaxUSD
	if l.Queue != nil {
		limit = l.Queue.MaxUSD
	}
	for _, r := range l.Running {
		reserved += r.USD
	}
	_, err := fmt.Fprintf(out, "budget    %s\nspent     $%.2f\nreserved  $%.2f of %s\n",
		orNone("$%.2f", limit), l.Spent, reserved, format.Counted(len(l.Running), "iteration"))
	for _, c := range l.Corrected {
		if err == nil {
			_, err = fmt.Fprintf(out, "corrected %s  %+.2f  %s: %s\n", c.At.Local().Format(time.DateTime), c.USD, c.By, c.Reason)
		}
	}
	return err
}
