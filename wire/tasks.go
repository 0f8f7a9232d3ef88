package wire

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Tasks is how far the plan is that a loop works through.
type Tasks struct {
	Plan  string   `json:"plan"` // its path in the folder
	Done  int      `json:"done"`
	Total int      `json:"total"`
	Now   string   `json:"now,omitempty"`   // the task under way, or the next one
	Next  []string `json:"next,omitempty"`  // some of those behind it
	Stuck []string `json:"stuck,omitempty"` // open tasks that were refuted too often, and why
}

// TasksOf is how far the plan of a loop is, nil without one.
func TasksOf(s loop.Status) *Tasks {
	b := s.Tasks
	if s.Plan == "" || b.Total == 0 {
		return nil
	}
	t := Tasks{Sentence(s.Plan), b.Done, b.Total, OneLine(b.Now), nil, nil}
	for _, text := range b.Next {
		t.Next = append(t.Next, OneLine(text))
	}
	for _, stuck := range b.Stuck() {
		t.Stuck = append(t.Stuck, Sentence(stuck.String()))
	}
	return &t
}

// TasksText is "4/12 tasks", "" without a plan.
func TasksText(t *Tasks) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d tasks", t.Done, t.Total)
}

// planRow is "4/12 tasks of PLAN.md · now: Write the parser · stuck: "Read numbers": make failed (exit 1), 3 times".
func planRow(t *Tasks) string {
	if t == nil {
		return ""
	}
	now, stuck := "", ""
	if len(t.Stuck) > 0 {
		stuck = "stuck: " + strings.Join(t.Stuck, "; ")
	}
	if t.Now != "" {
		now = "now: " + t.Now
	}
	return JoinFacts(TasksText(t)+" of "+t.Plan, now, stuck)
}
