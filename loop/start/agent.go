package start

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"ralph-lsp/backends"
	"ralph-lsp/stream"
)

// Agent are the flags that choose the agent of a loop.
type Agent struct {
	Name   string
	Output Choice
	Prompt Choice
	Args   []string
	Model  string
}

// AddFlags adds them to a set.
func (a *Agent) AddFlags(f *pflag.FlagSet) {
	a.Output = Choice{Of: []string{string(stream.FormatText), string(stream.FormatPi), string(stream.FormatClaude)}}
	a.Prompt = Choice{Of: []string{string(backends.PromptStdin), string(backends.PromptArg), string(backends.PromptFile)}}
	f.StringVar(&a.Name, "backend", "", "the agent: "+strings.Join(backends.Names(), ", ")+", or a path to a program (default: the first that is installed)")
	f.Var(&a.Output, "backend-output", "what a program of your own prints (default text)")
	f.Var(&a.Prompt, "backend-prompt", "how a program of your own gets the prompt (default stdin)")
	f.StringArrayVar(&a.Args, "backend-arg", nil, "an argument for the agent; may be repeated")
	f.StringVar(&a.Model, "model", "", "the model, in the agent's own words")
}

// IsPath says whether a backend is named by its program's path.
func IsPath(name string) bool { return strings.ContainsAny(name, `/\`) }

// Choose returns the backend that the flags name. found names the one that a
// loop had before, where it is continued; without either the first that is
// installed is taken.
func (a *Agent) Choose(ctx context.Context, found string) (backends.Backend, error) {
	name := cmp.Or(a.Name, found)
	if !IsPath(name) && (a.Output.Value != "" || a.Prompt.Value != "") {
		return backends.Backend{}, errors.New("--backend-output and --backend-prompt go with a program of your own; name it with --backend ./PROGRAM")
	}
	switch {
	case name == "" || name == "auto":
		b, _, err := backends.Detect(ctx)
		return b, err
	case IsPath(name):
		return a.custom(name)
	}
	return backends.Lookup(name)
}

// custom describes the program at path; the loop's folder may be another than
// the one that the path starts from.
func (a *Agent) custom(path string) (backends.Backend, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return backends.Backend{}, fmt.Errorf("finding the program %s: %w", path, err)
	}
	format := stream.Format(cmp.Or(a.Output.Value, string(stream.FormatText)))
	mode := backends.PromptMode(cmp.Or(a.Prompt.Value, string(backends.PromptStdin)))
	b := backends.Custom(path, nil, mode, format)
	b.Name = path // the state file names it so, and it can be continued
	return b, nil
}
