package budget

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// What a loop may spend is what all had left when it was counted, less what it has spent since.
func TestWhatIsLeftOfABudget(t *testing.T) {
	for name, tt := range map[string]struct {
		limits Limits
		all    Spent
		usd    float64 // of this loop, when it was counted
		now    float64
		want   float64
	}{
		"no limit":               {Limits{}, Spent{Day: 3}, 1, 2, math.Inf(1)},
		"nothing since":          {Limits{PerDay: 5}, Spent{Day: 3}, 1, 1, 2},
		"something since":        {Limits{PerDay: 5}, Spent{Day: 3}, 1, 2.5, 0.5},
		"more than there was":    {Limits{PerDay: 5}, Spent{Day: 3}, 1, 4, -1},
		"the week has less left": {Limits{PerDay: 5, PerWeek: 10}, Spent{Day: 3, Week: 9}, 0, 0.5, 0.5},
	} {
		p := NewPolicy(tt.limits)
		if left := p.Left(tt.now); !math.IsInf(left, 1) {
			t.Errorf("%s: %v are left before anything is counted", name, left)
		}
		p.Count(tt.all, tt.usd)
		if left := p.Left(tt.now); left != tt.want {
			t.Errorf("%s: %v are left, want %v", name, left, tt.want)
		}
	}
}

// Why no run begins, and what is told of runs whose cost nobody knows.
func TestWhatABudgetWants(t *testing.T) {
	day := Limits{PerDay: 5}
	used, unread := "your budget of $5.00 a day is used ($6.00)", errors.New("the ledger can't be read")
	const first = "what iteration 7 has cost is unknown, so it doesn't count against "
	for name, tt := range map[string]struct {
		limits  Limits
		spent   float64 // today
		failed  error
		unknown Unknown
		before  string
		after   string
	}{
		"something is left":         {day, 4, nil, Unknown{}, "", ""},
		"it is used":                {day, 6, nil, Unknown{}, used, ""},
		"nobody limits":             {Limits{}, 6, nil, Unknown{InARow: 1, InAll: 1, Most: 1}, "", ""},
		"it can't be counted":       {day, 4, unread, Unknown{}, "the ledger can't be read", ""},
		"used, and not counted":     {day, 6, unread, Unknown{}, "the ledger can't be read", ""},
		"one of unknown cost":       {day, 4, nil, Unknown{InARow: 1, InAll: 1, Most: 3}, "", first + "your budget; after 3 such runs in a row the loop pauses"},
		"as many as may be":         {day, 4, nil, Unknown{InARow: 2, InAll: 4, Most: 3}, "", ""},
		"too many":                  {day, 4, nil, Unknown{InARow: 3, InAll: 4, Most: 3}, "what 3 runs in a row cost is unknown, so your budget can't be enforced", ""},
		"too many, and it is used":  {day, 6, nil, Unknown{InARow: 3, InAll: 4, Most: 3}, used, ""},
		"any number of them may be": {day, 4, nil, Unknown{InARow: 9, InAll: 9}, "", ""},
		"one under a cap":           {day, 4, nil, Unknown{InARow: 1, InAll: 1, IsCapped: true}, "", first + "the cost cap"},
		"a cap alone":               {Limits{}, 0, nil, Unknown{InARow: 1, InAll: 1, Most: 2, IsCapped: true}, "", first + "the cost cap; after 2 such runs"},
		"a cap sees to too many":    {day, 4, nil, Unknown{InARow: 3, InAll: 3, Most: 3, IsCapped: true}, "", ""},
		"one that was known since":  {day, 4, nil, Unknown{InAll: 1, Most: 3}, "", ""},
		"another one":               {day, 4, nil, Unknown{InARow: 1, InAll: 2, Most: 3}, "", ""},
	} {
		p := NewPolicy(tt.limits)
		before, after := p.Before(Spent{Day: tt.spent, Week: tt.spent}, tt.failed, tt.unknown), p.After(7, tt.unknown)
		if !strings.HasPrefix(before, tt.before) || (before == "") != (tt.before == "") {
			t.Errorf("%s: before it: %q, want %q", name, before, tt.before)
		}
		isEnd := tt.unknown.Most > 0 || after == tt.after // nothing is told of a pause that never comes
		if !strings.HasPrefix(after, tt.after) || (after == "") != (tt.after == "") || !isEnd {
			t.Errorf("%s: after it: %q, want %q", name, after, tt.after)
		}
	}
}
