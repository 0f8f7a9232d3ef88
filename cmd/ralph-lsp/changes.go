package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// inSnapshots gives a command -C and the arguments [LOOP] [-- PATH...], and runs
// it with that loop's snapshots.
func inSnapshots(cmd *cobra.Command, run func(cmd *cobra.Command, work service.Work, paths []string) error) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if named := namedBefore(cmd, args); len(named) > 1 {
			return fmt.Errorf("%s takes one loop; paths go behind --: ralph-lsp %[1]s -- %s", cmd.Name(), format.ShellWord(named[1]))
		}
		return nil
	}
	cmd.ValidArgsFunction = completeLoopThenFiles
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		before := namedBefore(cmd, args)
		id := ""
		if len(before) > 0 {
			id = before[0]
		}
		if e, ok := named(before); ok {
			dir = e.Folder
		}
		work, err := local.Work(cmd.Context(), service.Which{LoopID: id, Folders: []string{dir}})
		switch {
		case errors.Is(err, service.ErrNotKept) || !errors.Is(err, changes.ErrNone) && err != nil:
			return err
		case err != nil && id != "":
			return fmt.Errorf("no snapshots are kept of the loop %s in %s; ralph-lsp history shows the loops", id, dir)
		case err != nil:
			return fmt.Errorf("no snapshots are kept of a loop in %s; ralph-lsp run makes them", dir)
		}
		return run(cmd, work, args[len(before):])
	})
}

// namedBefore are the arguments in front of --.
func namedBefore(cmd *cobra.Command, args []string) []string {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash]
	}
	return args
}

func newChanges() *cobra.Command {
	var iteration, from, to int
	var asPatch, asJSON bool
	cmd := &cobra.Command{
		Use:   "changes [LOOP] [-- PATH...]",
		Short: "Show what the loop changed in the folder",
		Long: `Show which files the loop changed, whoever wrote them: an edit tool, a shell, the
agent's own commits. N is "after iteration N", 0 "before the loop". The snapshots are
git's own trees: in a repository, git diff refs/ralph/LOOP/files:0 works as well. A loop
is named by its id (ralph-lsp history) or, in a worktree, by its branch.`,
		Example: `  ralph-lsp changes
  ralph-lsp changes --iteration 3 --patch -- src
  ralph-lsp changes --from 2 --json
  ralph-lsp changes ralph/fix-the-parser`,
	}
	cmd.Flags().IntVar(&iteration, "iteration", 0, "what iteration `N` changed")
	cmd.Flags().IntVar(&from, "from", 0, "what changed since the end of iteration `N`")
	cmd.Flags().IntVar(&to, "to", 0, "with --from: up to the end of iteration `M`")
	cmd.Flags().Bool("stat", true, "a line per file with the lines added and removed")
	cmd.Flags().BoolVar(&asPatch, "patch", false, "the lines themselves; in a pipe they are what git apply takes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per file")
	completeIterations(cmd, "iteration", "from", "to")
	cmd.MarkFlagsMutuallyExclusive("iteration", "from")
	cmd.MarkFlagsMutuallyExclusive("iteration", "to")
	cmd.MarkFlagsMutuallyExclusive("stat", "patch", "json")
	return inSnapshots(cmd, func(cmd *cobra.Command, work service.Work, paths []string) error {
		r := changes.Range{From: from, To: changes.Latest}
		switch {
		case cmd.Flags().Changed("iteration"):
			r = changes.Range{From: iteration - 1, To: iteration}
		case cmd.Flags().Changed("to"):
			r.To = to
		}
		out := cmd.OutOrStdout()
		if asPatch {
			patch, err := work.Patch(cmd.Context(), r, paths)
			if err == nil {
				_, err = terminal.Raw(out).Write(terminal.ForReaders(out, patch))
			}
			return err
		}
		files, err := work.Files(cmd.Context(), r, paths)
		if err == nil {
			terminal.PrintChanges(out, files, asJSON)
		}
		return err
	})
}

