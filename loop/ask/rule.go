package ask

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ralph-lsp/internal/paths"
)

// A rule says what the user has allowed for as long as a loop lasts:
//
//	Bash(git commit:*)    commands that begin with these words
//	Bash(rm -rf build)    this command and no other
//	Edit(src/*)           files right in this folder, by this tool
//	Edit(README.md)       this file
//	mcp__tracker__search  this tool of an MCP server
//
// What isn't understood for sure matches no rule: then the user is asked.

// subcommands are programs whose first words say what they do, and how many: of "git commit -m x"
// it is "git commit". Of all others only the whole command is a rule.
var subcommands = map[string]int{
	"git": 2, "go": 2, "cargo": 2, "dotnet": 2, "mvn": 2, "gradle": 2, "pip": 2,
	"git bisect": runsAnything, "git config": runsAnything, "git difftool": runsAnything, "git filter-branch": runsAnything,
	"git mergetool": runsAnything, "git rebase": runsAnything, "git submodule": runsAnything, "go run": runsAnything, "go generate": runsAnything,
	"npm exec": runsAnything, "npm x": runsAnything, "pnpm exec": runsAnything, "pnpm dlx": runsAnything, "yarn exec": runsAnything, "yarn dlx": runsAnything, "bun x": runsAnything,
	"npm": 2, "npm run": 3, "pnpm": 2, "pnpm run": 3, "yarn": 2, "yarn run": 3, "bun": 2, "bun run": 3,
}

// runsAnything is a subcommand that may run other programs, as its arguments say.
const runsAnything = -1

// ruleFor is the rule for what a tool wants to do in a folder; "" where none says it safely.
func ruleFor(dir, tool string, input json.RawMessage) string {
	rule := ""
	switch {
	case tool == "Bash":
		words, ok := commandOf(input)
		if !ok || slices.ContainsFunc(words, func(w string) bool { return !isPlainWord(w) }) && subcommands[words[0]] == 0 {
			return ""
		}
		rule = bashRule(words)
	case writing[tool] != "":
		if path, ok := fileOf(dir, tool, input); ok {
			rule = tool + "(" + path + ")"
			if folder, _, deep := cutLast(path); deep {
				rule = tool + "(" + folder + "/*)"
			}
		}
	case isMCP(tool):
		rule = tool
	}
	if !permits(rule, dir, tool, input) {
		return ""
	}
	return rule
}

// bashRule is the rule for a command of these words.
func bashRule(words []string) string {
	n := subcommands[words[0]]
	if len(words) > 1 && n > 0 {
		n = cmp.Or(subcommands[words[0]+" "+words[1]], n)
	}
	if n <= 0 {
		return "Bash(" + strings.Join(words, " ") + ")"
	}
	if len(words) < n || slices.ContainsFunc(words[:n], func(w string) bool { return !isPlainWord(w) || strings.HasPrefix(w, "-") }) {
		return ""
	}
	return "Bash(" + strings.Join(words[:n], " ") + ":*)"
}

// permits says whether a rule allows what a tool wants to do in a folder, which is its real path.
func permits(rule, dir, tool string, input json.RawMessage) bool {
	name, arg, hasArg := strings.Cut(rule, "(")
	if name != tool || tool == "" {
		return false
	}
	if !hasArg {
		var said any
		return isMCP(tool) && json.Unmarshal(input, &said) == nil && !ruling.MatchString(JSON(said))
	}
	arg, closed := strings.CutSuffix(arg, ")")
	switch {
	case !closed || arg == "":
		return false
	case tool == "Bash":
		words, ok := commandOf(input)
		return ok && allowsWords(arg, words)
	case writing[tool] != "":
		path, ok := fileOf(dir, tool, input)
		return ok && allowsFile(arg, path)
	}
	return false
}

func isMCP(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") && strings.Count(tool, "__") >= 2 && isPlainWord(tool)
}

// allowsWords says whether the words of a rule are the command's, or with ":*" behind them its first.
func allowsWords(arg string, words []string) bool {
	arg, isPrefix := strings.CutSuffix(arg, ":*")
	allowed := strings.Split(arg, " ")
	if slices.ContainsFunc(allowed, func(w string) bool { return !isPlainWord(w) }) {
		return false
	}
	if isPrefix && len(words) >= len(allowed) {
		words = words[:len(allowed)]
	}
	return slices.Equal(words, allowed)
}

