package plan

import "slices"

// Told is how many of the next tasks are told.
const Told = 5

// Book is how far a loop's plan is, and what the loop remembers of it. Who changes one makes a new one.
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
	Lost     int      `json:"lost,omitempty"`     // times: that tasks were taken out
}

// Look takes down how far a plan is.
func (b *Book) Look(p Plan) {
	tasks, open := p.Tasks(), p.Open()
	b.Total, b.Done, b.Now, b.Next = len(tasks), len(tasks)-len(open), "", nil
	now, ok := p.Next()
	if ok {
		b.Now = short(now.Text)
	}
	for _, it := range open {
		if it.ID != now.ID && len(b.Next) < Told {
			b.Next = append(b.Next, short(it.Text))
		}
	}
}

// Begin takes down what is done before a run.
func (b *Book) Begin(p Plan) {
	b.Before, b.Judging = nil, true
	for _, it := range p.Tasks() {
		if p.IsDone(it) {
			b.Before = append(b.Before, it.ID)
		}
	}
}

// Pass takes down that a task's own check passed.
func (b *Book) Pass(id string) {
	if !slices.Contains(b.Passed, id) {
		b.Passed = append(slices.Clip(b.Passed), id)
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
