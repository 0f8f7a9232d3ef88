package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// pi is the agent of npm's @earendil-works/pi-coding-agent. It asks nothing,
// handles SIGTERM by ending its tools, and dies of SIGINT without doing so.
var pi = Backend{
	Name:              "pi",
	Command:           "pi",
	Args:              []string{"-p", "--mode", "json", "--no-session"},
	InteractiveArgs:   []string{"--no-session"},
	InteractivePrompt: Positional,
	May:               everything,
	Output:            decode.FormatPi,
	Live:              &piLive,
	Flags:             Flags{ModelFlag: "--model", SystemPromptFlag: "--append-system-prompt"},
	Models:            `^[\w.-]+/\S+$|^[\w.]+-[\w.:-]+$`,
	Tools: Tools{
		Only: "--tools", Deny: "--exclude-tools",
		Known: []Tool{{"read", "read"}, {"grep", "grep"}, {"find", "find"}, {"ls", "ls"}, {"edit", "edit"}, {"write", "write"}, {"bash", "bash"}},
	},
	Agents: AgentFiles{Env: "PI_CODING_AGENT_DIR", Home: ".pi/agent", Folder: ".pi"},
	Env:    []string{"PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0"},
	Kept:   []string{"node-compile-cache"}, // a third of its start; NODE_COMPILE_CACHE would reach its tools too
	Inside: sandbox.Agent{
		Own: []sandbox.Own{{
			Path: "~/.pi/agent", Variable: "PI_CODING_AGENT_DIR",
			Read: []string{"settings.json", "models.json", "models-store.json", "keybindings.json", "mcp.json", "trust.json",
				"*.md", "extensions", "skills", "prompts", "themes", "agents", "npm", "git", "bin", "tools"},
			Login: "auth.json", Tokens: []string{"access", "refresh", "expires"},
		}},
		Env: []string{"PI_*", "ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_*", "AZURE_OPENAI_*",
			"GEMINI_API_KEY", "GROQ_API_KEY", "CEREBRAS_API_KEY", "XAI_API_KEY",
			"OPENROUTER_API_KEY", "AI_GATEWAY_API_KEY", "ZAI_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "KIMI_API_KEY",
			"MINIMAX_API_KEY", "OPENCODE_API_KEY", "HF_TOKEN", "AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK"},
	},
	Install: "npm install -g @earendil-works/pi-coding-agent",
	Needs:   "node 22.19 or newer",
}

// piLive is pi's rpc mode. Before agent_settled nothing told its end from a pause.
var piLive = Live{
	Args:    []string{"--mode", "rpc", "--no-session"},
	Since:   "0.80.4",
	Package: "@earendil-works/pi-coding-agent",
	Unless:  []string{"--mode", "-p", "--print", "@*"}, // it takes no files there
	AskMay:  "asks you only what its extensions ask, else it " + everything,
	Dialect: "pi",
}

var piDialect = dialect{
	Prompt: func(id, text string) any {
		return map[string]string{"id": id, "type": "prompt", "message": text}
	},
	Steer:    piSteer,
	TakeBack: func([]string) []any { return []any{map[string]string{"type": "clear_queue"}} },
	Abort:    func(id string) any { return map[string]string{"id": id, "type": "abort"} },
	Check:    func() any { return map[string]string{"type": "get_state"} },
	Answer:   piAnswer,
}

func piSteer(id, text string) any {
	return map[string]string{"id": id, "type": "steer", "message": text}
}

// piAnswer answers to an extension. Words beside a no are for the agent, which no answer
// reaches. They come first: after the no pi may ask its model before it reads on.
func piAnswer(q stream.Question, a Answer) []any {
	answer := map[string]any{"type": "extension_ui_response", "id": q.ID}
	switch {
	case !a.Yes && a.Text != "":
		answer["cancelled"] = true
		return []any{piSteer(newUUID(), a.Text), answer}
	case !a.Yes:
		answer["cancelled"] = true
	case q.Method == "confirm":
		answer["confirmed"] = true
	default:
		answer["value"] = a.Text
	}
	return []any{answer}
}
