package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

func newPlan() *cobra.Command {
	var options start.Options
	cmd := &cobra.Command{
		Use:   "plan [flags] [--] [PROMPT...]",
		Short: "Write a plan with the agent, in its own interface",
		Long: `Start the agent's own terminal interface in the folder, with a first prompt if you
give one, to plan before a loop runs. The agent is told to write what you agree on
into PLAN.md, or to add it to the tasks there. When its interface ends, that plan is
shown: its tasks, what is wrong with it, and the commands that its checks would run.
The exit code is the agent's.`,
		Example: `  ralph-lsp plan "We need a parser for numbers and strings"
  ralph-lsp plan --backend pi --hat planner --plan docs/parser.md`,
		Annotations: map[string]string{cli.TakesText: "prompt"},
	}
	addStartFlags(cmd, &options, start.ToTalk)
	cmd.Flags().StringVar(&options.Values.Plan, "plan", "", "have the agent write the plan into `FILE` of the folder; without "+
		"it, PLAN.md or the one of ralph.toml")
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
	before, _ := setup.ReadPlan(dir, start.PlanFile(resolver)) // there may be none
	walls, err := sandbox.Raise(cmd.Context(), settings.Sandbox, dir)
	if err != nil {
		return err
	}
	defer walls.Close()
	walls.OnBreach(func(b sandbox.Breach) { fmt.Fprintln(cmd.ErrOrStderr(), terminal.Line(b.Path+" "+b.Text)) })
	scope, err := backends.OpenScope("ralph-plan-" + strings.ToLower(rand.Text()[:12]))
	if err != nil {
		return err
	}
	defer scope.Close()
	scope.Walls = walls
	exit, err := backends.Interactive{Backend: backend, Argv: argv, Dir: dir, Scope: scope}.Run(in, out)
	if err != nil {
		return err
	}
	if now, err := setup.ReadPlan(dir, start.PlanFile(resolver)); err == nil && bytes.Equal(now.Data, before.Data) {
		fmt.Fprintln(cmd.OutOrStdout(), "the plan is as it was before:")
	}
	showPlan(cmd.OutOrStdout(), dir, start.PlanFile(resolver))
	switch {
	case exit.Survivor != nil:
		return fmt.Errorf("%s left something running: %w", backend.Name, exit.Survivor)
	case exit.Number != 0: // of a signal, as shells have it
		return &exitError{128 + exit.Number, fmt.Sprintf("%s was ended by a signal (%s)", backend.Name, exit.Signal)}
	case exit.Code != 0:
		return &exitError{code: exit.Code}
	}
	return nil
}

// showPlan shows a plan that was written, and says what to do with it. The checks are to be run for all of it.
func showPlan(out io.Writer, dir, name string, checks ...string) {
	p, err := setup.ReadPlan(dir, name)
	if err != nil {
		fmt.Fprintf(out, "no plan to work through: %s\n", terminal.Line(err.Error()))
		return
	}
	for _, line := range terminal.LinesOf(p.Review()) {
		fmt.Fprintln(out, line)
	}
	if _, ok := p.Next(); !ok {
		fmt.Fprintf(out, "nothing can be done of it: %s\n", terminal.Line(p.Why().Error()))
		return
	}
	verify := ""
	if len(checks) > 0 {
		verify = " --verify " + format.ShellWord(strings.Join(checks, " && "))
	}
	fmt.Fprintf(out, "next: look it over; ralph-lsp run%s --plan %s%s does one task each iteration\n",
		terminal.InFolderOf(dir), format.ShellWord(p.Name), verify)
}
