package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/config"
	"ralph-lsp/loop/start"
)

// addAgentFlags adds the flags that choose the agent, and what the shell completes them with.
func addAgentFlags(cmd *cobra.Command, a *start.Agent) {
	a.AddFlags(cmd.Flags())
	// All formats in the place of the value's name would push the other flags
	// out of the screen.
	cmd.Flags().Lookup("backend-output").Usage = "the `FORMAT` that a program of your own prints: " + strings.Join(a.Output.Of, ", ") + " (default text)"
	completeWith(cmd, "backend-output", a.Output.Of...)
	completeWith(cmd, "backend-prompt", a.Prompt.Of...)
	completeAgent(cmd)
}

// completeAgent completes the names of backends and hats.
func completeAgent(cmd *cobra.Command) {
	for flag, complete := range map[string]cobra.CompletionFunc{"backend": completeBackend, "hat": completeHat} {
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // the flag was added above
		}
	}
}

// completeBackend offers the known agents and those of the files, and paths
// once one is begun.
func completeBackend(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if start.IsPath(begun) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := backends.Names()
	for _, own := range slices.Sorted(maps.Keys(settingsHere().Backends)) {
		if !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func completeHat(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return settingsHere().HatNames(), cobra.ShellCompDirectiveNoFileComp
}

// settingsHere are those of the working folder, for names only: nothing runs,
// so nothing needs trust.
func settingsHere() config.Settings {
	dir, err := os.Getwd()
	if err != nil {
		return config.Default()
	}
	files := config.FilesOf(dir, backends.Names())
	files.Trusted = true
	settings, _ := files.Load() // without them nothing is offered
	return settings
}
