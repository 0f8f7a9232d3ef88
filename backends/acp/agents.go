package acp

import "slices"

// Agent is one that speaks the protocol, as data.
type Agent struct {
	Name    string
	Command string
	Args    []string
	Like    string // the known backend that it is, or is an adapter of: its files, variables and words
	May     string // what it may do where that is something else; see backends.Backend
	// Mode is the one of its own that it is set to before it works, AskMode the same where it asks its
	// user; "" leaves it in its own.
	Mode, AskMode string
	Own           string // a folder of the adapter's
	Env           []string
	Install       string // where that is something else
	Cost          bool   // it tells what a run costs
	// Meta is what it is told of its session beside the protocol, Hooked the same where its user's hooks run.
	Meta, Hooked map[string]any
}

// Agents are those that are known. None is looked for: a loop has one where it is named.
// docs/BACKENDS.md says how the facts are known.
func Agents() []Agent {
	return slices.Concat(seen, []Agent{
		unseen("goose", "goose", "https://block.github.io/goose", nil, "acp"),
		unseen("kimi", "kimi", "https://github.com/MoonshotAI/kimi-cli", nil, "acp"),
		unseen("qwen", "qwen", "npm install -g @qwen-code/qwen-code", nil, "--acp"),
		unseen("cline", "cline", "npm install -g cline", nil, "--acp"),
		unseen("auggie", "auggie", "npm install -g @augmentcode/auggie", []string{"AUGMENT_DISABLE_AUTO_UPDATE=1"}, "--acp"),
		unseen("cursor", "cursor-agent", "https://cursor.com/docs/cli/acp", nil, "acp"),
		unseen("droid", "droid", "npm install -g droid",
			[]string{"DROID_DISABLE_AUTO_UPDATE=true", "FACTORY_DROID_AUTO_UPDATE_ENABLED=false"}, "exec", "--output-format", "acp"),
	})
}

var seen = []Agent{
	{
		Name: "claude", Command: "claude-agent-acp", Like: "claude", Mode: "acceptEdits", AskMode: "default", Cost: true,
		Env:     []string{"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false"}, // each costs a call
		Install: "npm install -g @agentclientprotocol/claude-agent-acp",
		Meta:    claudeOptions(map[string]any{"settings": map[string]any{"disableAllHooks": true}}), Hooked: claudeOptions(map[string]any{}),
	},
	{
		Name: "codex", Command: "codex-acp", Like: "codex", Mode: "workspace-write", AskMode: "workspace-write",
		May: "may change files in the folder and run commands in its own sandbox", Install: "npm install -g @agentclientprotocol/codex-acp",
	},
	{Name: "pi", Command: "pi-acp", Like: "pi", Own: "~/.pi/pi-acp", Install: "npm install -g pi-acp"},
	{Name: "gemini", Command: "gemini", Args: []string{"--acp"}, Like: "gemini", Mode: "autoEdit", AskMode: "default"},
	{Name: "copilot", Command: "copilot", Args: []string{"--acp", "--stdio"}, Like: "copilot",
		May: "changes nothing and runs nothing that it would ask for"},
	{Name: "opencode", Command: "opencode", Args: []string{"acp"}, Like: "opencode", Cost: true},
}

// claudeOptions are what claude is told below its adapter. Nothing may skip its questions: root
// couldn't even start it.
func claudeOptions(options map[string]any) map[string]any {
	options["allowDangerouslySkipPermissions"] = false
	return map[string]any{"claudeCode": map[string]any{"options": options}}
}

// unseen is an agent that wasn't run: it is left in whichever mode is its own.
func unseen(name, command, install string, env []string, args ...string) Agent {
	return Agent{Name: name, Command: command, Args: args, Env: env, Install: install,
		May: "may do what its own settings allow: it was never run with ralph-lsp"}
}
