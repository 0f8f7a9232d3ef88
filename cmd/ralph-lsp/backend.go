package main

import (
	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/loop/start"
)

// addAgentFlags adds the flags that choose the agent, and what the shell completes them with.
func addAgentFlags(cmd *cobra.Command, a *start.Agent) {
	a.AddFlags(cmd.Flags())
	completeWith(cmd, "backend-output", a.Output.Of...)
	completeWith(cmd, "backend-prompt", a.Prompt.Of...)
	if err := cmd.RegisterFlagCompletionFunc("backend", completeBackend); err != nil {
		panic(err) // the flag was added above
	}
}

// completeBackend offers the known agents, and files once a path is begun.
func completeBackend(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if start.IsPath(begun) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return backends.Names(), cobra.ShellCompDirectiveNoFileComp
}
