package main

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/changes"
	"ralph-lsp/internal/cli"
	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

// completeLoops offers the ids of the folder's loops.
func completeLoops(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return loopIDs(cmd, args, false)
}

// loopIDs offers the ids of the folder's loops, and of those in worktrees that stood for it.
func loopIDs(cmd *cobra.Command, args []string, inTrees bool) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, err := resolveFolder(cmd.Flag("dir").Value.String())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if kept, _, err := keptOf(dir); err == nil {
		past, _ := loop.PastOf(dir, kept, 0, true) // none are offered where they can't be read
		for _, p := range past {
			if inTrees || p.Tree == nil {
				ids = append(ids, cobra.CompletionWithDesc(p.Loop.LoopID, plainLine(p.Loop.Title)))
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeLoopThenFiles offers the ids of loops, and behind -- files.
func completeLoopThenFiles(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if slices.Contains(os.Args, "--") { // cobra puts one behind the arguments, so it can't tell
		return cli.CompleteFiles(cmd, args, begun)
	}
	return completeLoops(cmd, args, begun)
}

// completeLoopOrFile offers the ids of loops, and paths once one is begun.
func completeLoopOrFile(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ids, directive := loopIDs(cmd, args, true)
	if strings.ContainsAny(begun, "./~") || len(ids) == 0 {
		return cli.CompleteFiles(cmd, args, begun)
	}
	return ids, directive
}

// completeIterations offers, for flags, the iterations of the loop that changed
// something.
func completeIterations(cmd *cobra.Command, flags ...string) {
	offer := func(cmd *cobra.Command, args []string, _ string) (numbers []cobra.Completion, _ cobra.ShellCompDirective) {
		dir, err := resolveFolder(cmd.Flag("dir").Value.String())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		id := ""
		if len(args) > 0 {
			id = args[0]
		}
		if s, err := loop.SnapshotsIn(dir, id); err == nil {
			iterations, _ := s.Iterations(contextOf(cmd), changes.Range{To: changes.Latest}, nil) // none are offered where they can't be read
			for _, it := range iterations {
				numbers = append(numbers, cobra.CompletionWithDesc(strconv.Itoa(it.Number), wire.SumText(it.Summary)))
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	for _, flag := range flags {
		cli.OfFlag(cmd.RegisterFlagCompletionFunc(flag, offer))
	}
}
