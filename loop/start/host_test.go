package start

import (
	"errors"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// A loop that is started inside an agent runs that agent with the session's model,
// where nobody says otherwise.
func TestInsideAnAgent(t *testing.T) {
	for name, tt := range map[string]struct {
		file           string
		start          Agent
		backend, model string
		from           config.Source
	}{
		"nothing is said":          {"", Agent{}, "pi", "fake/one", config.FromEditor},
		"the start has a model":    {"", Agent{Model: "two"}, "pi", "two", config.FromStart},
		"the start has arguments":  {"", Agent{Args: []string{"--model", "two"}}, "pi", "", config.FromDefault},
		"and in one word":          {"", Agent{Args: []string{"--model=two"}}, "pi", "", config.FromDefault},
		"the start has an agent":   {"", Agent{Name: "claude"}, "claude", "", config.FromDefault},
		"the folder has an agent":  {`backend = "claude"`, Agent{}, "claude", "", config.FromDefault},
		"the folder has the same":  {`backend = "pi"`, Agent{}, "pi", "fake/one", config.FromEditor},
		"the folder has its model": {"[backends.pi]\nargs = [\"--model\", \"two\"]", Agent{}, "pi", "", config.FromDefault},
		"a hat has another":        {"[hats.x]\nbackend = \"claude\"", Agent{Hat: "x"}, "claude", "", config.FromDefault},
		"a hat has none":           {"[hats.x]\ndescription = \"does\"", Agent{Hat: "x"}, "pi", "fake/one", config.FromEditor},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, sources, err := Resolver{Settings: settingsOf(t, tt.file), Start: Options{Agent: tt.start}, Host: Agent{Name: "pi", Model: "fake/one"}}.Resolve(t.Context())
			must.OK(t, err)
			if cfg.Backend.Name != tt.backend || cfg.Model != tt.model || sources["model"] != tt.from {
				t.Errorf("%s with %q from %s, want %s with %q from %s", cfg.Backend.Name, cfg.Model, sources["model"], tt.backend, tt.model, tt.from)
			}
		})
	}
}

// A session without a model gives none to its loop, and the start says so before a run fails.
func TestInsideAnAgentWithoutAModel(t *testing.T) {
	for name, tt := range map[string]struct {
		start Agent
		fails bool
	}{
		"nothing is said":         {Agent{}, true},
		"the start has a model":   {Agent{Model: "two"}, false},
		"the start has arguments": {Agent{Args: []string{"--model", "two"}}, false},
		"the start has an agent":  {Agent{Name: "claude"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Resolver{Settings: settingsOf(t, ""), Start: Options{Agent: tt.start}, Host: Agent{Name: "pi", Model: "unknown/unknown"}}.Resolve(t.Context())
			if got := errors.As(err, new(*HostError)); got != tt.fails || err != nil && !got {
				t.Errorf("%v", err)
			}
		})
	}
}
