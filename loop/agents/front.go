package agents

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Names of agents are bounded, in bytes.
const maxName = 64

// cosmetic are keys of a front matter that mean nothing to who runs the agent.
var cosmetic = []string{"color", "version", "author", "license", "tags"}

// field is a key of a front matter with its value.
type field struct {
	key   string
	line  int // in the file, 1-based
	value *yaml.Node
}

// parse reads a file. An agent without a name, and with a warning at most, isn't one.
func parse(data []byte, isLoose bool) (Agent, []FileProblem) {
	text := strings.ReplaceAll(strings.ToValidUTF8(strings.TrimPrefix(string(data), "\uFEFF"), "\uFFFD"), "\r\n", "\n")
	front, body, ok := split(text)
	switch {
	case !ok && strings.HasPrefix(text, "---\n"):
		return Agent{}, []FileProblem{{Line: 1, Message: "the front matter has no end; close it with a line ---"}}
	case !ok:
		return Agent{}, []FileProblem{{IsWarning: true, Message: "isn't an agent: it has no front matter with a name"}}
	case strings.IndexByte(text, 0) >= 0:
		return Agent{}, []FileProblem{{Message: "has a NUL byte; save it as UTF-8 text"}}
	}
	fields, problem := fieldsOf(front)
	if problem != nil && isLoose {
		if loose, ok := looseFields(front); ok {
			fields, problem = loose, nil
		}
	}
	if problem != nil {
		return Agent{}, []FileProblem{*problem}
	}
	a := Agent{Instructions: strings.TrimSpace(body)}
	problems := a.take(fields)
	if len(problems) == 0 && a.Instructions == "" {
		problems = append(problems, FileProblem{Message: "has no system prompt; write it behind the front matter"})
	}
	return a, problems
}

// split parts a file into its front matter and what stands behind.
func split(text string) (front, body string, ok bool) {
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, " \t") != "---" {
		return "", "", false
	}
	at := 0
	for line := range strings.Lines(rest) {
		behind := at + len(line)
		if strings.TrimRight(line, " \t\n") == "---" {
			return rest[:at], rest[behind:], true
		}
		at = behind
	}
	return "", "", false
}

// fieldsOf reads a front matter as YAML.
func fieldsOf(front string) ([]field, *FileProblem) {
	var doc yaml.Node
	if strings.TrimSpace(front) == "" {
		return nil, nil
	}
	if err := yaml.Load([]byte(front), &doc); err != nil {
		p := &FileProblem{Line: 1, Message: "the front matter isn't YAML: " + stream.Line(err.Error(), 200)}
		if at := (*yaml.LoadError)(nil); errors.As(err, &at) {
			p.Line, p.Message = at.Mark.Line+1, "the front matter isn't YAML: "+at.Message
		}
		return nil, p
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, &FileProblem{Line: top.Line + 1, Message: "the front matter has no keys; write name: NAME"}
	}
	var fields []field
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if slices.ContainsFunc(fields, func(f field) bool { return f.key == key.Value }) {
			return nil, &FileProblem{Line: key.Line + 1, Message: key.Value + " is there twice; leave one out"}
		}
		fields = append(fields, field{key.Value, key.Line + 1, value})
	}
	return fields, nil
}

// looseFields reads a front matter each line of which is a key with a text, whatever that
// means in YAML. Descriptions of claude's agents often aren't YAML.
func looseFields(front string) (fields []field, ok bool) {
	for i, line := range strings.Split(front, "\n") {
		if line = strings.TrimRight(line, " \t"); line == "" {
			continue
		}
		key, value, found := strings.Cut(line, ":")
		if !found || key == "" || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '_' }) {
			return nil, false
		}
		node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(value)}
		fields = append(fields, field{key, i + 2, node})
	}
	return fields, true
}

// take puts the fields in their places, and says what is wrong with them.
func (a *Agent) take(fields []field) (problems []FileProblem) {
	wrong := func(f field, format string, args ...any) {
		problems = append(problems, FileProblem{Line: f.line, Message: f.key + " " + fmt.Sprintf(format, args...)})
	}
	text := func(f field, to *string) {
		if f.value.Kind != yaml.ScalarNode || f.value.Tag != "!!str" {
			wrong(f, "isn't a text; put it in quotes")
		}
		*to = strings.TrimSpace(f.value.Value)
	}
	names := func(f field, to *[]string) {
		list, ok := toolNames(f.value)
		if !ok || len(list) == 0 {
			wrong(f, "names no tools; write them as in \"read, bash\", or leave it out for all of them")
		}
		*to = list
	}
	for _, f := range fields {
		switch f.key {
		case "name":
			text(f, &a.Name)
			if why := checkName(a.Name); why != "" {
				wrong(f, "%s", why)
			}
		case "description":
			text(f, &a.Description)
		case "tools":
			if names(f, &a.Tools); slices.Contains(a.Tools, "*") {
				a.Tools = nil
			}
		case "disallowedTools":
			names(f, &a.Denied)
		case "model":
			if text(f, &a.Model); strings.EqualFold(a.Model, "inherit") {
				a.Model = ""
			}
			if isNoWord(a.Model) {
				wrong(f, "is %q, which can't be a model", a.Model)
			}
		case "permissionMode":
			if text(f, &a.Mode); isNoWord(a.Mode) {
				wrong(f, "is %q, which can't be a permission mode", a.Mode)
			}
		default:
			if !slices.Contains(cosmetic, f.key) {
				a.Ignored = append(a.Ignored, stream.Line(f.key, maxName))
			}
		}
	}
	if a.Name == "" && len(problems) == 0 {
		problems = append(problems, FileProblem{Line: 1, Message: "the front matter has no name; write name: NAME"})
	}
	return problems
}

// toolNames are the names of a list, or of a text with commas between them. A comma in
// brackets belongs to a name: "Bash(git add, git commit)".
func toolNames(n *yaml.Node) (names []string, ok bool) {
	add := func(name string) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, false
			}
			add(item.Value)
		}
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		begin, depth := 0, 0
		for i, r := range n.Value {
			switch {
			case r == '(':
				depth++
			case r == ')':
				depth--
			case r == ',' && depth <= 0:
				add(n.Value[begin:i])
				begin = i + 1
			}
		}
		add(n.Value[begin:])
	default:
		return nil, false
	}
	return names, !slices.ContainsFunc(names, isNoWord)
}

// isNoWord says whether a text can't be the value of an argument.
func isNoWord(s string) bool { return strings.HasPrefix(s, "-") || strings.ContainsFunc(s, isUnseen) }

// checkName completes "name ..." for a name that nobody could say on a command line.
func checkName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.HasPrefix(name, "-"):
		return "begins with -; begin it with a letter"
	case strings.ContainsAny(name, ",:/\\") || strings.ContainsFunc(name, isUnseen):
		return fmt.Sprintf("is %q; leave out commas, colons, slashes and what can't be seen", name)
	}
	return ""
}

// isUnseen says whether a rune doesn't show in a line.
func isUnseen(r rune) bool { return unicode.IsControl(r) || stream.IsHidden(r) }
