package orchestrator

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ralph-lsp/ralph-lsp/config"
)

// custom is what a program of the user's is called, there and here.
const custom = "custom"

// renamed are agents that go by other names here.
var renamed = map[string]string{"kiro-acp": "kiro", "kiro-cli": "kiro", "q": "kiro", "qchat": "kiro"}

// agentNamed returns our name for the agent that a key names; "" when it has none.
func (c *converter) agentNamed(name string, f *field) string {
	ours := cmp.Or(renamed[name], name)
	switch {
	case ours == config.Auto || ours == custom:
	case !slices.Contains(c.builtin, ours):
		c.note(f, "is left out: %s isn't known; describe it below [backends.NAME] with its command, and name it as backend", name)
		return ""
	case ours != name:
		c.note(f, "is %s instead of %s", ours, name)
	}
	return ours
}

// setAgent takes over which agent runs, and with what.
func (c *converter) setAgent() {
	name, program, args := c.said("cli.backend"), c.said("cli.command"), c.said("cli.args")
	mode, flag := c.text(c.said("cli.prompt_mode")), c.said("cli.prompt_flag")
	words, prompt := c.texts(args), ""
	if c.text(name) != "" {
		c.backend = cmp.Or(c.agentNamed(name.text, name), c.backend)
	}
	switch {
	case c.backend == custom && c.text(program) == "":
		c.backend = config.Auto
		c.note(name, "is left out: there is no cli.command beside it")
	case c.backend == config.Auto:
		if program.text != "" || len(words) > 0 {
			c.notef(cmp.Or(program.at, args.at), "cli names a command or arguments without an agent that is known; they are left out")
		}
	case c.backend == custom:
		if prompt = "arg"; mode == "stdin" {
			prompt = mode
		} else if c.text(flag) != "" {
			words, args = append(words, flag.text), flag
		}
	default:
		c.note(name, "runs %s with what ralph-lsp lets it do without asking: ralph-lsp run --dry-run says what that is", c.backend)
	}
	if c.backend != config.Auto {
		c.set("backends."+c.backend, "command", quote(program.text), program)
		c.set("backends."+c.backend, "prompt", quote(prompt), program)
		c.set("backends."+c.backend, "args", quoteAll(words), args)
	}
	if name.text != "" && (c.backend != config.Auto || name.text == config.Auto) {
		c.set("", "backend", quote(c.backend), name)
	}
	for _, adapter := range c.names(c.get(c.root, "adapters")) {
		c.setAdapter(adapter)
	}
}

// setAdapter takes over the settings of one agent.
func (c *converter) setAdapter(adapter *field) {
	name := cmp.Or(renamed[adapter.key], adapter.key)
	c.get(adapter, "enabled")
	if f := c.get(adapter, "timeout"); f.at > 0 && name == c.backend && !c.has("limits", "idle_timeout") {
		c.setLimit("idle_timeout", f)
		c.note(f, "is how long a run may print nothing, not how long it may take")
	} else if f.at > 0 {
		c.leaveOut(f, "idle_timeout below [limits] is for all agents")
	}
	if !slices.Contains(c.builtin, name) {
		return
	}
	if args := c.get(adapter, "args"); !c.has("backends."+name, "args") {
		c.set("backends."+name, "args", quoteAll(c.texts(args)), args)
	}
}

// backendOf is a hat's backend as our file has it; "" for the loop's own.
func (c *converter) backendOf(h *hat) string {
	f, own := c.get(h.field, "backend"), ""
	var command, args []string
	if own = f.text; f.kind == yaml.MappingNode {
		own, command = c.text(c.get(f, "type")), c.texts(c.get(f, "command"))
		for _, agent := range c.texts(c.get(f, "agent")) {
			args = append(args, "--agent", agent)
		}
		args = append(args, c.texts(c.get(f, "args"))...)
	}
	args = slices.Concat(args, c.texts(c.get(h.field, "backend_args")), c.texts(c.get(h.field, "args")))
	more := ""
	if len(args) > 0 {
		more = ", args = " + quoteAll(args)
	}
	if f = h.at("backend"); len(command) > 0 {
		c.note(f, "gets the prompt on standard input, not as an argument")
		return "{ command = " + quoteWord(command[0]) + more + " }"
	}
	name := c.backend
	if own != "" {
		name = c.agentNamed(own, f)
	}
	switch {
	case name == "", own == "" && more == "":
		return ""
	case name == custom && !c.has("backends."+custom, "command"):
		c.note(f, "is left out: there is no cli.command")
		return ""
	case more == "":
		return quoteWord(name)
	case name == config.Auto:
		c.note(h.at("backend_args"), "are left out: they are for an agent that the file doesn't name")
		return ""
	}
	return "{ type = " + quoteWord(name) + more + " }"
}

// setGates makes one check of the commands that have to pass.
func (c *converter) setGates(f *field) {
	var commands []string
	for _, gate := range c.get(f, "gates").list {
		if command := strings.TrimSpace(c.get(gate, "command").text); command != "" {
			commands = append(commands, command)
		}
	}
	for i, command := range commands {
		switch {
		case len(commands) == 1:
		case strings.ContainsAny(command, "#\n"): // a comment at its end would take the rest
			commands[i] = "(" + command + "\n)"
		case strings.ContainsAny(command, ";|&"):
			commands[i] = "(" + command + ")"
		}
	}
	if c.set("verify", "command", quote(strings.Join(commands, " && ")), f) {
		c.note(f, "is the check of [verify] now: it runs when the agent promises, and a promise counts when it passes")
	}
}
