package acp

import (
	"encoding/json"
	"slices"
	"strconv"
)

// settings are what a client's user may choose for the loops of a session. "" leaves it to
// ralph.toml.
var settings = []struct {
	id, name, category string
	choices            []choice // none: the agents that are installed
}{
	{id: "backend", name: "Agent", category: "model"},
	{id: "maxIterations", name: "Iterations at most", category: "_limits", choices: numbers("", 1, 5, 10, 20, 50, 100)},
	{id: "maxCostUsd", name: "Cost at most", category: "_limits", choices: numbers("$", 1, 2, 5, 10, 20, 50)},
	{id: "permissions", name: "Permissions", category: "_permissions", choices: []choice{{"ask", "Ask me"}, {"agent", "As the agent is set up"}}},
	{id: "onClose", name: "When this window closes", category: "_close", choices: []choice{{"end", "The loop ends"}, {"keep", "The loop goes on"}}},
}

func numbers(unit string, amounts ...int) (all []choice) {
	for _, n := range amounts {
		all = append(all, choice{strconv.Itoa(n), unit + strconv.Itoa(n)})
	}
	return all
}

// asConfigured is the value of a setting that ralph.toml decides.
const asConfigured = "configured"

// options are the settings as the client shows them.
func (s *session) options() []any {
	all := []any{}
	for _, o := range settings {
		choices := o.choices
		if o.id == "backend" {
			choices = s.agents
		}
		current := s.config[o.id]
		if current == "" {
			current = asConfigured
		}
		all = append(all, map[string]any{
			"id": o.id, "name": o.name, "type": "select", "category": o.category, "currentValue": current,
			"options": append([]choice{{asConfigured, "As configured"}}, choices...),
		})
	}
	return all
}

func (a *Agent) setConfig(id, params json.RawMessage) *rpcError {
	s, err := a.sessionOf(params)
	if err != nil {
		return err
	}
	var p struct {
		ConfigID string `json:"configId"`
		Value    string `json:"value"`
	}
	if err := read(params, &p); err != nil {
		return err
	}
	a.mu.Lock()
	isKnown := p.Value == asConfigured
	for _, o := range settings {
		choices := o.choices
		if o.id == "backend" {
			choices = s.agents
		}
		isKnown = isKnown || o.id == p.ConfigID && slices.ContainsFunc(choices, func(c choice) bool { return c.Value == p.Value })
	}
	if isKnown {
		s.config[p.ConfigID] = p.Value
	}
	options := s.options()
	a.mu.Unlock()
	if !isKnown {
		return errorf(codeParams, "%s can't be %q", p.ConfigID, p.Value)
	}
	a.client.reply(id, map[string]any{"configOptions": options}, nil)
	return nil
}

// setArgument puts a chosen value into the argument of a start.
func setArgument(argument map[string]any, key, value string) {
	if value == asConfigured {
		return
	}
	if n, err := strconv.Atoi(value); err == nil {
		argument[key] = n
		return
	}
	argument[key] = value
}
