package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
)

// settings are what a client's user may choose for the loops of a session: arguments of a start.
var settings = []struct {
	id, name, category string
	choices            []choice // none: they are the session's own
}{
	{id: modeSetting, name: "Hat", category: "mode"},
	{id: "backend", name: "Agent", category: "model"},
	{id: "maxIterations", name: "Iterations at most", category: "_limits", choices: numbers("", 1, 5, 10, 20, 50, 100)},
	{id: "maxCostUsd", name: "Cost at most", category: "_limits", choices: numbers("$", 1, 2, 5, 10, 20, 50)},
	{id: "permissions", name: "Permissions", category: "_permissions", choices: []choice{{"ask", "Ask me", ""}, {"agent", "As the agent is set up", ""}}},
	{id: "sandbox", name: "Walls around the agent", category: "_permissions", choices: []choice{{"workspace", "It writes in the folder only", ""}, {"off", "None", ""}}},
	{id: "noVerify", name: "Check of a promise", category: "_check", choices: []choice{{"true", "None", ""}}},
	{id: "onClose", name: "When this window closes", category: "_close", choices: []choice{{"end", "The loop ends", ""}, {"keep", "The loop goes on", ""}}},
}

// modeSetting is the one that is offered as modes, too: whose instructions each run gets.
const modeSetting = "hat"

func numbers(unit string, amounts ...int) (all []choice) {
	for _, n := range amounts {
		all = append(all, choice{strconv.Itoa(n), unit + strconv.Itoa(n), ""})
	}
	return all
}

// asConfigured is the value of a setting that ralph.toml decides.
const asConfigured = "configured"

// choicesOf are the values that a setting may have.
func (s *session) choicesOf(id string, fixed []choice) []choice {
	return append(append([]choice{{asConfigured, "As configured", ""}}, s.own[id]...), fixed...)
}

// options are the settings as the client shows them.
func (s *session) options() []any {
	all := []any{}
	for _, o := range settings {
		all = append(all, map[string]any{
			"id": o.id, "name": o.name, "type": "select", "category": o.category,
			"currentValue": cmp.Or(s.config[o.id], asConfigured), "options": s.choicesOf(o.id, o.choices),
		})
	}
	return all
}

// opened is what the client is told of a session besides its id. Modes are offered where there is a choice.
func (s *session) opened() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := map[string]any{"configOptions": s.options()}
	if len(s.own[modeSetting]) > 0 {
		modes := []any{}
		for _, c := range s.choicesOf(modeSetting, nil) {
			modes = append(modes, map[string]any{"id": c.Value, "name": c.Name, "description": c.Description})
		}
		about["modes"] = map[string]any{"currentModeId": cmp.Or(s.config[modeSetting], asConfigured), "availableModes": modes}
	}
	return about
}

func (a *Agent) setConfig(s *session, id json.RawMessage, p params) *rpc.Error {
	if err := s.choose(p.ConfigID, p.Value); err != nil {
		return err
	}
	a.client.Reply(id, map[string]any{"configOptions": s.opened()["configOptions"]}, nil)
	if p.ConfigID == modeSetting {
		s.say(map[string]any{"sessionUpdate": "current_mode_update", "currentModeId": p.Value})
	}
	return nil
}

func (a *Agent) setMode(s *session, id json.RawMessage, p params) *rpc.Error {
	if err := s.choose(modeSetting, p.ModeID); err != nil {
		return err
	}
	a.client.Reply(id, map[string]any{}, nil)
	s.say(map[string]any{"sessionUpdate": "config_option_update", "configOptions": s.opened()["configOptions"]})
	return nil
}

// choose takes down what a user has chosen for the loops of a session.
func (s *session) choose(setting, value string) *rpc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range settings {
		if o.id == setting && slices.ContainsFunc(s.choicesOf(o.id, o.choices), func(c choice) bool { return c.Value == value }) {
			s.config[setting] = value
			return nil
		}
	}
	return rpc.Errorf(rpc.CodeParams, "%s can't be %q", setting, value)
}

// setArgument puts what a user has chosen or typed into the argument of a command.
func setArgument(argument map[string]any, key, value string) {
	var number any
	switch {
	case value == asConfigured:
	case key != "text" && json.Unmarshal([]byte(value), &number) == nil:
		argument[key] = number
	default:
		argument[key] = value
	}
}
