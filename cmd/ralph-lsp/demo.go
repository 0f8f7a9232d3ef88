package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/demo"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

func newDemo() *cobra.Command {
	var how shown
	var keep, fast bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a whole loop in ten seconds, with nothing to install",
		Long: `Run a loop with a small scripted agent that is built in. It works in a temporary
folder, on a little program that fails its check. Each run is a new process that
remembers nothing and mends one mistake, until the agent can promise that all is
right.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.OutOrStdout(), cmd.ErrOrStderr(), how, keep, fast)
		},
	}
	how.addFlags(cmd)
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the temporary folder")
	cmd.Flags().BoolVar(&fast, "fast", false, "don't pause for the reader")
	cli.OfFlag(cmd.Flags().MarkHidden("fast"))
	return cmd
}

func runDemo(stdout, stderr io.Writer, how shown, keep, fast bool) error {
	_, stop := terminal.CatchSignals() // the folder has to be removed after any signal
	defer stop()
	folder, err := os.MkdirTemp("", "ralph-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	talk, aside := stdout, stdout
	switch how.style.Value { // json and quiet say nothing of their own
	case terminal.Quiet, terminal.JSON:
		talk, aside = io.Discard, stderr
	}
	defer func() {
		if keep {
			fmt.Fprintf(aside, "The folder is %s\n", folder)
		} else {
			os.RemoveAll(folder)
		}
	}()
	program := filepath.Join(folder, demo.File)
	if err := os.WriteFile(program, []byte(demo.Program), 0o600); err != nil {
		return fmt.Errorf("writing the demo's program: %w", err)
	}
	cfg, err := demoConfig(folder, fast)
	if err != nil {
		return err
	}
	look := terminal.ConfigOf(stdout, stderr, false)
	introduce(talk, look)
	end, err := drive(cfg, config.Files{}, stdout, stderr, how, func() {})
	if err != nil {
		return err
	}
	if err := outcome(end); err != nil {
		return err
	}
	return farewell(talk, look.Palette, program, keep)
}

// introduce says what is about to be seen.
func introduce(out io.Writer, look terminal.Config) {
	text := fmt.Sprintf("**%s** fails its check. A scripted agent mends it, one mistake per run. The prompt, the same each "+
		"time:\n\n> %s", demo.File, demo.Prompt)
	for _, line := range terminal.NewMarkdown(look.Palette).Render(text, min(look.Width()-1, terminal.MaxRule)) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
}

// demoConfig is a loop whose agent is this program.
func demoConfig(folder string, fast bool) (setup.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return setup.Config{}, fmt.Errorf("finding this program: %w", err)
	}
	args := []string{"demo-agent"}
	if fast {
		args = append(args, "--fast")
	}
	agent := backends.Custom(self, args, backends.PromptStdin, decode.FormatPi)
	agent.Name = "demo"
	bounds := limits.Default()
	bounds.MaxIterations = 5 // three are needed
	return setup.Config{
		Folder: folder, Prompt: demo.Prompt, Backend: agent, Promise: demo.Promise, Limits: bounds, Version: programVersion(),
		Storage: setup.Storage{History: history.Options{Off: true}}, // the folder is gone soon
	}, nil
}

// farewell says what the loop did, and what to try next.
func farewell(out io.Writer, p terminal.Palette, program string, keep bool) error {
	after, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading what the demo made: %w", err)
	}
	fmt.Fprintf(out, "\nWhat changed in %s:\n", demo.File)
	before, now := strings.Split(demo.Program, "\n"), strings.Split(string(after), "\n")
	for i := range min(len(before), len(now)) { // its lines are changed in place
		if before[i] != now[i] {
			fmt.Fprintf(out, "  %s\n  %s\n", p.Red("- "+before[i]), p.Green("+ "+now[i]))
		}
	}
	if !keep {
		fmt.Fprintln(out, "The temporary folder is gone again (--keep leaves it).")
	}
	fmt.Fprintf(out, "\nNow with a real agent, in a folder of yours:\n  %s\n  %s\n",
		p.Bold("ralph-lsp doctor"), p.Bold(firstRun))
	return nil
}

// newDemoAgent is the scripted agent of the demo.
func newDemoAgent() *cobra.Command {
	var fast bool
	cmd := &cobra.Command{
		Use:    "demo-agent",
		Hidden: true,
		Args:   cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// It knows what to do; but who closes a pipe unread breaks it for the writer.
			if _, err := io.Copy(io.Discard, cmd.InOrStdin()); err != nil {
				return fmt.Errorf("reading the prompt: %w", err)
			}
			return demo.Play(terminal.Verbatim(cmd.OutOrStdout()), os.Getenv(backends.EnvIteration), fast)
		},
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "don't pause for the reader")
	return cmd
}

// newDemoCheck is the check that the demo's program has to pass.
func newDemoCheck() *cobra.Command {
	return &cobra.Command{
		Use:    "demo-check FILE",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("reading the program: %w", err)
			}
			wrong, err := demo.Check(cmd.OutOrStdout(), string(source))
			if err == nil && wrong > 0 {
				err = &exitError{code: terminal.ExitFailed}
			}
			return err
		},
	}
}
