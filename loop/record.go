package loop

import (
	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/history"
)

// EndRecord is how a loop ended as the registry and its session file have it.
func EndRecord(e End) history.LoopEnd {
	return history.LoopEnd{
		StopReason: string(e.Reason), Promise: e.Promise, Iterations: e.Iterations, Limit: e.Limit, CostUSD: history.KnownCost(e.Cost), UnknownCosts: e.Unknown,
		Tokens: e.Tokens, DurationMs: e.Duration.Milliseconds(), Error: e.Error,
		Denials: e.Denials, Changes: (*history.Changes)(e.Changes), Verified: e.Verified, Guards: e.Guards, Hats: HatRecords(e.Hats),
		Prompt: e.Prompt, Account: e.Account,
	}
}

// EndOfRecord is the reverse of EndRecord. It has no status.
func EndOfRecord(r history.LoopEnd) End {
	return End{
		Reason: StopReason(r.StopReason), Promise: r.Promise, Iterations: r.Iterations, Limit: r.Limit, Cost: history.CostOf(r.CostUSD), Unknown: r.UnknownCosts,
		Tokens: r.Tokens, Duration: history.DurationOf(r.DurationMs), Error: r.Error,
		Denials: r.Denials, Changes: (*changes.Summary)(r.Changes), Verified: r.Verified, Guards: r.Guards, Hats: hatEvents(r.Hats),
		Prompt: r.Prompt, Account: r.Account,
	}
}

// HatRecords are what hats have cost, as a session file has it.
func HatRecords(hats []HatCost) (records []history.HatCost) {
	for _, h := range hats {
		records = append(records, history.HatCost{Hat: h.Hat, Runs: h.Runs, CostUSD: history.KnownCost(h.Cost), Estimated: h.Incomplete})
	}
	return records
}

func hatEvents(records []history.HatCost) (hats []HatCost) {
	for _, r := range records {
		hats = append(hats, HatCost{r.Hat, r.Runs, history.CostOf(r.CostUSD), r.Estimated})
	}
	return hats
}

// ErrText is what an error says, "" for none.
func ErrText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
