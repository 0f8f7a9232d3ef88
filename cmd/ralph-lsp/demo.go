package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

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

// demoRuns are what the demo's agent prints in each of its runs, in pi's JSON mode.
//
//go:embed demo/*.jsonl
var demoRuns embed.FS

// demoPauses are made behind events of a kind, so that one can read along.
var demoPauses = map[string]time.Duration{
	"turn_start":           350 * time.Millisecond, // it thinks
	"message_update":       12 * time.Millisecond,
	"tool_execution_start": 200 * time.Millisecond,
}

// newDemoAgent is the scripted agent of the demo: it plays a recording, and really
// makes the edits that are in it.
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
			run, err := demoRuns.ReadFile("demo/" + os.Getenv(backends.EnvIteration) + ".jsonl")
			if err != nil {
				return fmt.Errorf("finding what to play: %w", err)
			}
			return playDemo(verbatim(cmd.OutOrStdout()), run, fast)
		},
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "don't pause for the reader")
	return cmd
}

func playDemo(out io.Writer, run []byte, fast bool) error {
	for line := range bytes.Lines(run) {
		var event demoEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("reading the recording: %w", err)
		}
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("writing the stream: %w", err)
		}
		if !fast {
			time.Sleep(demoPauses[event.Type])
		}
		if err := event.edit(); err != nil {
			return fmt.Errorf("mending %s: %w", event.Args.Path, err)
		}
	}
	return nil
}

// demoEvent is what matters of an event of a run.
type demoEvent struct {
	Type string
	Args struct { // of a tool
		Path  string
		Edits []struct{ OldText, NewText string }
	}
}

// edit does what a call of the edit tool asks for, and nothing for other events.
func (e demoEvent) edit() error {
	for _, edit := range e.Args.Edits {
		source, err := os.ReadFile(e.Args.Path)
		if err != nil {
			return err
		}
		mended := bytes.Replace(source, []byte(edit.OldText), []byte(edit.NewText), 1)
		if bytes.Equal(mended, source) {
			return fmt.Errorf("there is no %q in it", edit.OldText)
		}
		if err := os.WriteFile(e.Args.Path, mended, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// demoNumbers is how far the demo's program has to count.
const demoNumbers = 15

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
			return checkFizzBuzz(cmd.OutOrStdout(), string(source))
		},
	}
}

// checkFizzBuzz prints which numbers the program gets wrong.
func checkFizzBuzz(out io.Writer, source string) error {
	divides := func(d, n int) bool { return n%d == 0 }
	program, err := template.New("fizzbuzz").Funcs(template.FuncMap{"divides": divides}).Parse(source)
	if err != nil {
		return fmt.Errorf("parsing the program: %w", err)
	}
	wrong := 0
	for n := 1; n <= demoNumbers; n++ {
		var got strings.Builder
		if err := program.Execute(&got, n); err != nil {
			return fmt.Errorf("running the program: %w", err)
		}
		if want := fizzBuzz(n); strings.TrimSpace(got.String()) != want {
			fmt.Fprintf(out, "%d: want %s, got %s\n", n, want, strings.TrimSpace(got.String()))
			wrong++
		}
	}
	if wrong > 0 {
		fmt.Fprintf(out, "%d of %d numbers are wrong\n", wrong, demoNumbers)
		return &exitError{code: exitFailed}
	}
	fmt.Fprintf(out, "all %d numbers are right\n", demoNumbers)
	return nil
}

func fizzBuzz(n int) string {
	switch {
	case n%15 == 0:
		return "FizzBuzz"
	case n%3 == 0:
		return "Fizz"
	case n%5 == 0:
		return "Buzz"
	}
	return fmt.Sprint(n)
}
