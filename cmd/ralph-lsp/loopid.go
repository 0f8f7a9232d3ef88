package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/registry"
)

// place is the folder that a command is about, and the loop there: "" is whichever is.
type place struct{ dir, id string }

// loop is what drives the loop there.
func (p place) loop() loop.Other { return loop.Other{Folder: p.dir, LoopID: p.id} }

// ofLoop gives a command -C and a loop's id as its first argument, and runs it with where
// that is. An id is of any folder of this user.
func ofLoop(cmd *cobra.Command, run func(cmd *cobra.Command, at place, args []string) error) {
	cmd.ValidArgsFunction = completeIDs
	folder := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, rest, err := placeOf(folder, args)
		if err != nil {
			return err
		}
		return run(cmd, at, rest)
	}
}

// placeOf is where the loop is that the first argument names, else the folder, with the
// arguments that are left. A loop whose folder has another one by now is nowhere.
func placeOf(folder func() (string, error), args []string) (at place, rest []string, err error) {
	e, ok := named(args)
	if !ok {
		at.dir, err = folder()
		return at, args, err
	}
	if last, _ := registry.Last(e.Folder); last.LoopID != e.LoopID {
		return at, nil, fmt.Errorf("the loop %s is over, and %s has another one by now: %s", e.LoopID, terminal.Line(e.Folder), terminal.Line(last.LoopID))
	}
	at = place{id: e.LoopID}
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
		for _, e := range registry.All() {
			ids = append(ids, cobra.CompletionWithDesc(terminal.Line(e.LoopID), terminal.Line(e.Title)))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
