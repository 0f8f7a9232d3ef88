package backends

import (
	"runtime"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// kiro is the Kiro CLI. It has no structured stream: it prints text, and doesn't tell what it spent.
var kiro = Backend{
	Name:    "kiro",
	Command: "kiro-cli",
	Args:    []string{"chat", "--no-interactive"},
	May:     "may read and write files, and runs no commands",
	Replaceable: []Replaceable{{
		Args: []string{"--trust-tools=read,write"},
		By:   []string{"--trust-tools", "--trust-all-tools", "-a"},
		May:  map[string]string{"--trust-all-tools": everything, "-a": everything},
	}},
	InteractiveArgs:   []string{"chat"},
	InteractivePrompt: Positional,
	ArgPrompt:         EndOfOptions,
	Output:            decode.FormatText,
	PTY:               true,
	Flags:             Flags{ModelFlag: "--model"},
	SlashCommands:     true,
	Inside: sandbox.Agent{
		Own: []sandbox.Own{
			{Path: "~/.kiro", Read: []string{"settings", "agents", "steering", "prompts", "bin"}},
			{Path: "$XDG_DATA_HOME/kiro-cli", Read: []string{"*.sqlite3", "*.json"}},
			{Path: "$XDG_DATA_HOME/amazon-q", Read: []string{"*.sqlite3", "*.json"}},
		},
		Env: []string{"KIRO_*", "Q_*"},
	},
	Interrupt: true,
	Install:   installKiro(),
}

// installKiro names a page on Windows, which has no bash.
func installKiro() string {
	if runtime.GOOS == "windows" {
		return "see https://kiro.dev/cli"
	}
	return "curl -fsSL https://cli.kiro.dev/install | bash"
}
