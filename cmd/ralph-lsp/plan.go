package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

func newPlan() *cobra.Command {
	var options start.Options
	cmd := &cobra.Command{
		Use:   "plan [flags] [--] [PROMPT...]",
		Short: "Talk with the agent in its own interface",
		Long: `Start the agent's own terminal interface in the folder, with a first prompt if you
give one, to plan before a loop runs. The exit code is the agent's.`,
		Example: `  ralph-lsp plan "Let's write PROMPT.md for the new parser"
  ralph-lsp plan --backend pi --hat planner`,
		Annotations: map[string]string{cli.TakesText: "prompt"},
	}
	addStartFlags(cmd, &options, start.ToTalk)
	return inFolder(cmd, func(cmd *cobra.Command, dir string, args []string) error {
		return plan(cmd, dir, options, strings.Join(args, " "))
	})
}

// plan runs a session in the terminal. Its scope ends whatever the agent leaves
// running, as after an iteration.
func plan(cmd *cobra.Command, dir string, options start.Options, prompt string) error {
	in, isIn := terminal.Is(cmd.InOrStdin())
	out, isOut := terminal.Is(cmd.OutOrStdout())
	if !isIn || !isOut {
		return errors.New("plan needs a terminal for the agent's interface; a loop that runs by itself starts with ralph-lsp run")
	}
	_, settings, err := loadSettings(cmd, dir)
	if err != nil {
		return err
	}
	resolver := start.Resolver{Start: options, Settings: settings, Detect: start.Installed}
	backend, argv, err := resolver.Interactive(cmd.Context(), prompt)
	if err != nil {
		return err
	}
	walls, err := sandbox.Raise(cmd.Context(), settings.Sandbox, dir)
	if err != nil {
		return err
	}
	defer walls.Close()
	walls.Tell(func(b sandbox.Breach) { fmt.Fprintln(cmd.ErrOrStderr(), terminal.Line(b.Path+" "+b.Text)) })
	scope, err := backends.OpenScope("ralph-plan-" + strings.ToLower(rand.Text()[:12]))
	if err != nil {
		return err
	}
	defer scope.Close()
	scope.Walls = walls
	exit, err := backends.Interactive{Backend: backend, Argv: argv, Dir: dir, Scope: scope}.Run(in, out)
	switch {
	case err != nil:
		return err
	case exit.Survivor != nil:
		return fmt.Errorf("%s left something running: %w", backend.Name, exit.Survivor)
	case exit.Number != 0: // of a signal, as shells have it
		return &exitError{128 + exit.Number, fmt.Sprintf("%s was ended by a signal (%s)", backend.Name, exit.Signal)}
	case exit.Code != 0:
		return &exitError{code: exit.Code}
	}
	return nil
}
