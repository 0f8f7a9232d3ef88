package acp

import (
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// plan shows the iteration and the check: some clients print all of a plan at each change.
func (s *session) plan(iteration string) {
	s.mu.Lock()
	v := s.view
	s.mu.Unlock()
	entries := []any{}
	add := func(content, status string) {
		entries = append(entries, map[string]any{"content": content, "priority": "medium", "status": status})
	}
	if v.iteration != "" {
		add(v.iteration, iteration)
	}
	if v.check != "" && v.iteration != "" {
		add("check: "+v.check, v.verified)
	}
	if v.tasks == nil {
		v.tasks = &wire.Tasks{}
	}
	if v.tasks.Done > 0 {
		add(fmt.Sprintf("%d of %d tasks", v.tasks.Done, v.tasks.Total), "completed")
	}
	if v.tasks.Now != "" {
		add(v.tasks.Now, iteration)
	}
	for _, next := range v.tasks.Next {
		add(next, "pending")
	}
	if more := v.tasks.Total - v.tasks.Done - 1 - len(v.tasks.Next); more > 0 {
		add(fmt.Sprintf("%d more tasks", more), "pending")
	}
	s.say(map[string]any{"sessionUpdate": "plan", "entries": entries})
}

// isNews takes down how far the plan is, and says whether that is new.
func (s *session) isNews(now *wire.Tasks) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.view.tasks
	if s.view.tasks = now; was == nil || now == nil {
		return now != nil
	}
	return was.Done != now.Done || was.Total != now.Total || was.Now != now.Now
}
