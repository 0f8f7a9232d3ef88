package plan

import (
	"slices"
	"strings"
)

// Told is how many of the next tasks are told.
const Told = 5

// Book is the progress of a loop's plan, and the loop's memory of it. Its values never change: a change makes a new
// one.
type Book struct {
	Done  int      `json:"done"`
	Total int      `json:"total"`
	Now   string   `json:"now,omitempty"`  // the task under way, or the next one
	Next  []string `json:"next,omitempty"` // some of those behind it

	Accepted []string `json:"accepted,omitempty"` // commands that may be run
	Before   []string `json:"before,omitempty"`   // ids of what was done before the run that isn't judged yet
	Judging  bool     `json:"judging,omitempty"`  // there is such a run
	Opened   []string `json:"opened,omitempty"`   // ids of those that were opened again
	Passed   []string `json:"passed,omitempty"`   // whose own check passed
	Alone    []string `json:"alone,omitempty"`    // that a worker beside others couldn't do
	Lost     int      `json:"lost,omitempty"`     // times: that tasks were taken out

	Refused []Refused `json:"refused,omitempty"` // open tasks, and why they aren't done
}

// Look takes down how far a plan is, and what is done of it now; without, the next task is.
func (b *Book) Look(p Plan, now ...Item) {
	tasks, open := p.Tasks(), p.Open()
	if next, ok := b.NextOf(p); ok && len(now) == 0 {
		now = []Item{next}
	}
	b.Refused = slices.DeleteFunc(slices.Clone(b.Refused), func(r Refused) bool {
		return !slices.ContainsFunc(open, func(it Item) bool { return it.ID == r.ID })
	})
	b.Total, b.Done, b.Now, b.Next = len(tasks), len(tasks)-len(open), TextOf(now), nil
	for _, it := range open {
		isNow := slices.ContainsFunc(now, func(other Item) bool { return other.ID == it.ID })
		if !isNow && len(b.Next) < Told {
			b.Next = append(b.Next, short(it.Text))
		}
	}
}

// TextOf names items in one line.
func TextOf(items []Item) string {
	var texts []string
	for _, it := range items {
		texts = append(texts, it.Text)
	}
	return short(strings.Join(texts, " · "))
}

// Begin takes down what is done before a run, and what that is to do. It returns the tasks that are set aside for that.
func (b *Book) Begin(p Plan, now []Item) (aside []Refused) {
	b.Look(p, now...)
	b.Before, b.Judging = nil, true
	for _, it := range p.All() {
		if p.IsDone(it) {
			b.Before = append(b.Before, it.ID)
		}
	}
	return b.turns(p, now)
}

// Pass takes down that a task's own check passed.
func (b *Book) Pass(id string) {
	if !slices.Contains(b.Passed, id) {
		b.Passed = append(slices.Clip(b.Passed), id)
	}
}

// Isolate has a task done alone.
func (b *Book) Isolate(id string) {
	if !slices.Contains(b.Alone, id) {
		b.Alone = append(slices.Clip(b.Alone), id)
	}
}

// Reopen says whether a task that was checked in vain is opened again: once.
func (b *Book) Reopen(id string) bool {
	if slices.Contains(b.Opened, id) {
		return false
	}
	b.Opened = append(slices.Clip(b.Opened), id)
	return true
}
