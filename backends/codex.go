package backends

import (
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// codex is OpenAI's Codex CLI. Without --sandbox an exec run may only read. It
// leaves no session behind, and takes folders that are no git repositories.
var codex = Backend{
	Name:    "codex",
	Command: "codex",
	Args:    []string{"exec", "--json", "--skip-git-repo-check", "--ephemeral"},
	May:     "may change files in the folder, and runs commands in its sandbox",
	Replaceable: []Replaceable{{
		Args: []string{"--sandbox", "workspace-write"},
		By: []string{"--sandbox", "-s", "--approve-for-me", "--dangerously-bypass-approvals-and-sandbox",
			"--yolo", "--full-auto"},
		May: map[string]string{
			"--dangerously-bypass-approvals-and-sandbox": everything, "--yolo": everything,
			"--sandbox=danger-full-access": everything, "-s=danger-full-access": everything,
			"--sandbox=read-only": "may only read", "-s=read-only": "may only read",
		},
	}},
	InteractivePrompt: Positional,
	ArgPrompt:         EndOfOptions,
	Output:            decode.FormatCodex,
	Flags:             Flags{ModelFlag: "--model"},
	ReadOnly:          []string{"--sandbox", "read-only"},
	Inside: sandbox.Agent{
		Own: []sandbox.Own{{
			Path: "~/.codex", Variable: "CODEX_HOME",
			Read: []string{"config.toml", "*.config.toml", "*.md", "version.json", "models_cache.json", "installation_id", "agents",
				"prompts", "rules", "skills", "plugins"},
			Login: "auth.json", Tokens: []string{"id_token", "access_token", "refresh_token", "last_refresh"},
		}},
		Env: []string{"CODEX_*", "OPENAI_*"},
	},
	Install: "npm install -g @openai/codex",
}
