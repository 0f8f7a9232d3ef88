package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/internal/emit"
	"ralph-lsp/internal/tell"
	"ralph-lsp/server/stdio"
	"ralph-lsp/stream"
)

// execute runs the command line and returns the exit code. Whatever goes wrong
// is one line on stderr.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := checked(newFence(stdout))
	errs := newFence(stderr)
	root.SetOut(out)
	root.SetErr(errs)
	if slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") }) { // an editor names none, and waits
		addCommands(root)
	}
	err := out.judge(root.Execute())
	var exit *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		if exit.message != "" {
			for line := range strings.SplitSeq("ralph-lsp: "+stream.Plain(exit.message), "\n") {
				fmt.Fprintln(errs, wrapped(line, lineWidth(errs), 4))
			}
		}
		return exit.code
	}
	fmt.Fprintln(errs, wrapped("ralph-lsp: "+explain(err), lineWidth(errs), 2))
	return exitFailed
}

func newRoot() *cobra.Command {
	var serve stdio.Sidecar
	root := &cobra.Command{
		Use:           "ralph-lsp",
		Short:         "Run coding agents in Ralph loops",
		SilenceErrors: true, // execute prints them
		SilenceUsage:  true,
		Args:          noUnknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return serveEditor(cmd, &serve) },
		Version:       programVersion(),
		// The suggestions of noUnknownCommand fit on the line of the error.
		DisableSuggestions: true,
	}
	root.SetVersionTemplate("ralph-lsp {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", tell.HelpWidth)))
	serve.AddFlags(root.Flags())
	root.Flags().SortFlags = false
	general := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root {
			fmt.Fprint(cmd.OutOrStdout(), overview)
			return
		}
		general(cmd, args)
	})
	return root
}

func addCommands(root *cobra.Command) {
	root.AddCommand(
		newRun(), newDemo(), newStatus(), newWatch(), newCancel(), newPause(), newNext(), newResume(), newSteer(), newAnswer(), newUpdate(), newTrust(), newSandbox(), newPlan(), newHats(), newAgents(), newInit(),
		newChanges(), newUndo(), newRedo(), newLand(), newDecode(), newHistory(), newDoctor(), emit.New(), newVersion(), newStartText(), newLimitsText(), newDemoAgent(), newDemoCheck(), newSetup(),
	)
	root.SetHelpCommand(newHelp())
	addCompletion(root)
}

// noUnknownCommand refuses words that are none of cmd's commands, with those
// that may be meant.
func noUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandNames(cmd)
	_, path, _ := strings.Cut(cmd.CommandPath()+" ", " ") // without the program's name
	hint := "ralph-lsp help shows the commands"
	if near := tell.DidYouMean(args[0], path, names); near != "" {
		hint = near
	} else if cmd.HasParent() {
		hint = "known are " + strings.Join(names, ", ")
	} else if strings.ContainsAny(args[0], " \n") || len(args) > 1 {
		hint = `a loop starts with ralph-lsp run "..."`
	}
	return fmt.Errorf("unknown command %q; %s", path+args[0], hint)
}

// ofCommands makes a command one that has no use but its own commands.
func ofCommands(cmd *cobra.Command) {
	cmd.Args = noUnknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return fmt.Errorf("%s needs a command: %s; see ralph-lsp help %[1]s", cmd.Name(), strings.Join(commandNames(cmd), ", "))
	}
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// folderFlag adds -C to a command and returns what resolves it: an absolute
// path of a folder that exists.
func folderFlag(cmd *cobra.Command) func() (string, error) {
	dir := cmd.Flags().StringP("dir", "C", ".", "the folder of the loop")
	ofFlag(cmd.MarkFlagDirname("dir"))
	return func() (string, error) { return resolveFolder(*dir) }
}

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
