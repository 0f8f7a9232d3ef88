package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/clean"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/emit"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/keeper"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/notifytest"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/top"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// execute runs the command line and returns the exit code. Whatever goes wrong
// is one line on stderr.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := terminal.Checked(terminal.NewFence(stdout))
	errs := terminal.NewFence(stderr)
	root.SetOut(out)
	root.SetErr(errs)
	switch {
	case len(args) > 0 && args[0] == keeper.Name: // there may be a hundred, and flags are a fifth of what one keeps in memory
		root.AddCommand(keeper.New(programVersion()))
	case slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }): // an editor names none, and waits
		addCommands(root)
	}
	err := judge(out, root.Execute())
	var exit *exitError
	switch {
	case err == nil:
		return terminal.ExitDone
	case errors.As(err, &exit):
		if exit.message != "" {
			for line := range strings.SplitSeq("ralph-lsp: "+stream.Plain(exit.message), "\n") {
				fmt.Fprintln(errs, terminal.Wrapped(line, terminal.LineWidth(errs), 4))
			}
		}
		return exit.code
	}
	fmt.Fprintln(errs, terminal.Wrapped("ralph-lsp: "+explain(err), terminal.LineWidth(errs), 2))
	return terminal.ExitFailed
}

// executeQuietly runs a command line for who shows what it prints, and can't be asked.
func executeQuietly(args []string, out io.Writer) int {
	return execute(args, strings.NewReader(""), out, out)
}

func newRoot() *cobra.Command {
	var serve stdio.Sidecar
	root := &cobra.Command{
		Use:           "ralph-lsp",
		Short:         "Run coding agents in Ralph loops",
		SilenceErrors: true, // execute prints them
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return serveEditor(cmd, &serve) },
		Annotations:   map[string]string{cli.Begins: `ralph-lsp run "..."`},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return caller.Check(cli.Words(cmd), paths.Real(folderSaid(cmd)))
		},
	}
	cli.Versioned(root, programVersion())
	cli.Overview(root, overview)
	serve.AddFlags(root.Flags())
	root.Flags().SortFlags = false
	return root
}

func addCommands(root *cobra.Command) {
	root.AddCommand(
		newRun(), newDemo(), newStatus(), newWatch(false), newAttach(), top.New(executeQuietly), newDetach(), newCancel(), newPause(), newNext(), newResume(), newSteer(), newAnswer(), newUpdate(), newTrust(), newSandbox(), newPlan(), newHats(), newAgents(), newInit(),
		clean.New(folderFlag, sessionsOf), newChanges(), newUndo(), newRedo(), newLand(), newDecode(), newHistory(), newDoctor(), emit.New(), newACP(), newStartText(), newLimitsText(), newDemoAgent(), newDemoCheck(), newSetup(), keeper.New(programVersion()), notifytest.New(folderFlag, loadSettings, here),
	)
	root.SetHelpCommand(cli.NewHelp())
	cli.AddCompletion(root)
}

// folderFlag adds -C to a command and returns what resolves it: an absolute
// path of a folder that exists.
func folderFlag(cmd *cobra.Command) func() (string, error) {
	dir := cmd.Flags().StringP("dir", "C", ".", "the `FOLDER` of the loop")
	cli.OfFlag(cmd.MarkFlagDirname("dir"))
	return func() (string, error) { return resolveFolder(*dir) }
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
func inFolder(cmd *cobra.Command, run func(cmd *cobra.Command, dir string, args []string) error) {
	folder := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := folder()
		if err != nil {
			return err
		}
		return run(cmd, dir, args)
	}
}

// listing is a command that lists when it is alone, as its own command list does.
func listing(use string, list func() *cobra.Command, more ...*cobra.Command) *cobra.Command {
	cmd := list()
	cmd.Use, cmd.Args = use, cli.UnknownCommand
	cmd.AddCommand(append(more, list())...)
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
