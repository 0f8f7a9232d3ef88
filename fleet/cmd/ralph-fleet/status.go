package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/client"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func newStatus() *cobra.Command {
	loops := choice{submitters: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [LOOP...]",
		Short: "Show the loops on the bus",
		RunE: func(cmd *cobra.Command, args []string) error {
			loops.all = len(args)+len(loops.labels) == 0
			if loops.stream = nil; asJSON {
				loops.stream = func(ctx context.Context, bus *natsbus.Bus) error { return streamJSON(ctx, cmd, bus) }
			}
			return loops.with(cmd, args, func(ctx context.Context, bus fleet.Bus, found []fleet.Record) error {
				slices.SortFunc(found, func(a, b fleet.Record) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
				all, mayAll := bus.(*natsbus.Bus)
				var shown map[string]fleet.Shown
				var sums ledger.Ledger
				var err, errLedger error
				if mayAll {
					if shown, err = fleet.Gather(ctx, bus, found, gathering); err != nil {
						return err
					}
					sums, errLedger = ledger.Whole(ctx, bus)
				}
				var last *wire.Receipt // of the one loop that is asked for
				if len(args) == 1 && len(found) == 1 && found[0].Phase == fleet.Ended {
					r, err := receiptOf(ctx, bus, found[0], flagsOf(cmd))
					if err != nil {
						return err
					}
					last = &r
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), found, shown, last)
				}
				if errLedger != nil && !errors.Is(errLedger, ledger.ErrBroken) {
					return errLedger
				}
				if err := printTable(cmd.OutOrStdout(), found, shown, sums, time.Now(), terminal.LineWidth(cmd.OutOrStdout())); err != nil {
					return err
				}
				if last != nil {
					terminal.PrintReceipt(cmd.OutOrStdout(), terminal.PaletteFor(cmd.OutOrStdout()), *last)
				}
				if !mayAll {
					return nil
				}
				printAsking(cmd.OutOrStdout(), found, shown, flagsOf(cmd))
				workers, err := bus.Workers(ctx)
				if err == nil && len(workers) == 0 {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), tellWorkers(workers)+": start one with ralph-fleet worker")
				} else if err == nil {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), tellWorkers(workers))
				}
				return cmp.Or(err, errLedger, natsbus.Well(ctx, all, natsbus.Stalled))
			})
		},
	}
	loops.addFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object per line")
	return cmd
}

// gathering is how long the status waits for what running iterations say of themselves.
const gathering = 400 * time.Millisecond

// shownLoop is a loop for programs: a LoopStatus of the wire, and what only a fleet's have.
type shownLoop struct {
	wire.LoopStatus
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Phase      fleet.Phase       `json:"phase"`
	Iterations int               `json:"iterations"` // that count
	CostUSD    float64           `json:"costUsd"`
	StopReason string            `json:"stopReason,omitempty"`
	ResumeAt   time.Time         `json:"resumeAt,omitzero"`
	Labels     map[string]string `json:"labels,omitempty"`
	Attempt    int               `json:"attempt"`
	UpdatedAt  time.Time         `json:"updatedAt"`
}

// streamJSON prints all loops as they come from the bus, and those that run behind the others, with what they show.
func streamJSON(ctx context.Context, cmd *cobra.Command, bus *natsbus.Bus) error {
	var running []fleet.Record
	lines := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	var problem error
	unread, err := natsbus.Each(ctx, bus, func(r fleet.Record) {
		if r.Phase == fleet.Running {
			running = append(running, r)
		} else if problem == nil {
			problem = printJSON(lines, []fleet.Record{r}, nil, nil)
		}
	})
	tellUnread(cmd.ErrOrStderr(), unread)
	if err = errors.Join(err, problem); err != nil {
		return errors.Join(err, lines.Flush()) // what has come is told
	}
	shown, err := fleet.Gather(ctx, bus, running, gathering)
	if err != nil {
		return errors.Join(err, lines.Flush())
	}
	return errors.Join(printJSON(lines, running, shown, nil), lines.Flush())
}

