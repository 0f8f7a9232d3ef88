package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph-lsp/changes"
	"ralph-lsp/loop"
	"ralph-lsp/wire"
)

// addCompletion adds the command that prints scripts for shells, and completes
// nothing with the names of files where none can stand.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd() // it takes the output that is set by now
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	ofCommands(completion)
	completion.Short = "Print the completion script for a shell"
	completion.Long = "Print the script that completes commands, flags and their values, loops and\niterations in a shell. Each says in its help how it is set up:\n\n  ralph-lsp help completion bash"
	for _, shell := range completion.Commands() {
		script, ok := shellScripts[shell.Name()]
		if !ok {
			continue
		}
		shell.Short, shell.Long = "The completion script for "+shell.Name(), script.help
		shell.RunE = func(cmd *cobra.Command, _ []string) error {
			plain, _ := cmd.Flags().GetBool("no-descriptions")
			var text bytes.Buffer
			err := script.generate(root, &text, !plain)
			before, after, found := strings.Cut(text.String(), script.before)
			if err == nil && !found {
				err = errors.New("the script for " + cmd.Name() + " isn't as expected")
			}
			if err == nil {
				_, err = io.WriteString(cmd.OutOrStdout(), before+script.before+script.needs+after)
			}
			return err
		}
	}
	noFiles(root)
}

// shellScripts says of each shell how its script is set up, and what the script says
// when the shell lacks what it needs: needs stands behind the first before.
var shellScripts = map[string]struct {
	generate            func(root *cobra.Command, out io.Writer, describe bool) error
	help, before, needs string
}{
	"bash": {
		generate: (*cobra.Command).GenBashCompletionV2,
		help: `Print the completion script for bash. It needs the package bash-completion, and says
so when that is missing.

  mkdir -p ~/.local/share/bash-completion/completions
  ralph-lsp completion bash > ~/.local/share/bash-completion/completions/ralph-lsp

In the present shell only:

  source <(ralph-lsp completion bash)`,
		before: "__ralph-lsp_init_completion()\n{\n    COMPREPLY=()\n",
		needs: `    if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        [[ -n ${__ralph_lsp_told-} ]] || printf '\n%s\n' "ralph-lsp: completion needs the package bash-completion: install it (apt or brew)," "then open a new shell, or source /usr/share/bash-completion/bash_completion" >&2
        __ralph_lsp_told=1
        return 1
    fi
`,
	},
	"zsh": {
		generate: func(root *cobra.Command, out io.Writer, describe bool) error {
			if !describe {
				return root.GenZshCompletionNoDesc(out)
			}
			return root.GenZshCompletion(out)
		},
		help: `Print the completion script for zsh. It needs zsh's own completion, and says so when
that isn't on: autoload -U compinit; compinit

  ralph-lsp completion zsh > "${fpath[1]}/_ralph-lsp"

In the present shell only:

  source <(ralph-lsp completion zsh)`,
		before: "#compdef ralph-lsp\n",
		needs: `if (( ! $+functions[compdef] )); then
    print -u2 "ralph-lsp: completion needs zsh's own: put 'autoload -U compinit; compinit' in front of it in ~/.zshrc"
    return 1
fi
`,
	},
	"fish": {
		generate: (*cobra.Command).GenFishCompletion,
		help: `Print the completion script for fish. It needs nothing else.

  ralph-lsp completion fish > ~/.config/fish/completions/ralph-lsp.fish`,
	},
}

// withFiles are the flags whose values are files, or may be.
var withFiles = map[string]bool{"prompt-file": true, "log": true, "record": true, "dir": true, "from": true}

// noFiles lets the commands below one complete no value and no argument with the names
// of files that they don't say otherwise about.
func noFiles(above *cobra.Command) {
	for _, cmd := range above.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && !withFiles[f.Name] && f.NoOptDefVal == "" {
				completeWith(cmd, f.Name)
			}
		})
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		noFiles(cmd)
	}
}

// completeFiles completes arguments as the shell does.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeLoops offers the ids of the folder's loops.
func completeLoops(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return loopIDs(cmd, args, false)
}

// loopIDs offers the ids of the folder's loops, and of those in worktrees that stood for it.
func loopIDs(cmd *cobra.Command, args []string, inTrees bool) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
	dir, err := resolveFolder(cmd.Flag("dir").Value.String())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if kept, _, err := keptOf(dir); err == nil {
		past, _ := loop.PastOf(dir, kept, 0, true) // none are offered where they can't be read
		for _, p := range past {
			if inTrees || p.Tree == nil {
				ids = append(ids, cobra.CompletionWithDesc(p.Loop.LoopID, plainLine(p.Loop.Title)))
			}
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeLoopThenFiles offers the ids of loops, and behind -- files.
func completeLoopThenFiles(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if slices.Contains(os.Args, "--") { // cobra puts one behind the arguments, so it can't tell
		return completeFiles(cmd, args, begun)
	}
	return completeLoops(cmd, args, begun)
}

// completeLoopOrFile offers the ids of loops, and paths once one is begun.
func completeLoopOrFile(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ids, directive := loopIDs(cmd, args, true)
	if strings.ContainsAny(begun, "./~") || len(ids) == 0 {
		return completeFiles(cmd, args, begun)
	}
	return ids, directive
}

// completeIterations offers, for flags, the iterations of the loop that changed
// something.
func completeIterations(cmd *cobra.Command, flags ...string) {
	offer := func(cmd *cobra.Command, args []string, _ string) (numbers []cobra.Completion, _ cobra.ShellCompDirective) {
		dir, err := resolveFolder(cmd.Flag("dir").Value.String())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		id := ""
		if len(args) > 0 {
			id = args[0]
		}
		if s, err := loop.SnapshotsIn(dir, id); err == nil {
			iterations, _ := s.Iterations(contextOf(cmd), changes.Range{To: changes.Latest}, nil) // none are offered where they can't be read
			for _, it := range iterations {
				numbers = append(numbers, cobra.CompletionWithDesc(strconv.Itoa(it.Number), wire.SumText(it.Summary)))
			}
		}
		return numbers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	for _, flag := range flags {
		ofFlag(cmd.RegisterFlagCompletionFunc(flag, offer))
	}
}
