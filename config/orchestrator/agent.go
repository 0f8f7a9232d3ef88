package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"ralph-lsp/config"
)

// custom is what a program of the user's is called, there and here.
const custom = "custom"

// renamed are agents that go by other names here.
var renamed = map[string]string{"kiro-acp": "kiro", "kiro-cli": "kiro", "q": "kiro", "qchat": "kiro"}

// agentNamed returns our name for an agent; "" when it has none.
func (c *converter) agentNamed(name string, line int, key string) string {
	ours := name
	if other, ok := renamed[name]; ok {
		ours = other
	}
	switch {
	case ours == config.Auto || ours == custom:
	case !slices.Contains(c.builtin, ours):
		c.note(line, key, "is left out: %s isn't known; describe it below [backends.NAME] with its command, and name it as backend", name)
		return ""
	case ours != name:
		c.note(line, key, "is %s instead of %s", ours, name)
	}
	return ours
}

func (c *converter) takeBackend(path string, f field) error {
	return text(func(c *converter, name string, line int) {
		c.cli.name, c.cli.nameLine, c.cli.path = name, line, path
	})(c, path, f)
}

func (c *converter) keepAdapters(_ string, f field) (err error) {
	c.adapters, err = c.fields(f.value)
	return err
}

// takeAgent takes over which agent runs, and with what.
func (c *converter) takeAgent() error {
	if c.cli.name != "" {
		c.backend = cmp.Or(c.agentNamed(c.cli.name, c.cli.nameLine, c.cli.path), c.backend)
	}
	switch {
	case c.backend == custom && c.cli.program == "":
		c.backend = config.Auto
		c.note(c.cli.nameLine, c.cli.path, "is left out: there is no cli.command beside it")
	case c.backend == custom:
		c.takeProgram()
	case c.backend == config.Auto:
		if c.cli.program != "" || len(c.cli.args) > 0 {
			c.note(c.cli.line, "cli", "names a command or arguments without an agent that is known; they are left out")
		}
	default:
		c.note(c.cli.nameLine, c.cli.path, "runs %s with what ralph-lsp lets it do without asking: ralph-lsp run --dry-run says what that is", c.backend)
		if c.cli.program != "" {
			c.set("backends."+c.backend, "command", quoteWord(c.cli.program), c.cli.line, "cli.command")
		}
		if len(c.cli.args) > 0 {
			c.set("backends."+c.backend, "args", quoteAll(c.cli.args), c.cli.line, "cli.args")
		}
	}
	if c.cli.name != "" && (c.backend != config.Auto || c.cli.name == config.Auto) {
		c.set("", "backend", quoteWord(c.backend), c.cli.nameLine, c.cli.path)
	}
	for _, f := range c.adapters {
		if err := c.takeAdapter(f); err != nil {
			return err
		}
	}
	return nil
}

// takeProgram takes over a program of the user's.
func (c *converter) takeProgram() {
	table := "backends." + custom
	c.set(table, "command", quoteWord(c.cli.program), c.cli.line, "cli.command")
	args := c.cli.args
	if c.cli.promptMode == "stdin" {
		c.set(table, "prompt", `"stdin"`, c.cli.line, "cli.prompt_mode")
	} else {
		c.set(table, "prompt", `"arg"`, c.cli.line, "cli.prompt_mode")
		if c.cli.promptFlag != "" {
			args = append(slices.Clone(args), c.cli.promptFlag)
		}
	}
	if len(args) > 0 {
		c.set(table, "args", quoteAll(args), c.cli.line, "cli.args")
	}
}

