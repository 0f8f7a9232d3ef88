package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// addStartFlags adds the flags of a start to a command, and what the shell completes them with.
func addStartFlags(cmd *cobra.Command, o *start.Options, use start.Use) {
	start.AddFlags(cmd.Flags(), o, use)
	for flag, complete := range map[string]cobra.CompletionFunc{
		"backend": completeBackend, "hat": completeHat, "agent": completeTeam, "chain": completeTeams, "parallel": completeTeams,
	} {
		if cmd.Flags().Lookup(flag) != nil {
			cli.OfFlag(cmd.RegisterFlagCompletionFunc(flag, complete))
		}
	}
	cli.CompleteChoices(cmd)
}

// newStartText has the flags that the text of a start may have (start.Parse).
func newStartText() *cobra.Command {
	cmd := flagsOfText("start-text")
	addStartFlags(cmd, new(start.Options), start.ToStart)
	return withoutFiles(cmd)
}

// newLimitsText has the flags that new limits may have (start.ParseChange).
func newLimitsText() *cobra.Command {
	cmd := flagsOfText("limits-text")
	start.AddLimits(cmd.Flags(), new(start.Options))
	return withoutFiles(cmd)
}

// flagsOfText is a command for the flags of a text. It is there for its
// completion only: editors ask for that as a shell does. Behind the description of
// a flag that must have a value stands a tab and what comes next, a =.
func flagsOfText(name string) *cobra.Command {
	return &cobra.Command{
		Use:               name,
		Hidden:            true,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UnknownCommand(cmd.Root(), []string{cmd.Name()})
		},
	}
}

// withoutFiles completes no value with the names of files, and no help.
func withoutFiles(cmd *cobra.Command) *cobra.Command {
	cli.CompleteChoices(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok {
			cli.CompleteWith(cmd, f.Name)
		}
		if f.NoOptDefVal == "" {
			f.Usage += "\t="
		}
	})
	cmd.Flags().BoolP("help", "h", false, "")
	cli.OfFlag(cmd.Flags().MarkHidden("help"))
	return cmd
}

// completeBackend offers the known agents and the files', and paths once one is begun.
func completeBackend(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if start.IsPath(begun) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := backends.Names()
	for _, own := range slices.Sorted(maps.Keys(settingsHere(cmd).Backends)) {
		if !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func completeHat(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return settingsHere(cmd).HatNames(), cobra.ShellCompDirectiveNoFileComp
}

// settingsHere returns the settings of the folder that a command is about, for names only: nothing runs, so nothing
// needs trust.
func settingsHere(cmd *cobra.Command) config.Settings {
	dir, err := folderMeant(cmd)
	if err != nil {
		return config.Default()
	}
	files := filesOf(dir)
	files.Trusted = true
	settings, _ := files.Load() // without them nothing is offered
	return settings
}
