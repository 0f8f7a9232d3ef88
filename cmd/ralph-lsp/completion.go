package main

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// offers completes with what is found in the folder that a command is about, and no files.
func offers(find func(cmd *cobra.Command, dir string, args []string, begun string) []cobra.Completion,
	more ...cobra.ShellCompDirective) cobra.CompletionFunc {
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, d := range more {
		directive |= d
	}
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		dir, err := folderMeant(cmd)
		if err != nil {
			return nil, directive
		}
		return find(cmd, dir, args, begun), directive
	}
}

// completeLoops offers the folder's loops by their ids, and the last loop of each of its worktrees by the branch.
var completeLoops = offers(func(_ *cobra.Command, dir string, args []string, _ string) (names []cobra.Completion) {
	if len(args) == 0 {
		branches := map[string]bool{}
		for _, p := range loop.PastOf(dir, 0) {
			name := p.LoopID
			if p.Tree != nil && !branches[p.Tree.Branch] {
				name = p.Tree.Branch
				branches[name] = true
			}
			names = append(names, cobra.CompletionWithDesc(name, terminal.Line(p.Title)))
		}
	}
	return names
})

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
	offer := offers(func(cmd *cobra.Command, dir string, args []string, _ string) (numbers []cobra.Completion) {
		if s, err := loop.SnapshotsIn(dir, strings.Join(args[:min(len(args), 1)], "")); err == nil {
			iterations, _ := s.Diff.Iterations(cmd.Context(), changes.Range{To: changes.Latest}, nil) // none are offered where they can't be read
			for _, it := range iterations {
				numbers = append(numbers, cobra.CompletionWithDesc(strconv.Itoa(it.Number), answers.SumText(it.Summary)))
			}
		}
		return numbers
	}, cobra.ShellCompDirectiveKeepOrder)
	for _, flag := range flags {
		cli.OfFlag(cmd.RegisterFlagCompletionFunc(flag, offer))
	}
}
