package main

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// completeLoops offers the folder's loops by their ids, and those in worktrees that stood for
// it by their branches, of which each has the last loop.
func completeLoops(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, err := folderMeant(cmd)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if kept, _, err := keptOf(dir); err == nil {
		past, _ := loop.PastOf(dir, kept, 0, true) // none are offered where they can't be read
		branches := map[string]bool{}
		for _, p := range past {
			name := p.Loop.LoopID
			if p.Tree != nil && !branches[p.Tree.Branch] {
				name = p.Tree.Branch
				branches[name] = true
			}
			names = append(names, cobra.CompletionWithDesc(name, terminal.Line(p.Loop.Title)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeLoopThenFiles offers loops, and behind -- files.
func completeLoopThenFiles(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if slices.Contains(os.Args, "--") { // cobra puts one behind the arguments, so it can't tell
		return cli.CompleteFiles(cmd, args, begun)
	}
	return completeLoops(cmd, args, begun)
}

// completeLoopOrFile offers loops, and paths where no loop begins as what is there.
func completeLoopOrFile(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, directive := completeLoops(cmd, args, begun)
	if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, begun) }) {
		return cli.CompleteFiles(cmd, args, begun)
	}
	return names, directive
}

// completeIterations offers, for flags, the iterations of the loop that changed
// something.
func completeIterations(cmd *cobra.Command, flags ...string) {
	offer := func(cmd *cobra.Command, args []string, _ string) (numbers []cobra.Completion, _ cobra.ShellCompDirective) {
		dir, err := folderMeant(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		id := ""
		if len(args) > 0 {
			id = args[0]
		}
		if s, err := loop.SnapshotsIn(dir, id); err == nil {
			iterations, _ := s.Iterations(cmd.Context(), changes.Range{To: changes.Latest}, nil) // none are offered where they can't be read
			for _, it := range iterations {
				numbers = append(numbers, cobra.CompletionWithDesc(strconv.Itoa(it.Number), answers.SumText(it.Summary)))
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	for _, flag := range flags {
		cli.OfFlag(cmd.RegisterFlagCompletionFunc(flag, offer))
	}
}
