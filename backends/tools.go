package backends

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// AgentFiles say where an agent keeps the agents that people describe in markdown. The zero
// value: nowhere.
type AgentFiles struct {
	Env    string // names the folder of the user's, "CLAUDE_CONFIG_DIR"
	Home   string // that folder, below the home folder, where Env isn't set: ".claude"
	Folder string // the same of a project: ".claude"
	// Deep: files in subfolders count, too.
	Deep bool
	// Loose: front matter that isn't YAML is read line by line.
	Loose bool
}

// Tools say how an agent is told which tools it has. The zero value: it can't be.
type Tools struct {
	Only  string // the flag that takes the names of all that it has, joined by commas
	Deny  string // the flag that takes those that it doesn't have
	Allow string // the flag that takes what runs without asking, also narrowed: "Bash(git diff *)"; "" where it can't be
	// Known are its built-in tools. Where two agents have one for the same, it can be
	// translated; of several for the same, the first is taken.
	Known []Tool
}

// Tool is a tool with what it does, in a word that all agents share: {"Glob", "find"}.
type Tool struct{ Name, Does string }

// readers are what tools do that change nothing.
var readers = []string{"read", "grep", "find", "ls"}

// OnlyReads says whether the agent's tool of a name changes nothing.
func (t Tools) OnlyReads(name string) bool {
	return slices.ContainsFunc(t.Known, func(k Tool) bool { return strings.EqualFold(k.Name, name) && slices.Contains(readers, k.Does) })
}

// called returns the tool with a name.
func (t Tools) called(name string) (Tool, bool) {
	i := slices.IndexFunc(t.Known, func(k Tool) bool { return k.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return t.Known[i], true
}

// Translate returns the name of the tool that does here what another agent's does there.
func (b Backend) Translate(name string, from Backend) (string, error) {
	own, known := from.Tools.called(name)
	i := slices.IndexFunc(b.Tools.Known, func(t Tool) bool { return t.Does == own.Does })
	if !known || i < 0 {
		return "", fmt.Errorf("%s has no tool like %s's %s", b.Name, from.Name, name)
	}
	return b.Tools.Known[i].Name, nil
}

// CheckTool says what is wrong with the name of a tool; "" when nothing is known to be. Agents
// may have more tools than the built-in ones, and leave out silently what they haven't.
func (b Backend) CheckTool(name string) string {
	if _, ok := b.Tools.called(name); ok {
		return ""
	}
	for _, t := range b.Tools.Known {
		if strings.EqualFold(t.Name, name) {
			return fmt.Sprintf("%s has no tool %s; did you mean %s?", b.Name, name, t.Name)
		}
	}
	return ""
}

// ToolArgs are the arguments with which the agent has these tools and no others. One may
// be narrowed, as in "Bash(git diff *)", or belong to a server, as "mcp__server__tool" does.
func (b Backend) ToolArgs(names []string) ([]string, error) {
	if b.Tools.Only == "" {
		return nil, fmt.Errorf("%s can't be told which tools it has", b.Name)
	}
	var only, allow []string
	for _, name := range names {
		plain, _, isNarrow := strings.Cut(name, "(")
		isServers := strings.HasPrefix(name, "mcp__")
		switch {
		case b.Tools.Allow == "" && isNarrow:
			return nil, fmt.Errorf("%s can't be told a part of a tool, as %s is", b.Name, name)
		case b.Tools.Allow != "" && (isNarrow || isServers):
			allow = append(allow, name)
		}
		if (!isServers || b.Tools.Allow == "") && !slices.Contains(only, plain) {
			only = append(only, plain)
		}
	}
	args := []string{b.Tools.Only, strings.Join(only, ",")}
	if len(allow) > 0 {
		args = append(args, b.Tools.Allow, strings.Join(allow, ","))
	}
	return args, nil
}

// ReadOnlyArgs returns the arguments with which the agent can change nothing: it gets the tools of names that only
// read, or all such where names is nil. No arguments: the agent can't be held to that. The error is for names of
// which none only reads.
func (b Backend) ReadOnlyArgs(names []string) ([]string, error) {
	if b.Tools.Only == "" {
		return b.ReadOnly, nil
	}
	var found []string
	for _, t := range b.Tools.Known {
		if slices.Contains(readers, t.Does) && (names == nil || slices.Contains(names, t.Name)) && !slices.Contains(found, t.Name) {
			found = append(found, t.Name)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("none of its tools only reads: %s", strings.Join(names, ", "))
	}
	return b.ToolArgs(found)
}

// CheckModel says what is wrong with a model that a file for another agent names; "" when
// the name may be one of this agent's.
func (b Backend) CheckModel(name, other string) string {
	switch {
	case b.ModelFlag == "":
		return b.Name + " can't be told its model"
	case b.Models == "" || !regexp.MustCompile(b.Models).MatchString(name):
		return fmt.Sprintf("%s has no model %s, which is %s's name for one", b.Name, name, other)
	}
	return ""
}
