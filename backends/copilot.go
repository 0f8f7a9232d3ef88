package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// copilot is GitHub's Copilot CLI. A prompt on stdin makes it headless; it is denied everything for which it would
// have to ask. SIGINT makes it close its stream.
var copilot = Backend{
	Name:    "copilot",
	Command: "copilot",
	Args:    []string{"--output-format", "json", "--stream", "on", "--no-ask-user", "--no-auto-update"},
	May:     "may change files, and runs commands that do no harm",
	Replaceable: []Replaceable{{
		Args: []string{"--allow-tool=write"},
		By:   []string{"--allow-tool", "--allow-all-tools", "--allow-all", "--yolo"},
		May:  map[string]string{"--allow-all-tools": everything, "--allow-all": everything, "--yolo": everything},
	}},
	InteractivePrompt: "--interactive",
	ArgPrompt:         "--prompt",
	Output:            decode.FormatCopilot,
	Flags:             Flags{ModelFlag: "--model"},
	SlashCommands:     true,
	Inside: sandbox.Agent{
		Own: []sandbox.Own{{
			Path: "~/.copilot", Variable: "COPILOT_HOME",
			Read: []string{"config.json", "settings.json", "mcp-config.json", "lsp-config.json", "*.md", "agents", "instructions", "pkg", "skills"},
		}},
		Env: []string{"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"},
	},
	Interrupt: true,
	Install:   "npm install -g @github/copilot",
}
