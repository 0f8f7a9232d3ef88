package main

import (
	"errors"
	"fmt"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/server"
)

// driveInTree runs a loop in a worktree that is made for it. One that can't begin
// leaves none.
func (l *loopFlags) driveInTree(cmd *cobra.Command, cfg setup.Config, tree start.Tree, settings config.Settings) error {
	if _, _, err := server.CheckStart(cfg); err != nil {
		return err
	}
	stderr := cmd.ErrOrStderr()
	ctx, stop := signal.NotifyContext(contextOf(cmd), terminal.Signals...)
	made, err := tree.Make(ctx, &cfg, settings.Worktree, stderr)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case err != nil && interrupted:
		return &exitError{terminal.ExitCancelled, err.Error()}
	case err != nil:
		return err
	}
	fmt.Fprintf(stderr, "works in the worktree %s, on the branch %s; other commands find it with%s\n", terminal.Line(cfg.Folder), terminal.Line(made.Branch), terminal.InFolderOf(cfg.Folder))
	began := false
	err = l.drive(cmd, cfg, config.FilesOf(cfg.Folder, backends.Names()), func() { began = true })
	if !began {
		return errors.Join(err, made.Drop())
	}
	fmt.Fprintf(stderr, "ralph-lsp land %s lands its work on your branch, with --discard it goes\n", terminal.ShellWord(made.Branch))
	return err
}