func printJSON(w io.Writer, records []fleet.Record, shown map[string]fleet.Shown, last *wire.Receipt) error {
	out := json.NewEncoder(w)
	for _, r := range records {
		l := fleet.StatusOf(r, shown[r.ID], "", time.Now())
		l.Last = last
		err := out.Encode(shownLoop{l, r.ID, r.Name, r.Phase, r.Iterations, r.Cost(), r.StopReason, r.ResumeAt, r.Labels, r.Attempt, r.UpdatedAt})
		if err != nil {
			return err
		}
	}
	return nil
}

// printTable prints a row for each loop, as wide as a terminal is; 0 is no limit.
func printTable(w io.Writer, records []fleet.Record, shown map[string]fleet.Shown, sums ledger.Ledger, now time.Time, width int) error {
	if len(records) == 0 {
		_, err := fmt.Fprintln(w, "no loops; put some there with ralph-fleet submit")
		return err
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	counts := map[fleet.Phase]int{}
	spent, isOpen := 0.0, false
	for _, r := range records {
		counts[r.Phase]++
		spent, isOpen = spent+r.Cost(), isOpen || r.CostOpen
	}
	rows := records
	if len(records) > maxRows {
		rows = client.First(records, shown, maxRows)
	}
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", r.ID, r.Name, r.Phase, r.Iterations, costOf(r.Cost(), r.CostOpen),
			stream.Line(lineOf(r, shown[r.ID], now), 100))
	}
	table.Flush() // a buffer takes all
	for row := range strings.Lines(text.String()) {
		if row = strings.TrimSuffix(row, "\n"); width > 0 {
			row = terminal.Fit(row, width)
		}
		if _, err := fmt.Fprintln(w, row); err != nil {
			return err
		}
	}
	if more := len(records) - maxRows; more > 0 {
		fmt.Fprintf(w, "and %d more: name some, or give --label, or --json for all\n", more)
	}
	var counted []string
	for _, p := range fleet.Phases {
		if counts[p] > 0 {
			counted = append(counted, fmt.Sprintf("%d %s", counts[p], p))
		}
	}
	money := costOf(spent, isOpen)
	if limit := sums.Limits.MaxUSD; limit > 0 {
		money = fmt.Sprintf("%s; all loops %s of %s", money, format.USD(sums.Spent), format.USD(limit))
	}
	_, err := fmt.Fprintf(w, "%s · %s\n", strings.Join(counted, ", "), money)
	return err
}

// maxRows is how many loops a table has: more of them nobody reads, and of many those are shown that need their user most.
const maxRows = 200

// maxAsking is of how many loops the status says how to answer them.
const maxAsking = 5

// printAsking says how the loops are answered whose agents ask something.
func printAsking(w io.Writer, records []fleet.Record, shown map[string]fleet.Shown, flags string) {
	n := 0
	for _, r := range records {
		if len(openOf(r, shown[r.ID])) == 0 {
			continue
		}
		if n++; n <= maxAsking {
			fmt.Fprintf(w, "%s waits for an answer: ralph-fleet answer %s%s\n", r.Name, r.ID, flags)
		}
	}
	if n > maxAsking {
		fmt.Fprintf(w, "%s more wait for answers\n", format.Counted(n-maxAsking, "loop"))
	}
}

// costOf says what is known of a cost; isOpen: there was more.
func costOf(usd float64, isOpen bool) string {
	return cmp.Or(wire.CostText(stream.Cost{USD: usd, Known: usd > 0 || !isOpen}, map[bool]int{true: -1}[isOpen]), "cost unknown")
}

// lineOf says how a loop stands: where it is, and what it does there or waits for.
func lineOf(r fleet.Record, s fleet.Shown, now time.Time) string {
	line := r.Sentence(now)
	if r.IsNow(s) && r.Wish == "" {
		line += ": " + fleet.StatusOf(r, s, "", now).Line
	}
	return line
}
