package ask

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// A rule says what the user has allowed for as long as a loop lasts:
//
//	Bash(git commit -m:*) commands that begin with "git commit" and have no other flags
//	Bash(rm -rf build)    this command and no other
//	Bash("make; echo ok") this command line as it is written, with what a shell does there
//	Edit(src/*)           files right in this folder, by this tool
//	Edit(README.md)       this file
//	mcp__tracker__search  this tool of an MCP server
//
// What isn't understood for sure matches no rule: then the user is asked.

// subcommands are the commands of programs whose first words say enough: "git commit" with any further words is a
// commit, but for the flags. Their other commands reach other machines, install, or run their arguments: for these,
// as for all other programs, only the whole command is a rule.
var subcommands = map[string][]string{
	"git": {"add", "blame", "branch", "checkout", "cherry-pick", "commit", "diff", "grep", "log", "ls-files", "merge", "mv",
		"reset", "restore", "rev-parse", "revert", "rm", "show", "status", "switch", "tag"},
	"git stash": {"apply", "list", "pop", "push", "show"},
	"go":        {"build", "doc", "fmt", "list", "test", "vet"},
	"go mod":    {"download", "graph", "tidy", "vendor", "verify", "why"},
	"cargo":     {"bench", "build", "check", "clippy", "doc", "fmt", "test"},
	"dotnet":    {"build", "format", "restore", "test"},
	"npm":       {"test"},
	"npm run":   nil, "pnpm run": nil, "yarn run": nil, "bun run": nil, // any script
}

// free are flags whose value is only told, or chooses among tests, and the end of flags.
var free = []string{"-m", "-am", "--message", "-run", "--"}

// ruleFor is the rule for what a tool wants to do in a folder; "" where none says it safely.
func ruleFor(dir, tool string, input json.RawMessage) string {
	rule := ""
	switch {
	case tool == "Bash":
		if words, ok := commandOf(input); ok {
			rule = bashRule(words)
		}
		if !permits(rule, dir, tool, input) {
			return exactRule(input)
		}
	case writing[tool] != "":
		if file, ok := fileOf(dir, tool, input); ok {
			if folder := path.Dir(file); folder != "." {
				file = folder + "/*"
			}
			rule = tool + "(" + file + ")"
		}
	case isMCP(tool):
		rule = tool
	}
	if !permits(rule, dir, tool, input) {
		return ""
	}
	return rule
}

// bashRule is the rule for a command of these words; one that says less than they do doesn't
// permit them.
func bashRule(words []string) string {
	n := prefixOf(words)
	if n == 0 {
		return "Bash(" + strings.Join(words, " ") + ")"
	}
	rule := slices.Clone(words[:n])
	for i := n; i < len(words); i++ {
		if !isFlag(words[i]) {
			continue
		}
		rule = append(rule, words[i])
		if value := words[i+1:]; len(value) > 0 && !isFlag(value[0]) && !slices.Contains(free, words[i]) {
			rule = append(rule, value[0])
			i++
		}
	}
	return "Bash(" + strings.Join(rule, " ") + ":*)"
}

// prefixOf says how many words say what a command does, 0 where only all of them do.
func prefixOf(words []string) int {
	if len(words) < 2 {
		return 0
	}
	if slices.Contains(subcommands[words[0]], words[1]) {
		return 2
	}
	third, ok := subcommands[words[0]+" "+words[1]]
	if ok && len(words) > 2 && (third == nil && !isFlag(words[2]) || slices.Contains(third, words[2])) {
		return 3
	}
	return 0
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") }

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
	case tool == "Bash" && strings.HasPrefix(arg, `"`):
		return rule == exactRule(input)
	case tool == "Bash":
		words, ok := commandOf(input)
		return ok && allowsWords(arg, words)
	case writing[tool] != "":
		file, ok := fileOf(dir, tool, input)
		return ok && allowsFile(arg, file)
	}
	return false
}

func isMCP(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") && strings.Count(tool, "__") >= 2 && isPlainWord(tool)
}

