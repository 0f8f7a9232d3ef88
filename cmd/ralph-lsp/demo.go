package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ralph-lsp/backends"
	"ralph-lsp/cmd/internal/cli"
	"ralph-lsp/history"
	"ralph-lsp/internal/limits"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
)

// demoFile is the little program of the demo: what to say for one number. It
// is wrong in three places, so that the loop needs three runs.
const (
	demoFile    = "fizzbuzz.tmpl"
	demoProgram = `{{if divides 16 .}}FizzBuzz
{{- else if divides 4 .}}Fizz
{{- else if divides 6 .}}Buzz
{{- else}}{{.}}
{{- end}}
`
	demoPromise = "DONE"
	demoPrompt  = "The template " + demoFile + " should play FizzBuzz from 1 to 15; `ralph-lsp demo-check " + demoFile + "` tells which " +
		"numbers come out wrong. Fix one thing per run. When all are right, say <promise>" + demoPromise + "</promise>."
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
	_, stop := catchSignals() // whatever comes, the folder is to be removed
	defer stop()
	folder, err := os.MkdirTemp("", "ralph-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	talk, aside := stdout, stdout
	switch how.style.Value { // json and quiet say nothing of their own
	case styleQuiet, styleJSON:
		talk, aside = io.Discard, stderr
	}
	defer func() {
		if keep {
			fmt.Fprintf(aside, "The folder is %s\n", folder)
		} else {
			os.RemoveAll(folder)
		}
	}()
	program := filepath.Join(folder, demoFile)
	if err := os.WriteFile(program, []byte(demoProgram), 0o600); err != nil {
		return fmt.Errorf("writing the demo's program: %w", err)
	}
	cfg, err := demoConfig(folder, fast)
	if err != nil {
		return err
	}
	look := describe(stdout, stderr, false)
	introduce(talk, look)
	end, err := drive(cfg, stdout, stderr, how, func(*loop.Loop, <-chan struct{}) {})
	if err != nil {
		return err
	}
	if err := outcome(end); err != nil {
		return err
	}
	return farewell(talk, look.palette, program, keep)
}

// introduce says what is about to be seen.
func introduce(out io.Writer, look styleConfig) {
	text := fmt.Sprintf("**%s** fails its check. A scripted agent mends it, one mistake per run. The prompt, the same each time:\n\n> %s", demoFile, demoPrompt)
	for _, line := range newMarkdown(look.palette).render(text, min(look.width()-1, maxRule)) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
}

// demoConfig is a loop whose agent is this program.
func demoConfig(folder string, fast bool) (loop.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return loop.Config{}, fmt.Errorf("finding this program: %w", err)
	}
	args := []string{"demo-agent"}
	if fast {
		args = append(args, "--fast")
	}
	agent := backends.Custom(self, args, backends.PromptStdin, stream.FormatPi)
	agent.Name = "demo"
	bounds := limits.Default()
	bounds.MaxIterations = 5 // three are needed
	return loop.Config{
		Folder: folder, Prompt: demoPrompt, Backend: agent, Promise: demoPromise, Limits: bounds, Version: programVersion(),
		History: history.Options{Off: true}, // the folder is gone soon
	}, nil
}

// farewell says what the loop did, and what to try next.
func farewell(out io.Writer, p palette, program string, keep bool) error {
	after, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("reading what the demo made: %w", err)
	}
	fmt.Fprintf(out, "\nWhat changed in %s:\n", demoFile)
	before, now := strings.Split(demoProgram, "\n"), strings.Split(string(after), "\n")
	for i := range min(len(before), len(now)) { // its lines are changed in place
		if before[i] != now[i] {
			fmt.Fprintf(out, "  %s\n  %s\n", p.red("- "+before[i]), p.green("+ "+now[i]))
		}
	}
	if !keep {
		fmt.Fprintln(out, "The temporary folder is gone again (--keep leaves it).")
	}
	fmt.Fprintf(out, "\nNow with a real agent, in a folder of yours:\n  %s\n  %s\n",
		p.bold("ralph-lsp doctor"), p.bold(`ralph-lsp run "Make the tests pass" --completion-promise DONE --max-cost 5`))
	return nil
}
