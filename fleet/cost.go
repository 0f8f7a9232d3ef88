package fleet

// notTold is why a loop pauses whose agent was expected to say what it costs.
const notTold = "its iteration didn't say what it cost, so the budget can't hold; resume it with what one costs at most (--reserve 0.50)"

// cost says what an attempt has cost that came to o, or to an error: spent is for the ledger, in dollars, and lost what of
// that isn't in the outcome. Where nobody knows, and all loops have a budget, the loop pauses.
func (a *attempt) cost(o *Outcome, tried error) (spent, lost float64) {
	o.CostUSD = max(o.CostUSD, a.CostUSD) // it is 0 where the agent doesn't tell
	known := o.CostUSD - a.CostUSD
	if spent = known; o.CostOpen { // money is closed by default
		spent = max(spent, unknown(a.Record))
	}
	if tried != nil {
		return spent, spent
	}
	if o.CostOpen && spent == 0 && a.budget && o.StopReason == "" {
		o.Paused, o.Reason = true, notTold
	}
	return spent, spent - known
}

// unknown is what an attempt counts as of which nobody knows what it has cost.
func unknown(r Record) float64 { return max(r.Reserve, expected(r)) }

// expected is what an iteration of a loop costs that doesn't say it: what the others cost on average. 0 is that nobody
// knows.
func expected(r Record) float64 { return r.CostUSD / float64(max(r.Iterations-r.Unknown, 1)) }
