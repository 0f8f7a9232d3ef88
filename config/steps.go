package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
)

// tables are the items of a decoded list of tables. ok is false for anything else.
func tables(v any) (items []map[string]any, ok bool) {
	switch v := v.(type) {
	case []map[string]any:
		return v, true
	case []any:
		for _, item := range v {
			table, isTable := item.(map[string]any)
			if !isTable {
				return nil, false
			}
			items = append(items, table)
		}
		return items, true
	}
	return nil, false
}

// InList says whether a path is below a list of tables: what has it is there several times.
func InList(path ...string) bool { return keys().inList(path...) }

func (t table) inList(path ...string) bool {
	for n := 1; n < len(path); n++ {
		if key, ok := t.lookup(path[:n]...); ok && key.Type == Tables {
			return true
		}
	}
	return false
}

// listed is a short list of the key's tables.
func (k Key) listed() string {
	if k.Name() == "fallback" {
		return `[{ backend = "claude" }]`
	}
	return `[{ agent = "scout" }, { agent = "worker", task = "{previous}" }]`
}

// itemsProblem completes "KEY ..." for a list of tables.
func (k Key) itemsProblem(v any) (ok bool, why string) {
	if k.Name() != "fallback" {
		return k.stepsProblem(v)
	}
	items, ok := tables(v)
	for i, item := range items {
		if item["backend"] == nil {
			return true, fmt.Sprintf(`has an item %d with no backend; write backend = "NAME"`, i+1)
		}
	}
	return ok, ""
}

// stepsProblem completes "KEY ..." for a list of steps, or of agents that work side by
// side. Values are checked each at its place.
func (k Key) stepsProblem(v any) (ok bool, why string) {
	items, ok := tables(v)
	if !ok {
		return false, ""
	}
	isSteps := k.Name() == "steps"
	for i, item := range items {
		_, hasAgent := item["agent"]
		parallel, hasParallel := item["parallel"]
		n := i + 1
		switch {
		case isSteps && hasAgent == hasParallel:
			return true, fmt.Sprintf(`has a step %d with %s; write agent = "NAME", or parallel = [...]`, n,
				map[bool]string{true: "one agent and several", false: "no agent"}[hasAgent])
		case hasParallel && item["task"] != nil:
			return true, fmt.Sprintf("has a step %d with a task for all; write one for each of its agents", n)
		case !hasAgent && !hasParallel:
			return true, fmt.Sprintf(`has an item %d with no agent; write agent = "NAME"`, n)
		}
		if hasParallel {
			if list, ok := tables(parallel); ok && (len(list) == 0 || len(list) > limits.MaxAgents) {
				return true, fmt.Sprintf("has a step %d of %d agents; write 1 to %d", n, len(list), limits.MaxAgents)
			}
		}
	}
	return true, ""
}

// itemProblem completes "KEY ..." for a value in a list of tables, which the decoded file
// has no path to.
func (c *checker) itemProblem(e *entry, key Key) string {
	values := map[string]any{}
	if _, err := toml.Decode("v = "+c.text[e.value.start:e.value.end], &values); err != nil {
		return "" // it is told already
	}
	return key.problem(values["v"])
}

// checkSteps wants no hats that hand over beside steps.
func (c *checker) checkSteps() {
	if items, _ := tables(at(c.values, "iteration", "steps")); len(items) > 0 && c.hatSet().Emits() {
		c.reportMissing("and hats that hand over exclude each other; leave out the hats' triggers, or the steps", "iteration", "steps")
	}
}

// setSteps takes over steps that were checked.
func setSteps(s *Settings, _ string, v any) {
	var items []struct {
		StepAgent
		Parallel Step
	}
	data, _ := json.Marshal(v) // what TOML has of texts and switches can always be encoded, by the same names
	_ = json.Unmarshal(data, &items)
	s.Steps = nil
	for _, item := range items {
		if item.Parallel == nil {
			item.Parallel = Step{item.StepAgent}
		}
		s.Steps = append(s.Steps, item.Parallel)
	}
}

// setFallbacks takes over fallbacks that were checked.
func setFallbacks(s *Settings, _ string, v any) {
	data, _ := json.Marshal(v) // as in setSteps
	s.Fallbacks = nil
	_ = json.Unmarshal(data, &s.Fallbacks)
}

// inline writes a list of tables in one line; ok is false for what isn't one.
func inline(v any) (line string, ok bool) {
	items, ok := tables(v)
	if !ok || len(items) == 0 {
		return "", false
	}
	var parts []string
	for _, item := range items {
		var pairs []string
		for _, key := range []string{"agent", "task", "write", "parallel", "backend", "model", "on"} { // as people write them
			if value, ok := item[key]; ok {
				pairs = append(pairs, key+" = "+text(value))
			}
		}
		parts = append(parts, "{ "+strings.Join(pairs, ", ")+" }")
	}
	return "[" + strings.Join(parts, ", ") + "]", true
}
