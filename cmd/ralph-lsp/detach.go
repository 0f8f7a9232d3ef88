package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/keeper"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// newAttach is watch for who may also end the loop.
func newAttach() *cobra.Command {
	cmd := newWatch(true)
	cmd.Use, cmd.Short, cmd.Long = "attach [LOOP]", "Show a loop as watch does, and ask at Ctrl-C what becomes of it", ""
	return cmd
}

// detached starts a loop that goes on alone, and prints its id. begun is told that it has begun.
func detached(cmd *cobra.Command, cfg setup.Config, begun func(id string)) error {
	end, err := keeper.Launch(cfg, begun, func(warning string) {
		fmt.Fprintln(cmd.ErrOrStderr(), terminal.Wrapped("warning: "+terminal.Line(warning), terminal.LineWidth(cmd.ErrOrStderr()), 2))
	})
	switch {
	case err != nil:
		return err
	case end.Reason != loop.StopDetached:
		return outcome(end)
	case end.Error != "":
		return &exitError{terminal.ExitFailed, end.Error + "; " + terminal.GoOn + terminal.InFolderOf(cfg.Folder)}
	}
	fmt.Fprintln(cmd.OutOrStdout(), end.Status.LoopID)
	return nil
}

// errLeaves says that the watching ends.
var errLeaves = errors.New("left")

// askToLeave asks what becomes of a loop whose watcher has pressed Ctrl-C, and does it.
func askToLeave(cmd *cobra.Command, dir string) error {
	status, _, owned, err := loop.FolderStatus(dir)
	if err != nil || !owned {
		return errLeaves // there is nothing to ask about
	}
	detach := "  d  let it go on alone, without its window\n"
	if status.Detached {
		detach = ""
	}
	switch answer, asked := prompt(cmd, "\n  e  end the loop, so that it can be resumed\n"+detach+"  q  leave it as it is\n  Enter  go on watching\n> "); {
	case !asked, answer == "q", answer == leaves:
		return errLeaves
	case answer == "e":
		return loop.Other{Folder: dir, LoopID: status.LoopID}.Interrupt() // its end is shown
	case answer == "d":
		_, err = loop.Other{Folder: dir, LoopID: status.LoopID}.Detach()
		return cmp.Or(err, errLeaves)
	}
	return nil
}
