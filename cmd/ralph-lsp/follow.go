package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// follower is the command of [land], with its arguments. It is made before the work lands, so that the work has no
// say in it; some values are known only until then.
type follower struct {
	argv []string // none: nothing runs
	repo string
	says answers.Description
	dir  string // of the file with the text of a pull request; "" as long as there is none
}

// followerOf is what the user's file, or the trusted one of the folder that the loop was started
// for, has run behind a landing.
func followerOf(cmd *cobra.Command, tree worktree.Tree) (f follower, err error) {
	folder := worktree.In(tree.Path, tree.Repo, tree.Folder)
	settings, err := filesOf(folder).Load()
	if untrusted := (*config.UntrustedError)(nil); errors.As(err, &untrusted) {
		if slices.ContainsFunc(untrusted.Wants, func(line string) bool { return strings.HasPrefix(line, "land.command = ") }) {
			fmt.Fprintf(cmd.ErrOrStderr(), "ralph-lsp: land.command in %s doesn't count before you trust it: ralph-lsp trust%s\n",
				config.Name, terminal.InFolderOf(folder))
		}
	} else if err != nil {
		return f, badConfig(err)
	}
	if len(settings.Land) == 0 {
		return f, nil
	}
	f = follower{argv: settings.Land, repo: tree.Repo}
	if f.says, err = local.Describe(cmd.Context(), tree, terminal.ReceiptOf); err != nil { // nobody knows how it ended
		f.says.Title = tree.Branch
	}
	if f.dir, err = os.MkdirTemp("", "ralph-land-"); err == nil {
		err = os.WriteFile(f.file(), []byte(f.says.Body), 0o600)
	}
	return f, err
}

func (f follower) file() string { return filepath.Join(f.dir, "body.md") }

func (f follower) close() {
	if f.dir != "" {
		os.RemoveAll(f.dir)
	}
}

// run runs the command with the branch that has the work; "" is none. It has the terminal, as it may ask.
func (f follower) run(cmd *cobra.Command, branch string, asJSON bool) error {
	if len(f.argv) == 0 || branch == "" {
		return nil
	}
	argv := slices.Clone(f.argv)
	fill := strings.NewReplacer("{branch}", branch, "{title}", f.says.Title, "{body_file}", f.file())
	for i := range argv[1:] {
		argv[i+1] = fill.Replace(argv[i+1])
	}
	program := exec.CommandContext(cmd.Context(), backends.Program(argv, f.repo).Command, argv[1:]...)
	program.Dir, program.Stdin, program.Stdout, program.Stderr = f.repo, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if asJSON { // which is all that is printed
		program.Stdout = program.Stderr
	}
	if err := program.Run(); err != nil {
		return fmt.Errorf("land.command failed (%s: %w); %s has the work, so run it again", argv[0], err, terminal.Line(branch))
	}
	return nil
}
