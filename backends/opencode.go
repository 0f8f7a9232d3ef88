package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// opencode asks for what its own configuration says it must ask for; without
// anybody to answer that is refused, and the run ends. Its stream tells costs.
var opencode = Backend{
	Name:              "opencode",
	Command:           "opencode",
	Args:              []string{"run", "--format", "json", "--thinking"},
	InteractivePrompt: "--prompt",
	May:               "may change files and run commands in the folder, unless its own settings say otherwise",
	ArgPrompt:         EndOfOptions,
	Output:            decode.FormatOpencode,
	Flags:             Flags{ModelFlag: "--model"},
	Env:               []string{"OPENCODE_DISABLE_AUTOUPDATE=1"},
	Inside: sandbox.Agent{
		Own: []sandbox.Own{
			{Path: "$XDG_CONFIG_HOME/opencode", Read: []string{"*.json", "*.jsonc", "*.md", "agent", "agents", "command", "commands",
				"plugin", "plugins", "mode", "modes", "themes", "tool", "tools", "skill", "skills", "node_modules"}},
			{Path: "$XDG_DATA_HOME/opencode", Read: []string{"mcp-auth.json", "bin"}, Login: "auth.json",
				Tokens: []string{"access", "refresh", "expires"}},
			{Path: "$XDG_STATE_HOME/opencode"},
			{Path: "~/.opencode", Read: []string{"bin"}},
		},
		Env: []string{"OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY",
			"MISTRAL_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY"},
	},
	Install: "npm install -g opencode-ai",
}
