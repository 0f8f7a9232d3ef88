package backends

import (
	"os"

	"ralph-lsp/stream"
)

func init() { known(10, claude) }

// claude is Claude Code. SIGINT is its graceful end: a closing result with the
// cost. Background tasks are off because it would wait for them without end.
var claude = Backend{
	Name:    "claude",
	Command: "claude",
	Args: []string{"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--no-session-persistence"},
	May: "may change files in the folder; commands only as its own settings allow",
	Replaceable: []Replaceable{{
		Args: []string{"--permission-mode", "acceptEdits"},
		By:   []string{"--permission-mode", "--dangerously-skip-permissions"},
		May: map[string]string{
			"--dangerously-skip-permissions": everything, "--permission-mode=bypassPermissions": everything,
			"--permission-mode=plan": "may change nothing", "--permission-mode=default": "changes only what its own settings allow",
		},
	}},
	InteractivePrompt: Positional,
	Prompt:            PromptStdin,
	ArgPrompt:         EndOfOptions,
	Output:            stream.FormatClaude,
	Transport:         TransportPipes,
	ModelFlag:         "--model",
	SystemPromptFlag:  "--append-system-prompt",
	BudgetFlag:        "--max-budget-usd",
	ModeFlag:          "--permission-mode",
	Models:            `^(sonnet|opus|haiku|fable|best|opusplan|([a-z]+\.)*(anthropic\.)?claude-[\w.-]+)(\[1m\])?$`,
	Tools: Tools{
		Only: "--tools", Deny: "--disallowedTools", Allow: "--allowedTools",
		Known: []Tool{{"Read", "read"}, {"Grep", "grep"}, {"Glob", "find"}, {"Glob", "ls"}, {"LS", "ls"}, {"Edit", "edit"}, {"Write", "write"}, {"Bash", "bash"}},
	},
	Agents: AgentFiles{Env: "CLAUDE_CONFIG_DIR", Home: ".claude", Folder: ".claude", Deep: true, Loose: true},
	Env: []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_MAX_RETRIES=4",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
	SlashCommands: true,
	Stop:          []os.Signal{os.Interrupt, terminate},
	VersionArgs:   []string{"--version"},
	Install:       "npm install -g @anthropic-ai/claude-code",
}