// allowsWords says whether the words of a rule are the command's, or with ":*" behind them its first.
// A flag behind those is the rule's as well, with the same value, and a path doesn't leave the folder.
func allowsWords(arg string, words []string) bool {
	arg, isPrefix := strings.CutSuffix(arg, ":*")
	allowed := strings.Split(arg, " ")
	if slices.ContainsFunc(allowed, func(w string) bool { return !isPlainWord(w) }) {
		return false
	}
	n := prefixOf(words)
	if !isPrefix || n == 0 || len(allowed) < n {
		return !isPrefix && slices.Equal(words, allowed)
	}
	if !slices.Equal(words[:n], allowed[:n]) {
		return false
	}
	for i := n; i < len(words); i++ {
		isValue := i > n && slices.Contains(free, words[i-1]) && words[i-1] != "--"
		if isFlag(words[i]) && !allowsFlag(allowed[n:], words[i:]) || !isValue && leavesFolder(words[i]) &&
			!slices.Contains(allowed[n:], words[i]) {
			return false
		}
	}
	return true
}

// allowsFlag says whether the command's next flag is among the rule's. If a word follows there, it may be the flag's
// value, so it has to be the same here.
func allowsFlag(allowed, command []string) bool {
	for i, word := range allowed {
		isLast := i == len(allowed)-1 || len(command) == 1
		if word == command[0] && (isLast || slices.Contains(free, word) || allowed[i+1] == command[1]) {
			return true
		}
	}
	return false
}

// leavesFolder says whether a word may be a path to somewhere else.
func leavesFolder(word string) bool {
	return strings.HasPrefix(word, "/") || len(word) > 2 && word[1:3] == ":/" || slices.Contains(strings.Split(word, "/"), "..")
}

// isPlainWord says whether a word means itself to any shell, and nothing else.
var isPlainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`).MatchString

// commandOf are the words of the one simple command that a Bash call runs. ok is false for
// anything else, and for a call that wants more than to run it.
func commandOf(input json.RawMessage) (words []string, ok bool) {
	command, ok := commandLine(input)
	if !ok {
		return nil, false
	}
	words, ok = simpleWords(command)
	if !ok || len(words) == 0 || strings.Contains(words[0], "=") || slices.ContainsFunc(words, ruling.MatchString) { // a variable is set
		return nil, false
	}
	return words, true
}

// maxExact bounds the bytes of the rule for a command line as it is written: it is offered by a line that has all of it.
const maxExact = 120

// exactRule is the rule for a command line that isn't one simple command, such as "python3 test.py; echo ok": this text and no
// other. "" where the shell would put in what the text doesn't say, where it may name what ruling does, and where it
// can't be read as it is.
func exactRule(input json.RawMessage) string {
	command, ok := commandLine(input)
	if !ok || strings.TrimSpace(command) == "" || stream.Sanitize(command) != command || strings.ContainsAny(command, "$`*?[{~") {
		return ""
	}
	if ruling.MatchString(command) || ruling.MatchString(withoutQuotes.Replace(command)) {
		return ""
	}
	rule := "Bash(" + strconv.Quote(command) + ")"
	if len(rule) > maxExact {
		return ""
	}
	return rule
}

// withoutQuotes joins what a shell joins: .p"i" is .pi.
var withoutQuotes = strings.NewReplacer(`'`, "", `"`, "", "\\\n", "", `\`, "")

// commandLine is what a Bash call runs. ok is false for a call that wants more than to run it.
func commandLine(input json.RawMessage) (command string, ok bool) {
	fields, ok := fieldsOf(input, "command", "description", "timeout")
	if !ok {
		return "", false
	}
	command, ok = fields["command"].(string)
	return command, ok
}

// ruling are words with which an agent could answer itself: the file that has the answers, its
// folder, and this program.
var ruling = regexp.MustCompile(`(?i)(^|[^a-z0-9_-])\.pi($|[^a-z0-9_.-])|ralph-loop|ralph-lsp|ralph\.toml`)

// fieldsOf reads a tool's input. ok is false where it has others than these fields, or one of
// them twice.
func fieldsOf(input json.RawMessage, known ...string) (fields map[string]any, ok bool) {
	if jsonv2.Unmarshal(input, &fields) != nil { // duplicate fields are refused
		return nil, false
	}
	for name := range fields {
		if !slices.Contains(known, name) {
			return nil, false
		}
	}
	return fields, fields != nil
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
func fileOf(dir, tool string, input json.RawMessage) (file string, ok bool) {
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
	file = filepath.ToSlash(rel)
	for part := range strings.SplitSeq(file, "/") {
		if strings.HasPrefix(part, ".") || strings.EqualFold(part, "ralph.toml") || !isPlainWord(part) {
			return "", false
		}
	}
	return file, true
}

// allowsFile says whether a rule's path is the file, or with "/*" behind it its folder.
func allowsFile(arg, file string) bool {
	if folder, ok := strings.CutSuffix(arg, "/*"); ok {
		return folder != "." && folder == path.Dir(file)
	}
	return arg == file
}
