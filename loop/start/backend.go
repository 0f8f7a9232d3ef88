package start

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/backends/acp"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// Detect finds the agent for a start that names none.
type Detect func(context.Context) (backends.Backend, error)

// Installed is the first known backend that is installed.
func Installed(ctx context.Context) (backends.Backend, error) {
	b, _, err := backends.Detect(ctx)
	return b, err
}

// UnknownHatError says that no file has a hat of that name.
type UnknownHatError struct {
	Name  string
	Known []string
}

func (e *UnknownHatError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no hat %q: none is described; write one below [hats.NAME] in ralph.toml", e.Name)
	}
	return fmt.Sprintf("there is no hat %q: %s", e.Name, format.Known(e.Name, e.Known))
}

// chosen is an agent with the arguments that go behind its own.
type chosen struct {
	backend backends.Backend
	hat     string
	args    []string
	from    config.Source // who chose it
}

// catalog has the agents that a start can name.
type catalog struct {
	settings  config.Settings
	installed Detect
	host      string // the agent that the start comes from; "": none
}

func (r Resolver) catalog() catalog { return catalog{r.Settings, r.Detect, r.Host.Name} }

// choose returns the agent that a start names, else the editor's settings,
// else the files. A hat of the start's goes before a backend of the editor's.
func (c catalog) choose(ctx context.Context, start, editor Agent) (chosen, error) {
	if err := start.checkProgramFlags(); err != nil {
		return chosen{}, err
	}
	switch {
	case start.Hat != "":
		return c.wear(ctx, start.Hat, start.Name)
	case start.Name != "":
		return c.named(ctx, start, config.FromStart)
	case editor.Hat != "":
		return c.wear(ctx, editor.Hat, editor.Name)
	case editor.Name != "":
		return c.named(ctx, editor, config.FromEditor)
	}
	return c.named(ctx, Agent{Name: c.settings.Backend}, c.settings.Source("backend"))
}

// named returns the agent with a name, or of a path.
func (c catalog) named(ctx context.Context, a Agent, from config.Source) (chosen, error) {
	if IsPath(a.Name) {
		b, err := a.program()
		return chosen{backend: b, from: from}, err
	}
	b, args, err := c.lookup(ctx, a.Name)
	return chosen{backend: b, args: args, from: from}, err
}

// wear returns the agent of a hat. A backend that is named beside must be the hat's.
func (c catalog) wear(ctx context.Context, name, beside string) (chosen, error) {
	hat, ok := c.settings.Hats[name]
	if !ok {
		return chosen{}, &UnknownHatError{name, c.settings.HatNames()}
	}
	own := cmp.Or(hat.Backend, hat.Command)
	if own == "" { // it has none of its own
		agent, err := c.named(ctx, Agent{Name: cmp.Or(beside, c.settings.Backend)}, c.settings.Source("backend"))
		agent.hat = name
		return agent, err
	}
	if beside != "" && beside != own {
		return chosen{}, fmt.Errorf("the hat %s is one of %s; leave out the backend %s, or the hat", name, own, beside)
	}
	if hat.Command != "" {
		b := custom(hat.Command, nil, "", "")
		return chosen{b, name, hat.Args, c.settings.Source("hats." + name + ".backend.command")}, nil
	}
	b, args, err := c.lookup(ctx, hat.Backend)
	from := cmp.Or(c.settings.Source("hats."+name+".backend.type"), c.settings.Source("hats."+name+".backend"))
	return chosen{b, name, slices.Concat(args, hat.Args), from}, err
}

// detect finds the agent where nobody names one: the host's, which runs, so it is installed.
func (c catalog) detect(ctx context.Context) (backends.Backend, error) {
	if c.host != "" {
		return backends.Lookup(c.host)
	}
	return c.installed(ctx)
}

// lookup returns a backend as the settings have it. args are those that the
// settings give a known one.
func (c catalog) lookup(ctx context.Context, name string) (b backends.Backend, args []string, err error) {
	if name == config.Auto {
		if b, err = c.detect(ctx); err != nil {
			return b, nil, err
		}
		name = b.Name
	}
	own, described := c.settings.Backends[name]
	b, err = backends.Lookup(name)
	switch {
	case err == nil:
		b.Command = cmp.Or(own.Command, b.Command)
		b.Env = slices.Concat(own.Env, b.Env)
		b.Prompt = cmp.Or(backends.PromptMode(own.Prompt), b.Prompt)
		b.Output = cmp.Or(decode.Format(own.Output), b.Output)
		b.InteractiveArgs = slices.Concat(b.InteractiveArgs, own.InteractiveArgs)
		if own.Settings == config.SettingsUser {
			b = b.WithHooks()
		}
		return b.WithModes(own.Mode, own.AskMode), own.Args, nil
	case described && own.Protocol == config.ProtocolACP:
		b = backends.CustomACP(own.Command, own.Args, acp.Agent{Mode: own.Mode, AskMode: own.AskMode, Cost: own.Cost})
		b.Name, b.InteractiveArgs, b.Env = name, own.InteractiveArgs, own.Env
		return b, nil, nil
	case described:
		b = custom(own.Command, own.Args, own.Prompt, own.Output)
		b.Name, b.InteractiveArgs, b.Env = name, own.InteractiveArgs, own.Env
		return b, nil, nil
	}
	return b, nil, c.unknown(name)
}

// unknown says which backends there are, those of the files among them.
func (c catalog) unknown(name string) error {
	known := backends.Names()
	for _, own := range slices.Sorted(maps.Keys(c.settings.Backends)) {
		if !slices.Contains(known, own) {
			known = append(known, own)
		}
	}
	return &backends.UnknownError{Name: name, Known: known}
}

// custom describes a program of the user's own.
func custom(command string, args []string, prompt, output string) backends.Backend {
	mode := backends.PromptMode(cmp.Or(prompt, string(backends.PromptStdin)))
	b := backends.Custom(command, args, mode, decode.Format(cmp.Or(output, string(decode.FormatText))))
	b.Name, b.InteractivePrompt = command, backends.Positional
	return b
}
