package backends

import (
	"cmp"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

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
	ArgPrompt:         EndOfOptions,
	Output:            decode.FormatClaude,
	Live:              &claudeLive,
	Flags: Flags{
		ModelFlag: "--model", SystemPromptFlag: "--append-system-prompt", BudgetFlag: "--max-budget-usd", ModeFlag: "--permission-mode",
	},
	Models: `^(sonnet|opus|haiku|fable|best|opusplan|([a-z]+\.)*(anthropic\.)?claude-[\w.-]+)(\[1m\])?$`,
	Tools: Tools{
		Only: "--tools", Deny: "--disallowedTools", Allow: "--allowedTools",
		Known: []Tool{{"Read", "read"}, {"Grep", "grep"}, {"Glob", "find"}, {"Glob", "ls"}, {"LS", "ls"}, {"Edit", "edit"},
			{"Write", "write"}, {"Bash", "bash"}},
	},
	Hooks: Hooks{Off: []string{"--settings", `{"disableAllHooks":true}`}, By: []string{"--settings"}},
	Brings: []Brought{
		{File: ".mcp.json", Keys: []string{"mcpServers"}, Above: true},
		{File: ".claude/settings.json", Keys: claudePrograms, Hooks: []string{"hooks"}},
		{File: ".claude/settings.local.json", Keys: claudePrograms, Hooks: []string{"hooks"}},
	},
	Commands: []string{"--allowedTools=Bash"}, // root can't bypass its permissions
	Agents:   AgentFiles{Env: "CLAUDE_CONFIG_DIR", Home: ".claude", Folder: ".claude", Deep: true, Loose: true},
	Env: []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1", "CLAUDE_CODE_MAX_RETRIES=4",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
	SlashCommands: true,
	Inside: sandbox.Agent{
		Own: []sandbox.Own{{
			Path: "~/.claude", Variable: "CLAUDE_CONFIG_DIR", Beside: "~/.claude.json",
			Read: []string{".claude.json", ".config.json", "settings.json", "settings.local.json", "keybindings.json", "*.md",
				"*.sh", "agents", "commands", "hooks", "local", "output-styles", "plugins", "rules", "skills"},
			Kept:  "projects/",
			Login: ".credentials.json", Tokens: []string{"accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt"},
		}},
		Env: []string{"ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "IS_SANDBOX", "API_TIMEOUT_MS", "BASH_*", "MAX_THINKING_TOKENS",
			"MAX_MCP_OUTPUT_TOKENS", "MCP_*", "AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK", "CLOUD_ML_REGION"},
	},
	Interrupt: true,
	Install:   "npm install -g @anthropic-ai/claude-code",
	Paid:      "a subscription pays for claude -p from its own limits; a separate credit was announced and put off, see docs/BACKENDS.md",
}

// claudePrograms are the keys of its settings that name programs, or another model's address.
var claudePrograms = []string{"apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper", "env"}

// claudeLive is claude's stream-json input. claude still acts on messages that it has when its input ends.
var claudeLive = Live{
	Args: []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--no-session-persistence"},
	Unless: []string{"--input-format", "--output-format"},
	Asks: []Replaceable{{
		Args: []string{"--permission-mode", "default"},
		By:   []string{"--permission-mode", "--dangerously-skip-permissions"},
		May: map[string]string{
			"--dangerously-skip-permissions": everything, "--permission-mode=bypassPermissions": everything,
			"--permission-mode=plan":        "may change nothing",
			"--permission-mode=acceptEdits": "changes files in the folder unasked; asks you before it runs a command",
		},
	}},
	AskArgs:   []string{"--permission-prompt-tool", "stdio"},
	AskUnless: []string{"--permission-prompt-tool"},
	AskMay:    "asks you before it changes a file or runs a command that its own settings don't allow",
	Dialect:   "claude",
}

var claudeDialect = dialect{
	Prompt: claudeUser,
	Steer:  claudeUser,
	TakeBack: func(ids []string) (frames []any) {
		for _, id := range ids {
			frames = append(frames, claudeControl(id, map[string]any{"subtype": "cancel_async_message", "message_uuid": id}))
		}
		return frames
	},
	Abort:  func(id string) any { return claudeControl(id, map[string]any{"subtype": "interrupt"}) },
	Answer: claudeAnswer,
	Refuse: func(q stream.Question) string {
		switch {
		case q.Method == "can_use_tool" && q.Tool == "AskUserQuestion":
			return "ask one question at a time, with a text"
		case q.Method == "can_use_tool", q.Tool == "AskUserQuestion":
			return ""
		}
		return nobody
	},
}

// claudeAnswer answers to a tool that claude wants to use. Its own tool to ask gets
// what the user says as if it were part of the call.
func claudeAnswer(q stream.Question, a Answer) []any {
	response := map[string]any{"behavior": "deny", "message": cmp.Or(a.Text, "the user said no")}
	switch {
	case q.Method != "can_use_tool" && q.Tool == "":
		return []any{map[string]any{"type": "control_response", "response": map[string]any{
			"subtype": "error", "request_id": q.ID, "error": cmp.Or(a.Text, nobody)}}}
	case a.Yes && q.Method != "can_use_tool":
		var in map[string]any
		_ = json.Unmarshal(q.Input, &in) // it was read before
		in["answers"] = map[string]string{q.Title: a.Text}
		response = map[string]any{"behavior": "allow", "updatedInput": in}
	case a.Yes:
		response = map[string]any{"behavior": "allow"}
	}
	return []any{map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": q.ID, "response": response}}}
}

func claudeUser(id, text string) any {
	return map[string]any{"type": "user", "uuid": id, "message": map[string]any{
		"role": "user", "content": []any{map[string]string{"type": "text", "text": text}}}}
}

func claudeControl(id string, request map[string]any) any {
	return map[string]any{"type": "control_request", "request_id": id, "request": request}
}
