package loop

import (
	"github.com/ralph-lsp/ralph-lsp/history"
)

// EndRecord is how a loop ended as the registry and its session file have it.
func EndRecord(e End) history.LoopEnd {
	return history.LoopEnd{
		StopReason: string(e.Reason), Promise: e.Promise, Iterations: e.Iterations, Limit: e.Limit, Cost: e.Cost, UnknownCosts: e.Unknown,
		Tokens: e.Tokens, DurationMs: e.Duration.Milliseconds(), Error: e.Error,
		Denials: e.Denials, Changes: e.Changes, Verified: e.Verified, Guards: e.Guards, Hats: e.Hats,
		Prompt: e.Prompt, Account: e.Account,
	}
}

// EndOfRecord is the reverse of EndRecord. It has no status.
func EndOfRecord(r history.LoopEnd) End {
	return End{
		Reason: StopReason(r.StopReason), Promise: r.Promise, Iterations: r.Iterations, Limit: r.Limit, Cost: r.Cost, Unknown: r.UnknownCosts,
		Tokens: r.Tokens, Duration: history.DurationOf(r.DurationMs), Error: r.Error,
		Denials: r.Denials, Changes: r.Changes, Verified: r.Verified, Guards: r.Guards, Hats: r.Hats,
		Prompt: r.Prompt, Account: r.Account,
	}
}

// ErrText is what an error says, "" for none.
func ErrText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
