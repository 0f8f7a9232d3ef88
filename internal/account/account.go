// Package account has the account of a loop that is over: its failures and its results. Each entry is there once,
// with its count, and of each kind there are as many as somebody reads.
package account

import "slices"

// most is how many different things of a kind are kept; more are only counted.
const most = 20

// Account lists what happened in a whole loop, in all processes that it ran in.
type Account struct {
	Failures   List `json:"failures,omitzero"`   // why iterations failed
	Refused    List `json:"refused,omitzero"`    // the agents' refused actions
	Warnings   List `json:"warnings,omitzero"`   // the user's warnings
	Unanswered List `json:"unanswered,omitzero"` // questions that nobody answered
	Commits    List `json:"commits,omitzero"`    // that were made while iterations ran
	Limits     List `json:"limits,omitzero"`     // that were changed: how, by whom, and from where
	Stuck      List `json:"stuck,omitzero"`      // open tasks of a plan, and why they aren't done
	Missed     List `json:"missed,omitzero"`     // promises that didn't count, and why
	Promised   List `json:"promised,omitzero"`   // of them, those where no promise was set
}

// IsZero says whether there is nothing to account for.
func (a Account) IsZero() bool {
	return a.Failures.IsZero() && a.Refused.IsZero() && a.Warnings.IsZero() && a.Unanswered.IsZero() && a.Commits.IsZero() &&
		a.Limits.IsZero() && a.Stuck.IsZero() &&
		a.Missed.IsZero() && a.Promised.IsZero()
}

// List is what there was of one kind, in its order.
type List struct {
	Items []Item `json:"items,omitempty"`
	More  int    `json:"more,omitempty"` // that came when there was no room any more
}

// Item is one line, and how often it came.
type Item struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Add adds lines. Holders of the list from before keep it as it was.
func (l *List) Add(lines ...string) {
	for _, text := range lines {
		switch i := slices.IndexFunc(l.Items, func(it Item) bool { return it.Text == text }); {
		case text == "":
		case i >= 0:
			l.Items = slices.Clone(l.Items)
			l.Items[i].Count++
		case len(l.Items) < most:
			l.Items = append(slices.Clip(l.Items), Item{text, 1})
		default:
			l.More++
		}
	}
}

// IsZero says whether nothing came.
func (l List) IsZero() bool { return len(l.Items) == 0 && l.More == 0 }
