package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// amp is Sourcegraph's Amp. --mode chooses its models; its own settings say what it may do without asking. Outside an
// editor's terminal it needs neither the editor's selection nor a bell.
var amp = Backend{
	Name:      "amp",
	Command:   "amp",
	Args:      []string{"--execute", "--stream-json", "--stream-json-thinking", "--no-ide", "--no-notifications"},
	May:       "may do what its own settings allow",
	ArgPrompt: "--execute",
	Output:    decode.FormatAmp,
	Inside: sandbox.Agent{
		Own: []sandbox.Own{
			{Path: "$XDG_CONFIG_HOME/amp", Read: []string{"*.json", "*.jsonc", "*.md", "toolboxes", "plugins", "skills", "commands"}},
			{Path: "$XDG_DATA_HOME/amp", Read: []string{"secrets.json", "session.json", "device-id.json"}},
			{Path: "~/.amp", Read: []string{"bin"}},
		},
		Env: []string{"AMP_*"},
	},
	Interrupt: true,
	Install:   "npm install -g @sourcegraph/amp",
}
