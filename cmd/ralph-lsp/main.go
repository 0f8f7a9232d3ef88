// Command ralph-lsp runs coding agents in Ralph loops.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/clean"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/note"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/top"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/window"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/emit"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/keeper"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func main() {
	if client.IsKeeper(os.Args) {
		keeper.Main()
		return
	}
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// version is set at release builds: -ldflags "-X main.version=1.2.3".
var version string

// programVersion is the release, or else what the Go tool knows of the build.
func programVersion() string { return cli.VersionOf(version) }

// execute runs the command line and returns the exit code. Any failure is one line on stderr.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx := context.Background()
	if beginsLoop(args) { // as early as possible: it takes as long as a process takes to start
		spare := window.Prepare()
		defer spare.Close()
		ctx = window.With(ctx, spare)
	}
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := terminal.NewOutput(stdout)
	errs := terminal.NewOutput(stderr)
	root.SetOut(out)
	root.SetErr(errs)
	if slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }) { // an editor names none, and waits
		addCommands(root)
	}
	err := judge(out, root.ExecuteContext(ctx))
	if refused := (*caller.Refused)(nil); errors.As(err, &refused) {
		refused.Typed = "ralph-lsp"
		for _, arg := range args {
			refused.Typed += " " + format.ShellWord(arg)
		}
	}
	var exit *exitError
	switch {
	case err == nil:
		return terminal.ExitDone
	case errors.As(err, &exit):
		if exit.message != "" {
			for line := range strings.SplitSeq("ralph-lsp: "+stream.Sanitize(exit.message), "\n") {
				fmt.Fprintln(errs, terminal.Wrapped(line, terminal.LineWidth(errs), 4))
			}
		}
		return exit.code
	}
	fmt.Fprintln(errs, terminal.Wrapped("ralph-lsp: "+explain(err), terminal.LineWidth(errs), 2))
	return terminal.ExitFailed
}

// beginsLoop says whether a command line may begin a loop in a process of its own.
func beginsLoop(args []string) bool {
	return len(args) > 0 && (args[0] == "run" || args[0] == "resume") && !slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "--once") || arg == "--dry-run" || arg == "--help" || arg == "-h"
	})
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
			return caller.Check(cli.Words(cmd))
		},
	}
	cli.Versioned(root, programVersion())
	cli.Overview(root, overview)
	serve.AddFlags(root.Flags())
	root.Flags().SortFlags = false
	return root
}

func addCommands(root *cobra.Command) {
	quietly := func(args []string, out io.Writer) int { return execute(args, strings.NewReader(""), out, out) } // nobody can be asked
	root.AddCommand(
		newRun(), newDemo(), newStatus(), newWatch(false), newAttach(), top.New(quietly), newDetach(), newCancel(), newPause(),
		newNext(), newResume(), newSteer(), note.New(inFolder), newAnswer(), newUpdate(), newTrust(), newSandbox(), newPlan(),
		newHats(), newAgents(), newInit(),
		clean.New(inFolder), newChanges(), newUndo(), newRedo(), newLand(), newDecode(), newHistory(), newDoctor(), emit.New(),
		newACP(), newAHP(), newMCP(), newStartText(), newLimitsText(), newDemoAgent(), newDemoCheck(), newSetup(), newNotify(),
	)
	root.SetHelpCommand(cli.NewHelp())
	cli.AddCompletion(root)
}

// serveEditor serves an editor, or shows the help to a person.
func serveEditor(cmd *cobra.Command, s *stdio.Sidecar) error {
	if _, ok := terminal.Is(cmd.InOrStdin()); ok && !s.Wanted {
		return cmd.Help()
	}
	stdout := terminal.Unwrapped(cmd.OutOrStdout()).(io.Writer) // the server looks after its errors
	code, err := s.Run(cmd.InOrStdin(), stdout, cmd.ErrOrStderr(), programVersion(), nil)
	if err == nil && code != terminal.ExitDone {
		return &exitError{code: code} // the log has said why
	}
	return err
}
