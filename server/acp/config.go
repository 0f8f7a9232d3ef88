package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/ralph-lsp/ralph-lsp/server/acp/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// settings are what a client's user may choose for the loops of a session: arguments of a start.
var settings = []struct {
	id, name, category string
	choices            []choice // none: they are the session's own
	choose             func(p *wire.StartParams, value string)
}{
	{id: modeSetting, name: "Hat", category: "mode", choose: func(p *wire.StartParams, value string) { p.Hat = value }},
	{id: "backend", name: "Agent", category: "model", choose: func(p *wire.StartParams, value string) { p.Backend = value }},
	{
		id: "maxIterations", name: "Iterations at most", category: "_limits", choices: numbers("", 1, 5, 10, 20, 50, 100),
		choose: func(p *wire.StartParams, value string) { n, _ := strconv.Atoi(value); p.MaxIterations = &n },
	},
	{
		id: "maxCostUsd", name: "Cost at most", category: "_limits", choices: numbers("$", 1, 2, 5, 10, 20, 50),
		choose: func(p *wire.StartParams, value string) { usd, _ := strconv.ParseFloat(value, 64); p.MaxCostUSD = &usd },
	},
	{
		id: "permissions", name: "Permissions", category: "_permissions",
		choices: []choice{{"ask", "Ask me", ""}, {"agent", "As the agent is set up", ""}},
		choose:  func(p *wire.StartParams, value string) { p.Permissions = value },
	},
	{
		id: "sandbox", name: "Walls around the agent", category: "_permissions",
		choices: []choice{{"workspace", "It writes in the folder only", ""}, {"off", "None", ""}},
		choose:  func(p *wire.StartParams, value string) { p.Sandbox = value },
	},
	{
		id: "noVerify", name: "Check of a promise", category: "_check", choices: []choice{{"true", "None", ""}},
		choose: func(p *wire.StartParams, _ string) { p.NoVerify = true },
	},
	{
		id: "onClose", name: "When this window closes", category: "_close",
		choices: []choice{{"end", "The loop ends", ""}, {"keep", "The loop goes on", ""}},
		choose:  func(p *wire.StartParams, value string) { p.OnClose = value },
	},
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

// chosen is what the user has chosen for a start.
func (s *session) chosen() (p wire.StartParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range settings {
		if value := s.config[o.id]; value != "" && value != asConfigured {
			o.choose(&p, value)
		}
	}
	return p
}

// opened looks at what the folder has to choose from, and is what settings is.
func (s *session) opened() map[string]any {
	hats := hatsOf(s.agent.Loops.Hats(s.folder))
	s.mu.Lock()
	s.own[modeSetting] = hats
	s.mu.Unlock()
	return s.settings()
}

// settings is what the client is told of a session besides its id. Modes are offered where there is a choice.
func (s *session) settings() map[string]any {
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
	a.client.Reply(id, map[string]any{"configOptions": s.settings()["configOptions"]}, nil)
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
	s.say(map[string]any{"sessionUpdate": "config_option_update", "configOptions": s.settings()["configOptions"]})
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
