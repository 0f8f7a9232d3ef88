package orchestrator

import (
	"cmp"
	"fmt"
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
func (c *converter) agentNamed(name string, f field) string {
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

// takeAgent takes over which agent runs, and with what.
func (c *converter) takeAgent() {
	name, program, args := c.said["cli.backend"], c.said["cli.command"], c.lists["cli.args"]
	if name.text != "" {
		c.backend = cmp.Or(c.agentNamed(name.text, name), c.backend)
	}
	switch {
	case c.backend == custom && program.text == "":
		c.backend = config.Auto
		c.note(name, "is left out: there is no cli.command beside it")
	case c.backend == custom:
		c.takeProgram(program, args)
	case c.backend == config.Auto:
		if program.text != "" || len(args) > 0 {
			c.note(field{path: "cli", at: cmp.Or(program.at, c.said["cli.args"].at)}, "names a command or arguments without an agent that is known; they are left out")
		}
	default:
		c.note(name, "runs %s with what ralph-lsp lets it do without asking: ralph-lsp run --dry-run says what that is", c.backend)
		c.set("backends."+c.backend, "command", quote(program.text), program)
		c.set("backends."+c.backend, "args", quoteAll(args), c.said["cli.args"])
	}
	if name.text != "" && (c.backend != config.Auto || name.text == config.Auto) {
		c.set("", "backend", quoteWord(c.backend), name)
	}
	for _, adapter := range c.fieldsOf(c.said["adapters"].value) {
		c.takeAdapter(adapter)
	}
}

// takeProgram takes over a program of the user's.
func (c *converter) takeProgram(program field, args []string) {
	prompt := "arg"
	if c.said["cli.prompt_mode"].text == "stdin" {
		prompt = "stdin"
	} else if flag := c.said["cli.prompt_flag"].text; flag != "" {
		args = append(slices.Clone(args), flag)
	}
	c.set("backends.custom", "command", quoteWord(program.text), program)
	c.set("backends.custom", "prompt", quoteWord(prompt), program)
	c.set("backends.custom", "args", quoteAll(args), program)
}

// takeAdapter takes over the settings of one agent.
func (c *converter) takeAdapter(adapter field) {
	name := cmp.Or(renamed[adapter.key], adapter.key)
	table := "backends." + name
	for _, f := range c.fieldsOf(adapter.value) {
		_, hasTimeout := c.out.get("limits", "idle_timeout")
		_, hasArgs := c.out.get(table, "args")
		switch {
		case f.key == "enabled" || f.isOff():
		case f.key == "timeout" && name == c.backend && !hasTimeout:
			c.setLimit("idle_timeout", f)
			c.note(f, "is how long a run may print nothing, not how long it may take")
		case f.key == "timeout":
			c.leaveOut(f, "idle_timeout below [limits] is for all agents")
		case f.key == "args" && slices.Contains(c.builtin, name):
			if args := c.textsOf(f); !hasArgs {
				c.set(table, "args", quoteAll(args), f)
			}
		case f.key == "tool_permissions":
			c.leaveOut(f, "what an agent may do is said by its arguments, args below [backends.NAME]")
		default:
			c.leaveOut(f, "")
		}
	}
}

// takeHatBackend takes over the agent of a hat.
func (c *converter) takeHatBackend(h *hat, f field) {
	if f.kind == yaml.ScalarNode {
		h.backend = f.text
		return
	}
	for _, f := range c.fieldsOf(f.value) {
		switch f.key {
		case "type":
			h.backend = f.text
		case "command":
			h.command = f.text
		case "agent":
			h.args = append(h.args, "--agent", f.text)
		case "args":
			h.args = append(h.args, c.textsOf(f)...)
		default:
			c.leaveOut(f, "")
		}
	}
}

// backendOf is a hat's backend as our file has it; "" for the loop's own.
func (c *converter) backendOf(h *hat) string {
	f := h.said("backend")
	args := quoteAll(h.args)
	if args != "" {
		args = ", args = " + args
	}
	if h.command != "" {
		c.note(f, "gets the prompt on standard input, not as an argument")
		return fmt.Sprintf("{ command = %s%s }", quoteWord(h.command), args)
	}
	name := c.backend
	if h.backend != "" {
		if name = c.agentNamed(h.backend, f); name == "" {
			return ""
		}
	}
	_, hasCustom := c.out.get("backends."+custom, "command")
	switch {
	case h.backend == "" && args == "":
		return ""
	case name == custom && !hasCustom:
		c.note(f, "is left out: there is no cli.command")
		return ""
	case args == "":
		return quoteWord(name)
	case name == config.Auto:
		c.note(h.said("backend_args"), "are left out: they are for an agent that the file doesn't name")
		return ""
	}
	return fmt.Sprintf("{ type = %s%s }", quoteWord(name), args)
}

// takeGates makes one check of the commands that have to pass.
func (c *converter) takeGates(f field) {
	var commands []string
	for _, f := range c.fieldsOf(f.value) {
		if f.key != "gates" {
			c.leaveOut(f, "")
			continue
		}
		for _, item := range f.list {
			for _, g := range c.fieldsOf(item) {
				if command := strings.TrimSpace(g.text); g.key == "command" && command != "" {
					commands = append(commands, command)
				}
			}
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
	if len(commands) > 0 && c.set("verify", "command", quote(strings.Join(commands, " && ")), f) {
		c.note(f, "is the check of [verify] now: it runs when the agent promises, and a promise counts when it passes")
	}
}
