package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// folderFlag adds -C to a command.
func folderFlag(cmd *cobra.Command) {
	cmd.Flags().StringP("dir", "C", ".", "the `FOLDER` of the loop")
	cli.OfFlag(cmd.MarkFlagDirname("dir"))
}

// folderSaid is the folder that a command is about, as its user says it.
func folderSaid(cmd *cobra.Command) string {
	if f := cmd.Flags().Lookup("dir"); f != nil { // one for an editor's text has none
		return f.Value.String()
	}
	return "."
}

// folderMeant is the absolute path of that folder, where it exists.
func folderMeant(cmd *cobra.Command) (string, error) { return resolveFolder(folderSaid(cmd)) }

// inFolder gives a command -C, and runs it with the folder that it names.
func inFolder(cmd *cobra.Command, run func(cmd *cobra.Command, dir string, args []string) error) *cobra.Command {
	folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := folderMeant(cmd)
		if err != nil {
			return err
		}
		return run(cmd, dir, args)
	}
	return cmd
}

// resolveFolder returns the absolute path of a folder that must exist.
func resolveFolder(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the folder %s: %w", dir, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the folder %s doesn't exist; make it first, or give another one with -C", path)
	case err != nil:
		return "", fmt.Errorf("finding the folder: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("%s isn't a folder; give one with -C", path)
	}
	return path, nil
}

// target is the folder that a command is about, and the loop there: "" is whichever is.
type target struct{ dir, id string }

// loop is what drives the loop there.
func (t target) loop() loop.Other { return loop.Other{Folder: t.dir, LoopID: t.id} }

// ask asks the loop there for something. Where none runs, the error says what was left there.
func (t target) ask(c service.Command) (service.Done, error) {
	done, err := local.Do(t.loop(), c)
	return done, orLeft(t.dir, err)
}

// patience bounds how long a command waits for a loop in another process.
const patience = 45 * time.Second // the last snapshot of one that is cancelled may take 30, and the end of one that hangs 14

// cancel ends the loop there, or discards it, and returns when nothing of it is left.
func (t target) cancel(ctx context.Context) (iteration int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done, err := local.Cancel(ctx, t.dir, t.id)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the loop in %s was told to end, but its process hasn't let go after %s; see ralph-lsp status%s", t.dir,
			patience, terminal.InFolderOf(t.dir))
	}
	return done.Iteration, err
}

// ofLoop gives a command -C and a loop's id as its first argument, and runs it with where
// that is. An id is of any folder of this user.
func ofLoop(cmd *cobra.Command, run func(cmd *cobra.Command, at target, args []string) error) *cobra.Command {
	cmd.ValidArgsFunction = completeIDs
	folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, rest, err := targetOf(cmd, args)
		if err != nil {
			return err
		}
		return run(cmd, at, rest)
	}
	return cmd
}

// targetOf is where the loop is that the first argument names, else the folder, with the
// arguments that are left. A loop whose folder has another one by now is nowhere.
func targetOf(cmd *cobra.Command, args []string) (at target, rest []string, err error) {
	e, ok := named(args)
	if !ok {
		at.dir, err = folderMeant(cmd)
		return at, args, err
	}
	if last, _ := registry.Last(e.Folder); last.LoopID != e.LoopID {
		return at, nil, fmt.Errorf("the loop %s is over, and %s has another one by now: %s", e.LoopID, terminal.Line(e.Folder),
			terminal.Line(last.LoopID))
	}
	at = target{id: e.LoopID}
	at.dir, err = resolveFolder(e.Folder)
	return at, args[1:], err
}

// named is the loop that the first argument names, where that is an id.
func named(args []string) (registry.Entry, bool) {
	if len(args) == 0 || !strings.HasPrefix(args[0], "ralph-") { // a text begins with other words
		return registry.Entry{}, false
	}
	return registry.Find(args[0])
}

// oneLoop lets a command have a loop's id as its only argument.
func oneLoop(cmd *cobra.Command, args []string) error {
	if _, ok := named(args); ok {
		args = args[1:]
	} else if len(args) == 1 && strings.HasPrefix(args[0], "ralph-") {
		return fmt.Errorf("no loop %s is known; ralph-lsp status --all lists them", terminal.Line(args[0]))
	}
	return cli.NoArguments(cmd, args)
}

// completeIDs offers the loops of all folders.
func completeIDs(_ *cobra.Command, args []string, _ string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		lately, _ := registry.All()
		for _, e := range lately {
			ids = append(ids, cobra.CompletionWithDesc(terminal.Line(e.LoopID), terminal.Line(e.Title)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
