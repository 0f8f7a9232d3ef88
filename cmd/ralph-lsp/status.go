package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/worktree"
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
	folder := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out := cmd.OutOrStdout()
		if e, ok := named(args); ok {
			return show(out, asJSON, seenOf(e))
		}
		if all {
			return printAll(out, asJSON)
		}
		dir, err := folder()
		if err != nil {
			return err
		}
		here, err := seenIn(dir)
		if err != nil {
			return err
		}
		others, done := loopsInTrees(dir)
		if len(others)+len(done) == 0 || here.status.State != wire.StateIdle || here.status.Last != nil || asJSON {
			others = append([]seen{here}, others...)
		}
		if err := show(out, asJSON, others...); err != nil || asJSON {
			return err
		}
		for _, tree := range done {
			branch := terminal.Line(tree.Branch)
			fmt.Fprintln(out, terminal.Wrapped("no loop works in "+terminal.Line(tree.Folder)+" any more: ralph-lsp land "+branch+" lands "+branch, terminal.LineWidth(out), 2))
		}
		return nil
	}
	return cmd
}

// seen is a loop that another process drives, or nobody.
type seen struct {
	status loop.Status
	owner  loopstate.Owner
	owned  bool
}

// seenIn is the loop in a folder; an idle one is none, with how the last one ended.
func seenIn(dir string) (s seen, err error) {
	s.status, s.owner, s.owned, err = loop.FolderStatus(dir)
	if errors.Is(err, fs.ErrNotExist) {
		s.status, err = loop.Status{Folder: dir, State: wire.StateIdle}, nil
		if end, ok := loop.LastIn(dir); ok {
			s.status.Last = &end
		}
	}
	return s, err
}

// seenOf is how the loop stands that the registry knows: by its folder, if it is there still.
func seenOf(e registry.Entry) seen {
	if s, err := seenIn(e.Folder); err == nil && s.status.LoopID == e.LoopID {
		return s
	}
	s := seen{status: loop.Status{LoopID: e.LoopID, Folder: e.Folder, State: wire.StateIdle}}
	if end, ok := loop.EndOf(e); ok {
		s.status.Last = &end
	}
	return s
}

// show prints loops for people or for programs.
func show(out io.Writer, asJSON bool, loops ...seen) error {
	for i, s := range loops {
		switch {
		case asJSON: // never ours: it is another process's
			if err := terminal.WriteJSON(out, wire.StatusOf(s.status, false)); err != nil {
				return err
			}
			continue
		case i > 0:
			fmt.Fprintln(out)
		}
		terminal.PrintStatus(out, terminal.PaletteFor(out), s.status, s.owner, s.owned, time.Now())
	}
	return nil
}

// shownFor is how long a loop is listed that is over for good.
const shownFor = 7 * 24 * time.Hour

// printAll lists the loops of all folders.
func printAll(out io.Writer, asJSON bool) error {
	var loops []seen
	for _, e := range registry.All() {
		s := seenOf(e)
		isOver := s.status.State == wire.StateIdle
		if !isOver || s.status.Last != nil && time.Since(e.EndedAt) < shownFor {
			loops = append(loops, s)
		}
	}
	if asJSON {
		return show(out, true, loops...)
	}
	if len(loops) == 0 {
		fmt.Fprintln(out, "no loop runs or has ended in the last week; start one with ralph-lsp run")
	}
	p := terminal.PaletteFor(out)
	for _, s := range loops {
		id, text := s.status.LoopID, wire.StandText(s.status, time.Now())
		fmt.Fprintln(out, terminal.Wrapped(p.Bold(terminal.Line(id))+"  "+terminal.Line(text), terminal.LineWidth(out), 4))
		fmt.Fprintln(out, terminal.Wrapped(p.Dim("    "+terminal.Line(wire.JoinFacts(s.status.Folder, terminal.TitleOf(s.status)))), terminal.LineWidth(out), 4))
	}
	return nil
}

// loopsInTrees are those in the worktrees of a folder's repository, and the worktrees whose
// loops are over and not known any more.
func loopsInTrees(dir string) (loops []seen, done []worktree.Tree) {
	for _, tree := range worktree.List(dir) {
		if tree.Folder == paths.Real(dir) {
			continue
		}
		switch s, err := seenIn(tree.Folder); {
		case err != nil:
		case s.status.State == wire.StateIdle && s.status.Last == nil:
			done = append(done, tree)
		default:
			loops = append(loops, s)
		}
	}
	return loops, done
}