// isPlainWord says whether a word means itself to any shell, and nothing else.
var isPlainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`).MatchString

// commandOf are the words of the one simple command that a Bash call runs. ok is false for
// anything else, and for a call that wants more than to run it.
func commandOf(input json.RawMessage) (words []string, ok bool) {
	fields, ok := fieldsOf(input, "command", "description", "timeout")
	if !ok {
		return nil, false
	}
	command, ok := fields["command"].(string)
	if !ok {
		return nil, false
	}
	words, ok = simpleWords(command)
	if !ok || len(words) == 0 || strings.Contains(words[0], "=") || slices.ContainsFunc(words, ruling.MatchString) { // a variable is set
		return nil, false
	}
	return words, true
}

// ruling are words with which an agent could answer itself: the file that has the answers, its
// folder, and this program.
var ruling = regexp.MustCompile(`(?i)(^|[^a-z0-9_-])\.pi($|[^a-z0-9_.-])|ralph-loop|ralph-lsp|ralph\.toml`)

// fieldsOf reads a tool's input. ok is false where it has others than these fields, or one of
// them twice.
func fieldsOf(input json.RawMessage, known ...string) (fields map[string]any, ok bool) {
	d := json.NewDecoder(strings.NewReader(string(input)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	fields = map[string]any{}
	for d.More() {
		key, err := d.Token()
		name, isText := key.(string)
		var value any
		if err != nil || !isText || d.Decode(&value) != nil || !slices.Contains(known, name) {
			return nil, false
		}
		if _, twice := fields[name]; twice {
			return nil, false
		}
		fields[name] = value
	}
	if _, err := d.Token(); err != nil || d.More() {
		return nil, false
	}
	return fields, true
}

// simpleWords splits a command as a shell does, but only one in which a shell does nothing
// else: no operators, no expansion, no redirection, no escapes, no globs, no line breaks.
func simpleWords(command string) (words []string, ok bool) {
	var word strings.Builder
	inWord := false
	quote := rune(0)
	for _, r := range command {
		switch {
		case r == unicode.ReplacementChar, r != ' ' && r != '\t' && unicode.IsSpace(r), unicode.IsControl(r) && r != '\t':
			return nil, false
		case quote != 0 && r == quote:
			quote = 0
		case quote == '"' && strings.ContainsRune("$`\\!", r):
			return nil, false
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case strings.ContainsRune("|&;<>()$`\\*?[]{}~#!^", r):
			return nil, false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, false
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, true
}

// writing are the tools that write one file, with the field that names it.
var writing = map[string]string{"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}

// fileOf is the file in the folder that a tool writes, by its path from there with slashes. ok
// is false for one outside, one behind a link, and for those that say what agents, editors or
// git may do: hidden ones, and the folder's ralph.toml.
func fileOf(dir, tool string, input json.RawMessage) (path string, ok bool) {
	fields, ok := fieldsOf(input, writing[tool], "old_string", "new_string", "replace_all", "edits", "content",
		"new_source", "cell_id", "cell_type", "edit_mode")
	if !ok {
		return "", false
	}
	name, ok := fields[writing[tool]].(string)
	if !ok || name == "" || dir == "" {
		return "", false
	}
	if slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") { // behind a link it means something else
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	rel, err := filepath.Rel(dir, filepath.Clean(name))
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", false
	}
	if info, err := os.Lstat(filepath.Join(dir, rel)); err == nil && !info.Mode().IsRegular() {
		return "", false
	}
	if parent := filepath.Dir(filepath.Join(dir, rel)); paths.Real(parent) != parent {
		return "", false
	}
	path = filepath.ToSlash(rel)
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, ".") || strings.EqualFold(part, "ralph.toml") || !isPlainWord(part) {
			return "", false
		}
	}
	return path, true
}

// allowsFile says whether a rule's path is the file, or with "/*" behind it its folder.
func allowsFile(arg, path string) bool {
	if folder, ok := strings.CutSuffix(arg, "/*"); ok {
		parent, _, deep := cutLast(path)
		return deep && folder == parent
	}
	return arg == path
}

// cutLast cuts a path before its last element. deep is false for one that has no other.
func cutLast(path string) (folder, name string, deep bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}
