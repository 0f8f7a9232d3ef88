package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ralph-lsp/cmd/internal/cli"
	"ralph-lsp/internal/paths"
	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
	"ralph-lsp/wire"
	"ralph-lsp/worktree"
)

func newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show where the loop in the folder stands",
		Args:  cli.NoArguments,
	}
	cmd.Long = "Show where the loop in the folder stands, and those in the worktrees of its repository."
	asJSON := cmd.Flags().Bool("json", false, "print one JSON object per loop, that of the folder first")
	inFolder(cmd, func(cmd *cobra.Command, dir string, _ []string) error {
		status, owner, owned, err := loop.FolderStatus(dir)
		if errors.Is(err, fs.ErrNotExist) {
			status, err = loop.Status{Folder: dir, State: wire.StateIdle}, nil
		}
		if err != nil {
			return err
		}
		others, done := loopsInTrees(dir)
		all := append([]seen{{status, owner, owned}}, others...)
		if len(others)+len(done) > 0 && status.State == wire.StateIdle && !*asJSON {
			all = all[1:]
		}
		out := cmd.OutOrStdout()
		for _, s := range all {
			if !*asJSON {
				printStatus(out, paletteFor(out), s.status, s.owner, s.owned, time.Now())
			} else if err := printJSON(out, wire.StatusOf(s.status, false)); err != nil { // never ours: it is another process's
				return err
			}
		}
		for _, tree := range done {
			if !*asJSON {
				branch := plainLine(tree.Branch)
				fmt.Fprintln(out, wrapped("no loop works in "+plainLine(tree.Folder)+" any more: ralph-lsp land "+branch+" lands "+branch, lineWidth(out), 2))
			}
		}
		return nil
	})
	return cmd
}

// seen is a loop that another process drives, or nobody.
type seen struct {
	status loop.Status
	owner  loopstate.Owner
	owned  bool
}

// loopsInTrees are those in the worktrees of a folder's repository, and the worktrees whose
// loops are over.
func loopsInTrees(dir string) (loops []seen, done []worktree.Tree) {
	for _, tree := range worktree.List(dir) {
		if tree.Folder == paths.Real(dir) {
			continue
		}
		status, owner, owned, err := loop.FolderStatus(tree.Folder)
		switch {
		case err == nil:
			loops = append(loops, seen{status, owner, owned})
		case errors.Is(err, fs.ErrNotExist):
			done = append(done, tree)
		}
	}
	return loops, done
}

// printJSON prints a value in one line. What agents and files wrote stays readable:
// nothing is escaped for HTML, and all that could change a terminal is.
func printJSON(out io.Writer, v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = verbatim(out).Write(escapeHidden(line.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// printStatus says where a loop stands, a fact per line, in the wire's words. All of it
// is read from the state file, which knows what was spent up to the last turn only.
func printStatus(out io.Writer, p palette, st loop.Status, owner loopstate.Owner, owned bool, now time.Time) {
	l := wire.StatusOf(st, false)
	width := lineWidth(out)
	if st.State == wire.StateIdle {
		fmt.Fprintln(out, wrapped("no loop in "+plainLine(st.Folder)+"; start one with ralph-lsp run", width, 2))
		return
	}
	text := l.Text
	if l.Live {
		text = wire.Line(st, nil, now)
	}
	fmt.Fprintln(out, wrapped(p.bold("Ralph")+" "+p.cyan(plainLine(text)), width, 2))
	fact := func(name, value string) { printFact(out, p, 9, name, value) }
	fact("folder", st.Folder)
	for _, row := range l.Details {
		fact(row.Label, row.Text)
	}
	if owned {
		fact("process", ownerWords(owner))
	}
	if !st.EndedAt.IsZero() {
		fact("ended", st.EndedAt.Local().Format(time.DateTime))
	}
	fact("file", st.StateFile)
	switch {
	case l.Live:
		fmt.Fprintln(out, "cost and work are those of its last turn")
	case wire.IsLeft(l):
		fmt.Fprintln(out, wrapped("no process drives it; "+goOn+inFolderOf(st.Folder)+", or discard it with ralph-lsp cancel"+inFolderOf(st.Folder), width, 2))
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
