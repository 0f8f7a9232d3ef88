package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
			branch := plainLine(tree.Branch)
			fmt.Fprintln(out, wrapped("no loop works in "+plainLine(tree.Folder)+" any more: ralph-lsp land "+branch+" lands "+branch, lineWidth(out), 2))
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
			if err := printJSON(out, wire.StatusOf(s.status, false)); err != nil {
				return err
			}
			continue
		case i > 0:
			fmt.Fprintln(out)
		}
		printStatus(out, paletteFor(out), s.status, s.owner, s.owned, time.Now())
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
	p := paletteFor(out)
	for _, s := range loops {
		id, text := s.status.LoopID, wire.StandText(s.status, time.Now())
		fmt.Fprintln(out, wrapped(p.bold(plainLine(id))+"  "+plainLine(text), lineWidth(out), 4))
		fmt.Fprintln(out, wrapped(p.dim("    "+plainLine(wire.JoinFacts(s.status.Folder, titleOf(s.status)))), lineWidth(out), 4))
	}
	return nil
}

// titleOf is the title of a loop's prompt.
func titleOf(st loop.Status) string {
	if st.Title == "" && st.Last != nil {
		return st.Last.Status.Title
	}
	return st.Title
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

// printJSON prints a value in one line. What agents and files wrote stays readable:
// nothing is escaped for HTML, and all that could change a terminal is.
func printJSON(out io.Writer, v any) error { return newJSONLines(out).write(v, stamp{}) }

// printStatus says where a loop stands, a fact per line, in the wire's words: one that is
// over with its receipt. What was spent is read from the state file.
func printStatus(out io.Writer, p palette, st loop.Status, owner loopstate.Owner, owned bool, now time.Time) {
	l := wire.StatusOf(st, false)
	width := lineWidth(out)
	fact := func(name, value string) { printFact(out, p, 9, name, value) }
	if st.State == wire.StateIdle {
		begin := "no loop in " + plainLine(st.Folder)
		if l.Last == nil {
			fmt.Fprintln(out, wrapped(begin+"; start one with ralph-lsp run", width, 2))
			return
		}
		fmt.Fprintln(out, wrapped(begin+"; the last one was "+plainLine(titleOf(st)), width, 2))
		printReceipt(out, p, *st.Last)
		return
	}
	text := l.Text
	if l.Live {
		text = wire.Line(st, nil, now)
	}
	fmt.Fprintln(out, wrapped(p.bold("Ralph")+" "+p.cyan(plainLine(text)), width, 2))
	fact("folder", st.Folder)
	fact("loop", st.LoopID)
	fact("now", wire.NowText(st, now))
	for _, row := range l.Details {
		fact(row.Label, row.Text)
	}
	if owned {
		fact("process", ownerWords(owner))
	}
	if !st.EndedAt.IsZero() {
		fact("ended", st.EndedAt.Local().Format(time.DateTime))
	}
	if st.State != loop.StateEnded {
		fact("file", st.StateFile)
	}
	switch {
	case wire.IsLeft(l):
		fmt.Fprintln(out, wrapped("no process drives it; "+goOn+inFolderOf(st.Folder)+", or discard it with ralph-lsp cancel"+inFolderOf(st.Folder), width, 2))
	case st.Last != nil:
		last := *st.Last
		last.Status = st
		fact("changed", wire.ChangesText(last.Changes))
		printCommands(out, p, last)
	}
}

// printReceipt prints how a loop ended, and the command lines that help.
func printReceipt(out io.Writer, p palette, e loop.End) {
	for _, row := range wire.ReceiptOf(e, "").Rows {
		printFact(out, p, 9, row.Label, row.Text)
	}
	printCommands(out, p, e)
}

// printCommands prints the command lines that help after an end.
func printCommands(out io.Writer, p palette, e loop.End) {
	for _, c := range wire.CommandsAfter(e, inFolderOf(e.Status.Folder)) {
		fmt.Fprintln(out, wrapped("  "+plainLine(c.Line)+p.dim("  "+c.Text), lineWidth(out), 4))
	}
}

// printFact prints a row of a table whose names have a width; one without a value is none.
func printFact(out io.Writer, p palette, width int, name, value string) {
	if value != "" {
		line := fmt.Sprintf("  %s %s", p.dim(fmt.Sprintf("%-*s", width, strings.ToLower(name))), plainLine(value))
		fmt.Fprintln(out, wrapped(line, lineWidth(out), 2+width+1))
	}
}

// ownerWords name the process that drives a loop.
func ownerWords(o loopstate.Owner) string {
	if o.PID == 0 {
		return "unknown"
	}
	words := fmt.Sprintf("%d on %s", o.PID, o.Host)
	if !o.StartedAt.IsZero() {
		words += " since " + o.StartedAt.Local().Format(time.DateTime)
	}
	return words
}
