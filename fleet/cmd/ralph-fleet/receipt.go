package main

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/submitter"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// receiptOf is the receipt of a loop that has ended: what its last attempt said of the whole loop, and the
// command lines that help. flags are those of command lines about the bus.
func receiptOf(ctx context.Context, bus fleet.Bus, r fleet.Record, flags string) (wire.Receipt, error) {
	receipt := wire.Receipt{LoopID: r.ID, EndedAt: r.UpdatedAt, Rows: []wire.Detail{
		{Label: "Ended", Text: r.UpdatedAt.Local().Format(time.DateTime)}, {Label: "Result", Text: r.Sentence(time.Now())},
	}}
	if n := len(r.Kept); n > 0 {
		err := fleet.Transcript(ctx, bus, r, r.Kept[n-1], func(line []byte) error {
			if wire.KindOf(line) != wire.KindEnd {
				return nil
			}
			if u, ok := wire.Decode(line).(wire.End); ok {
				receipt.End = u
			}
			return nil
		})
		if err != nil && !errors.Is(err, fleet.ErrNotFound) {
			return receipt, err
		}
	}
	receipt.Rows, receipt.Receipt = append(receipt.Rows, receipt.Receipt...), nil
	help := func(what, text string) {
		receipt.Commands = append(receipt.Commands, wire.CommandLine{Line: "ralph-fleet " + what + flags, Text: text})
	}
	_, isSubmitters := bus.(*submitter.Client)
	if r.CanGoOn() && !isSubmitters {
		help("resume "+r.ID, "goes on")
	}
	if r.Committed > 0 {
		help("fetch "+r.ID, "fetches a branch with its work")
	}
	if !isSubmitters {
		help("watch --now "+r.ID, "shows what it did")
	}
	return receipt, nil
}
