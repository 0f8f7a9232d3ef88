package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// gemini is Google's Gemini CLI. A prompt on stdin makes it headless. It runs
// only in folders that the user trusts; whether this one is, isn't ours to say.
var gemini = Backend{
	Name:    "gemini",
	Command: "gemini",
	Args:    []string{"--output-format", "stream-json"},
	May:     "may change files, and runs no commands",
	Replaceable: []Replaceable{{
		Args: []string{"--approval-mode", "auto_edit"},
		By:   []string{"--approval-mode", "--yolo", "-y"},
		May: map[string]string{
			"--yolo": everything, "-y": everything, "--approval-mode=yolo": everything, "--approval-mode=default": "may only read",
		},
	}},
	InteractivePrompt: "--prompt-interactive",
	ArgPrompt:         "--prompt",
	Output:            decode.FormatGemini,
	Flags:             Flags{ModelFlag: "--model"},
	ReadOnly:          []string{"--approval-mode", "default"},
	SlashCommands:     true,
	Inside: sandbox.Agent{
		Own: []sandbox.Own{{
			Path: "~/.gemini",
			Read: []string{"settings.json", "trustedFolders.json", "google_accounts.json", "mcp-oauth-tokens*.json",
				"gemini-credentials.json", "installation_id", ".env", "*.md", "agents", "commands", "extensions", "policies", "skills"},
			Login: "oauth_creds.json", Tokens: []string{"access_token", "refresh_token", "id_token", "expiry_date"},
		}},
		Env: []string{"GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_*"},
	},
	Install: "npm install -g @google/gemini-cli",
}
