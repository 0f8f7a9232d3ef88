// Package cli is the common part of the programs' command lines: messages about unknown words and flags, the help of
// commands, and completion in shells.
package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// Annotations of commands.
const (
	TakesText = "takes-text" // the arguments are free text
	Begins    = "begins"     // of a root: what begins a loop, for one who has left the command out
)

// Overview gives a root its general help, and all commands a width.
func Overview(root *cobra.Command, text string) {
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(FlagError)
	root.DisableSuggestions = true // UnknownCommand's fit on the line of the error
	root.Args = UnknownCommand
	general := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root {
			fmt.Fprint(cmd.OutOrStdout(), text)
			return
		}
		if isBrief(cmd) {
			long := cmd.Long
			defer func() { cmd.Long = long }()
			cmd.Long, _, _ = strings.Cut(long, "\n\n")
		}
		general(cmd, args)
	})
}

// usage shows how to use a command: cobra's, but for the flags. Nobody here gives cobra a template:
// a program that has templates in it keeps all methods of all its types.
func usage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n\nAvailable Commands:")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				fmt.Fprintf(&b, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString("\n\n" + flagHelp(cmd))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse %q for more information about a command.", cmd.CommandPath()+" [command] --help")
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), b.String())
	return err
}

// UnknownCommand refuses words that are none of cmd's commands, with those
// that may be meant.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandNames(cmd)
	_, path, _ := strings.Cut(cmd.CommandPath()+" ", " ") // without the program's name
	hint := cmd.Root().Name() + " help shows the commands"
	if near := format.DidYouMean(args[0], path, names); near != "" {
		hint = near
	} else if cmd.HasParent() {
		hint = "known are " + strings.Join(names, ", ")
	} else if strings.ContainsAny(args[0], " \n") || len(args) > 1 {
		hint = "a loop starts with " + cmd.Root().Annotations[Begins]
	}
	return fmt.Errorf("unknown command %q; %s", path+args[0], hint)
}

// OfCommands makes a command one that has no use but its own commands.
func OfCommands(cmd *cobra.Command) {
	cmd.Args = UnknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return fmt.Errorf("%s needs a command: %s; see %s help %[1]s", cmd.Name(), strings.Join(commandNames(cmd), ", "), cmd.Root().Name())
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

// NoArguments is cobra.NoArgs in our words.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but got %q; see %s help %s", cmd.Name(), args[0], cmd.Root().Name(), cmd.Name())
	}
	return nil
}

// Needs wants an argument for each of the words, with an example of a whole line.
func Needs(example string, words ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(words) {
			return errors.New(words[len(args)] + ", as in " + example)
		}
		return nil
	}
}

// FlagError says in one line what is wrong with a flag. Of a command that isn't
// one, the flags don't matter.
func FlagError(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); !cmd.HasParent() && len(words) > 0 {
		return UnknownCommand(cmd, words)
	}
	hint := ""
	if cmd.Flags().HasAvailableFlags() && cmd.Annotations[TakesText] != "" {
		hint = " (put text that begins with - after --)"
	}
	see := "see " + cmd.Root().Name() + " help"
	if cmd.HasParent() {
		see += " " + cmd.Name()
	}
	return start.FlagError(cmd.Flags(), err, see, hint)
}

// OfFlag takes the error of what is done to a flag, which the caller has added.
func OfFlag(err error) {
	if err != nil {
		panic(err)
	}
}

// NewHelp replaces cobra's own, which answers an unknown word with the help of
// everything.
func NewHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show how to use the program or one of its commands",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, c := range cmd.Root().Commands() {
				if !c.Hidden && len(args) == 0 {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return UnknownCommand(cmd.Root(), args)
			case len(rest) > 0 && target.HasSubCommands():
				return UnknownCommand(target, rest)
			case len(rest) > 0:
				return fmt.Errorf("%s has no commands, so there is no help for %q; see %s help %[1]s", target.Name(), rest[0], cmd.Root().Name())
			}
			target.InitDefaultHelpFlag() // else --help is missing in the list: only running a command adds it
			return target.Help()
		},
	}
}

// Words are a command without its program. All that speaks of completion is one.
func Words(cmd *cobra.Command) string {
	_, words, _ := strings.Cut(cmd.CommandPath(), " ")
	if first, _, _ := strings.Cut(words, " "); first == "completion" || strings.HasPrefix(first, cobra.ShellCompRequestCmd) {
		return "completion"
	}
	return words
}
