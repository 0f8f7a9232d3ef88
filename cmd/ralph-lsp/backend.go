package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/stream"
)

// agentFlags choose the agent of a loop.
type agentFlags struct {
	name   string
	output choice
	prompt choice
	args   []string
	model  string
}

func (a *agentFlags) addFlags(cmd *cobra.Command) {
	a.output = choice{of: []string{string(stream.FormatText), string(stream.FormatPi), string(stream.FormatClaude)}}
	a.prompt = choice{of: []string{string(backends.PromptStdin), string(backends.PromptArg), string(backends.PromptFile)}}
	f := cmd.Flags()
	f.StringVar(&a.name, "backend", "", "the agent: "+strings.Join(backends.Names(), ", ")+", or a path to a program (default: the first that is installed)")
	f.Var(&a.output, "backend-output", "what a program of your own prints (default text)")
	f.Var(&a.prompt, "backend-prompt", "how a program of your own gets the prompt (default stdin)")
	f.StringArrayVar(&a.args, "backend-arg", nil, "an argument for the agent; may be repeated")
	f.StringVar(&a.model, "model", "", "the model, in the agent's own words")
	completeWith(cmd, "backend-output", a.output.of...)
	completeWith(cmd, "backend-prompt", a.prompt.of...)
	if err := cmd.RegisterFlagCompletionFunc("backend", completeBackend); err != nil {
		panic(err) // the flag was added above
	}
}

// completeBackend offers the known agents, and files once a path is begun.
func completeBackend(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if isPath(begun) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return backends.Names(), cobra.ShellCompDirectiveNoFileComp
}

// isPath says whether a backend is named by its program's path.
func isPath(name string) bool { return strings.ContainsAny(name, `/\`) }

// choose returns the backend that the flags name. found names the one that a
// loop had before, where it is continued; without either the first that is
// installed is taken.
func (a *agentFlags) choose(ctx context.Context, found string) (backends.Backend, error) {
	name := orElse(a.name, found)
	if !isPath(name) && (a.output.value != "" || a.prompt.value != "") {
		return backends.Backend{}, errors.New("--backend-output and --backend-prompt go with a program of your own; name it with --backend ./PROGRAM")
	}
	switch {
	case name == "" || name == "auto":
		b, _, err := backends.Detect(ctx)
		return b, err
	case isPath(name):
		return a.custom(name)
	}
	return backends.Lookup(name)
}

// custom describes the program at path; the loop's folder may be another than
// the one that the path starts from.
func (a *agentFlags) custom(path string) (backends.Backend, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return backends.Backend{}, fmt.Errorf("finding the program %s: %w", path, err)
	}
	format := stream.Format(orElse(a.output.value, string(stream.FormatText)))
	mode := backends.PromptMode(orElse(a.prompt.value, string(backends.PromptStdin)))
	b := backends.Custom(path, nil, mode, format)
	b.Name = path // the state file names it so, and it can be continued
	return b, nil
}
