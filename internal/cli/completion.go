package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// AddCompletion adds the command that prints scripts for shells, and completes
// nothing with the names of files where none can stand.
func AddCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd() // it takes the output that is set by now
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	OfCommands(completion)
	completion.Short = "Print the completion script for a shell"
	named := strings.NewReplacer("ralph-lsp", root.Name(), "ralph_lsp", strings.ReplaceAll(root.Name(), "-", "_"))
	completion.Long = named.Replace("Print the script that completes commands, flags and their values, loops " +
		"and\niterations in a shell. Each says in its help how it is set up:\n\n  ralph-lsp help completion bash")
	for _, shell := range completion.Commands() {
		shell.Short = "The completion script for " + shell.Name()
		script, ok := shellScripts[shell.Name()]
		if !ok {
			continue
		}
		shell.Long = named.Replace(script.help)
		shell.RunE = func(cmd *cobra.Command, _ []string) error {
			plain, _ := cmd.Flags().GetBool("no-descriptions")
			var text bytes.Buffer
			err := script.generate(root, &text, !plain)
			head := named.Replace(script.before)
			before, after, found := strings.Cut(text.String(), head)
			if err == nil && !found {
				err = errors.New("the script for " + cmd.Name() + " isn't as expected")
			}
			if err == nil {
				_, err = io.WriteString(cmd.OutOrStdout(), before+head+named.Replace(script.needs)+after)
			}
			return err
		}
	}
	noFiles(root)
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Name() == cobra.ShellCompRequestCmd { // shells show usages as they are
			unquote(root)
		}
		return before(cmd, args)
	}
}

// unquote takes the backticks out of usages, by which a help finds the names of values.
func unquote(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, below := range cmd.Commands() {
		unquote(below)
	}
}

// shellScripts says of each shell how its script is set up, and what the script says
// when the shell lacks what it needs: needs stands behind the first before. ralph-lsp
// stands for the program.
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
var withFiles = map[string]bool{
	"prompt-file": true, "log": true, "record": true, "dir": true,
	"token-file": true, "ca": true, "creds": true, "nkey": true, "tls-cert": true, "tls-key": true,
	"each": true, "issue": true, "bundle": true, "patch": true, "into": true, "repo": true, "ralph-lsp": true,
}

// noFiles lets the commands below one complete no value and no argument with the names
// of files that they don't say otherwise about.
func noFiles(above *cobra.Command) {
	for _, cmd := range above.Commands() {
		CompleteChoices(cmd)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && !withFiles[f.Name] && f.NoOptDefVal == "" {
				CompleteWith(cmd, f.Name)
			}
		})
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		noFiles(cmd)
	}
}

// CompleteFiles completes arguments as the shell does.
func CompleteFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteWith offers words for a flag in the shell's completion.
func CompleteWith(cmd *cobra.Command, flag string, words ...string) {
	OfFlag(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// CompleteChoices completes the values of flags that take one of a few words.
func CompleteChoices(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && strings.Contains(f.Value.Type(), "|") {
			CompleteWith(cmd, f.Name, strings.Split(f.Value.Type(), "|")...)
		}
	})
}
