package start

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"ralph-lsp/backends"
	"ralph-lsp/stream"
)

// Agent is what a start says of the agent.
type Agent struct {
	Name   string // a backend, Auto, or the path of a program
	Hat    string
	Output Choice
	Prompt Choice
	Args   []string
	Model  string
}

// AddFlags adds the flags that choose the agent of a loop to a set.
func (a *Agent) AddFlags(f *pflag.FlagSet) {
	a.Output, a.Prompt = outputs(), prompts()
	a.AddInteractiveFlags(f)
	f.Var(&a.Output, "backend-output", "the `FORMAT` that a program of your own prints: "+strings.Join(a.Output.Of, ", ")+" (default text)")
	f.Var(&a.Prompt, "backend-prompt", "how a program of your own gets the prompt (default stdin)")
	f.StringVar(&a.Model, "model", "", "the `NAME` of the model, in the agent's own words")
}

// outputs are the ways in which a program of the user's own may speak.
func outputs() Choice {
	var c Choice
	for _, format := range stream.Formats() {
		c.Of = append(c.Of, string(format))
	}
	return c
}

// prompts are the ways in which such a program may get the prompt.
func prompts() Choice {
	return Choice{Of: []string{string(backends.PromptStdin), string(backends.PromptArg), string(backends.PromptFile)}}
}

// speaksAs lets a program of the user's own speak as a state file says, where
// the user doesn't.
func (a *Agent) speaksAs(found Found) error {
	for key, said := range map[string]struct {
		ours *Choice
		of   Choice
		text string
	}{"backend_output": {&a.Output, outputs(), found.Output}, "backend_prompt": {&a.Prompt, prompts(), found.Prompt}} {
		if said.ours.Value != "" || said.text == "" {
			continue
		}
		if err := said.of.Set(said.text); err != nil {
			return fmt.Errorf("%s: %s: %w", found.File, key, err)
		}
		*said.ours = said.of
	}
	return nil
}

// goOnAs lets a program of the user's own that a state file names speak as that says.
func (a *Agent) goOnAs(found Found) error {
	if a.Hat != "" || !IsPath(a.Name) {
		return nil
	}
	path, err := filepath.Abs(a.Name)
	if err == nil && path == found.Backend {
		err = a.speaksAs(found)
	}
	return err
}

// AddInteractiveFlags adds those that also count for an agent's own interface.
func (a *Agent) AddInteractiveFlags(f *pflag.FlagSet) {
	f.StringVar(&a.Name, "backend", "", "the `AGENT`: "+strings.Join(backends.Names(), ", ")+", one of ralph.toml, or a path to a program (default: the first that is installed)")
	f.StringVar(&a.Hat, "hat", "", "the `NAME` of the role, one of ralph.toml's [hats]")
	f.StringArrayVar(&a.Args, "backend-arg", nil, "an argument for the agent; may be repeated")
}

// IsPath says whether a backend is named by its program's path.
func IsPath(name string) bool { return strings.ContainsAny(name, `/\`) }

// program describes the program at the path that the agent's name is; the
// loop's folder may be another than the one that the path starts from.
func (a *Agent) program() (backends.Backend, error) {
	path, err := filepath.Abs(a.Name)
	if err != nil {
		return backends.Backend{}, fmt.Errorf("finding the program %s: %w", a.Name, err)
	}
	b := custom(path, nil, a.Prompt.Value, a.Output.Value)
	b.Name = path // the state file names it so, and it can be continued
	return b, nil
}

// checkProgramFlags refuses flags that only a program of the user's own takes.
func (a *Agent) checkProgramFlags() error {
	if !IsPath(a.Name) && (a.Output.Value != "" || a.Prompt.Value != "") {
		return errors.New("--backend-output and --backend-prompt go with a program of your own; name it with --backend ./PROGRAM")
	}
	return nil
}
