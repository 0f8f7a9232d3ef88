package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// toolConfig has the files and folders that a program of the user's obeys as soon as it is started in a folder, or opened on
// it, outside. Existing ones in the loop's folder are read-only. New ones, and changed ones elsewhere, are told.
var toolConfig = []struct {
	by    string
	names []string // with * for any rest of a name
}{
	{"ralph-lsp, pi", []string{".pi", "ralph.toml"}},
	{"claude", []string{".claude/settings*.json", ".claude/hooks", ".mcp.json"}},
	{"other agents", []string{".cursor/mcp.json", ".cursor/hooks.json", ".codex/config.toml", ".codex/hooks.json",
		".gemini/settings.json", "opencode.json", "opencode.jsonc", ".opencode/plugin", ".opencode/plugins"}},
	{"VS Code", []string{".vscode", "*.code-workspace"}},
	{"JetBrains", []string{".idea"}},
	{"Vim, Neovim", []string{".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".gvimrc", ".lvimrc"}},
	{"Emacs", []string{".dir-locals.el", ".dir-locals-2.el"}},
	{"other editors", []string{".zed", ".helix", ".nova", "*.sublime-project"}},
	{"direnv, mise, autoenv", []string{".envrc", "mise.toml", ".mise.toml", "mise.*.toml", ".mise.*.toml", ".mise",
		".config/mise.toml", ".config/mise", ".autoenv.zsh", ".autoenv"}},
}

// toolConfigNames are all of them.
func toolConfigNames() (names []string) {
	for _, o := range toolConfig {
		names = append(names, o.names...)
	}
	return names
}

// guarded lists those in the folder, whether they are there or could come. A pattern stands for what is there.
func (w *site) guarded() (paths []string) {
	for _, name := range toolConfigNames() {
		if path := filepath.Join(w.folder, name); !strings.Contains(name, "*") {
			paths = append(paths, path)
		} else {
			paths = append(paths, w.matching(name)...)
		}
	}
	return paths
}

// isToolConfig says whether a path ends in one of the names, or is in a folder that is one.
func isToolConfig(path string) bool {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return slices.ContainsFunc(toolConfigNames(), func(name string) bool {
		n := strings.Count(name, "/") + 1
		for end := n; end <= len(parts); end++ {
			if ok, _ := filepath.Match(name, strings.Join(parts[end-n:end], "/")); ok {
				return true
			}
		}
		return false
	})
}
