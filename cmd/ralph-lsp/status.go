package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func newStatus() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "status [LOOP]",
		Short: "Show where the loop in the folder stands",
		Long: `Show where the folder's loop stands, or how its last one ended. Loops in the worktrees of
its repository are shown, too. --all lists the loops of all your folders that run, wait,
can go on or ended in the last week; other commands take their ids.`,
		Args: oneLoop,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per loop, that of the folder first")
	cmd.Flags().BoolVar(&all, "all", false, "list the loops of all your folders")
	cmd.ValidArgsFunction = completeIDs
	folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out := cmd.OutOrStdout()
		if e, ok := named(args); ok {
			show(out, asJSON, local.LoopOf(e))
			return nil
		}
		if all {
			printAll(out, asJSON)
			return nil
		}
		dir, err := folderMeant(cmd)
		if err != nil {
			return err
		}
		here, err := local.LoopIn(dir)
		if err != nil {
			return err
		}
		others, done := local.LoopsInTrees(dir)
		if len(others)+len(done) == 0 || here.State != wire.StateIdle || here.Last != nil || asJSON {
			others = append([]loop.Status{here}, others...)
		}
		if show(out, asJSON, others...); asJSON {
			return nil
		}
		for _, tree := range done {
			branch := terminal.Line(tree.Branch)
			fmt.Fprintln(out, terminal.Wrapped("no loop works in "+terminal.Line(tree.Folder)+" any more: ralph-lsp land "+branch+
				" lands "+branch, terminal.LineWidth(out), 2))
		}
		return nil
	}
	return cmd
}

// show prints loops for people or for programs.
func show(out io.Writer, asJSON bool, loops ...loop.Status) {
	for i, s := range loops {
		switch {
		case asJSON: // never ours: it is another process's
			terminal.WriteJSON(out, wire.StatusOf(s, false))
			continue
		case i > 0:
			fmt.Fprintln(out)
		}
		terminal.PrintStatus(out, terminal.PaletteFor(out), s, time.Now())
	}
}

// printAll lists the loops of all folders.
func printAll(out io.Writer, asJSON bool) {
	loops := local.Loops()
	if asJSON {
		show(out, true, loops...)
		return
	}
	if len(loops) == 0 {
		fmt.Fprintln(out, "no loop runs or has ended in the last week; start one with ralph-lsp run")
	}
	p := terminal.PaletteFor(out)
	for _, s := range loops {
		id, text := s.LoopID, wire.StandText(s, time.Now())
		fmt.Fprintln(out, terminal.Wrapped(p.Bold(terminal.Line(id))+"  "+terminal.Line(text), terminal.LineWidth(out), 4))
		fmt.Fprintln(out, terminal.Wrapped(p.Dim("    "+terminal.Line(wire.JoinFacts(s.Folder, terminal.TitleOf(s)))),
			terminal.LineWidth(out), 4))
	}
}