func newUndo() *cobra.Command {
	var u changes.Undo
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "undo [LOOP] {--iteration N | --since N} [-- PATH...]",
		Short: "Take back what iterations changed in the folder",
		Long: `Take back what iterations changed, file by file. What you did elsewhere in a file stays.
A file that you changed in the same place stays as it is; it is named, and the exit code
is 1. With --merge it gets both sides, between conflict markers. A snapshot is taken
first, so ralph-lsp redo brings everything back. HEAD, branches and git's index aren't
touched.`,
		Example: `  ralph-lsp undo --iteration 3
  ralph-lsp undo --iteration 3 --merge -- main.go
  ralph-lsp undo --since 2 --dry-run -- src`,
	}
	cmd.Flags().IntVar(&u.Iteration, "iteration", 0, "what iteration `N` changed")
	cmd.Flags().IntVar(&u.Since, "since", 0, "what iteration `N` changed, and all behind it")
	cmd.Flags().BoolVar(&u.DryRun, "dry-run", false, "only say what would be undone")
	cmd.Flags().BoolVar(&u.Merge, "merge", false, "write conflict markers where you changed the same place")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	completeIterations(cmd, "iteration", "since")
	cmd.MarkFlagsMutuallyExclusive("iteration", "since")
	return inSnapshots(cmd, func(cmd *cobra.Command, work service.Work, paths []string) error {
		if flags := cmd.Flags(); !flags.Changed("iteration") && !flags.Changed("since") {
			return errors.New("say what to undo: --iteration N is one iteration, --since N is that and all behind it (--since 1 is the whole loop)")
		}
		u.Paths = paths
		done, err := work.Undo(cmd.Context(), u)
		if err != nil {
			return pauseFirst(work.Folder, err)
		}
		verb := "undone"
		if u.DryRun {
			verb = "would be undone"
		}
		return printUndone(cmd.OutOrStdout(), done, verb, asJSON)
	})
}

func newRedo() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "redo [LOOP]",
		Short: "Take the last undo back",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return inSnapshots(cmd, func(cmd *cobra.Command, work service.Work, paths []string) error {
		if len(paths) > 0 {
			return errors.New("redo takes all of the last undo back; leave the paths out")
		}
		done, err := work.Redo(cmd.Context(), false)
		if err != nil {
			return pauseFirst(work.Folder, err)
		}
		return printUndone(cmd.OutOrStdout(), done, "redone", asJSON)
	})
}

// pauseFirst adds what to do to the error of an undo that an agent is in the way of.
func pauseFirst(dir string, err error) error {
	if _, ok := errors.AsType[*loop.AtWorkError](err); !ok {
		return err
	}
	return fmt.Errorf("%w; say ralph-lsp pause%[2]s, and undo when it has ended (then ralph-lsp resume%[2]s)", err, terminal.InFolderOf(dir))
}

// printUndone says what became of each file. The error is for those that stay.
func printUndone(out io.Writer, done changes.Undone, verb string, asJSON bool) error {
	r := answers.UndoneOf(done, verb)
	if asJSON {
		terminal.WriteJSON(out, r)
	} else {
		p := terminal.PaletteFor(out)
		for _, path := range r.Undone {
			fmt.Fprintf(out, "%s: %s\n", verb, terminal.Line(path))
		}
		for _, path := range r.Merged {
			fmt.Fprintf(out, "%s %s\n", p.Yellow("merged with markers:"), terminal.Line(path))
		}
		for _, f := range r.Refused {
			fmt.Fprintf(out, "%s %s: %s\n", p.Yellow("left as it is:"), terminal.Line(f.Path), terminal.Line(f.Reason))
		}
		if slices.ContainsFunc(done.Refused, func(f changes.Refusal) bool { return f.CanMerge }) {
			fmt.Fprintln(out, "the same with --merge writes both sides, between conflict markers")
		}
	}
	if r.Class == wire.ClassWarning {
		return &exitError{terminal.ExitFailed, r.Text}
	}
	if !asJSON {
		fmt.Fprintln(out, r.Text)
	}
	return nil
}