// takeAdapter takes over the settings of one agent.
func (c *converter) takeAdapter(adapter field) error {
	fields, err := c.fields(adapter.value)
	if err != nil {
		return err
	}
	name := adapter.key
	if other, ok := renamed[name]; ok {
		name = other
	}
	for _, f := range fields {
		path := "adapters." + adapter.key + "." + f.key
		_, isSet := c.out.get("limits", "idle_timeout")
		switch {
		case f.key == "enabled" || isOff(f.value):
		case f.key == "timeout" && name == c.backend && !isSet:
			err = limit("idle_timeout", "s")(c, path, f)
			c.note(f.line, path, "is how long a run may print nothing, not how long it may take")
		case f.key == "timeout":
			c.leaveOut(f.line, path, "idle_timeout below [limits] is for all agents")
		case f.key == "args" && slices.Contains(c.builtin, name):
			var args []string
			err = c.texts(path, f, &args, nil)
			if _, ok := c.out.get("backends."+name, "args"); !ok && len(args) > 0 {
				c.set("backends."+name, "args", quoteAll(args), f.line, path)
			}
		case f.key == "tool_permissions":
			c.leaveOut(f.line, path, "what an agent may do is said by its arguments, args below [backends.NAME]")
		default:
			c.leaveOut(f.line, path, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeHatBackend takes over the agent of a hat.
func (c *converter) takeHatBackend(h *hat, path string, f field) error {
	h.backendLine = f.line
	if f.value.Kind == yaml.ScalarNode {
		h.backend = f.value.Value
		return nil
	}
	fields, err := c.fields(f.value)
	if err != nil {
		return err
	}
	for _, f := range fields {
		switch f.key {
		case "type":
			h.backend = f.value.Value
		case "command":
			h.command = f.value.Value
		case "agent":
			h.args = append(h.args, "--agent", f.value.Value)
		case "args":
			var args []string
			if err := c.texts(path+".args", f, &args, nil); err != nil {
				return err
			}
			h.args = append(h.args, args...)
		default:
			c.leaveOut(f.line, path+"."+f.key, "")
		}
	}
	return nil
}

// backendOf is a hat's backend as our file has it; "" for the loop's own.
func (c *converter) backendOf(h *hat) string {
	key := "hats." + h.id + ".backend"
	args := ""
	if len(h.args) > 0 {
		args = ", args = " + quoteAll(h.args)
	}
	if h.command != "" {
		c.note(h.backendLine, key, "gets the prompt on standard input, not as an argument")
		return fmt.Sprintf("{ command = %s%s }", quoteWord(h.command), args)
	}
	name := c.backend
	if h.backend != "" {
		if name = c.agentNamed(h.backend, h.backendLine, key); name == "" {
			return ""
		}
	}
	_, hasCustom := c.out.get("backends."+custom, "command")
	switch {
	case h.backend == "" && args == "":
		return ""
	case name == custom && !hasCustom:
		c.note(h.backendLine, key, "is left out: there is no cli.command")
		return ""
	case args == "":
		return quoteWord(name)
	case name == config.Auto:
		c.note(h.backendLine, "hats."+h.id+".backend_args", "are left out: they are for an agent that the file doesn't name")
		return ""
	}
	return fmt.Sprintf("{ type = %s%s }", quoteWord(name), args)
}

// takeGates makes one check of the commands that have to pass.
func (c *converter) takeGates(path string, f field) error {
	fields, err := c.fields(f.value)
	if err != nil {
		return err
	}
	var commands []string
	for _, f := range fields {
		if f.key != "gates" {
			c.leaveOut(f.line, path+"."+f.key, "")
			continue
		}
		for _, item := range f.value.Content {
			if item, err = c.follow(item); err != nil {
				return err
			}
			gate, err := c.fields(item)
			if err != nil {
				return err
			}
			for _, g := range gate {
				if command := strings.TrimSpace(g.value.Value); g.key == "command" && command != "" {
					commands = append(commands, command)
				}
			}
		}
	}
	if len(commands) > 1 {
		for i, command := range commands {
			switch {
			case strings.ContainsAny(command, "#\n"): // a comment at its end would take the rest
				commands[i] = "(" + command + "\n)"
			case strings.ContainsAny(command, ";|&"):
				commands[i] = "(" + command + ")"
			}
		}
	}
	if len(commands) > 0 && c.set("verify", "command", quote(strings.Join(commands, " && ")), f.line, path) {
		c.note(f.line, path, "is the check of [verify] now: it runs when the agent promises, and a promise counts when it passes")
	}
	return nil
}
