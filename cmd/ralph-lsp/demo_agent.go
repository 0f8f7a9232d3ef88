package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newDemoAgent is the scripted agent of the demo. It speaks pi's stream and
// knows nothing but its folder: it runs the check, mends the first thing that
// is wrong, and runs the check again.
func newDemoAgent() *cobra.Command {
	var fast bool
	cmd := &cobra.Command{
		Use:    "demo-agent",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// It knows what to do; but who closes a pipe unread breaks it for the writer.
			if _, err := io.Copy(io.Discard, cmd.InOrStdin()); err != nil {
				return fmt.Errorf("reading the prompt: %w", err)
			}
			self, err := ownProgram()
			if err != nil {
				return err
			}
			speed := time.Duration(1)
			if fast {
				speed = 0
			}
			out := json.NewEncoder(cmd.OutOrStdout())
			out.SetEscapeHTML(false)
			agent := demoAgent{self: self, pi: &piWriter{enc: out, speed: speed}}
			agent.pi.begin()
			agent.pi.say(agent.work())
			return agent.pi.end()
		},
	}
	cmd.Flags().BoolVar(&fast, "fast", false, "don't pause for the reader")
	return cmd
}

type demoAgent struct {
	self string // this program, which is the check too
	pi   *piWriter
}

// work mends one mistake, and returns what there is to say in the end.
func (a demoAgent) work() string {
	output, passed := a.check("Let me run the check first.")
	var wrong wrongNumber
	if !passed {
		if _, err := fmt.Sscanf(output, "%d: want %s got %s", &wrong.n, &wrong.want, &wrong.got); err != nil {
			return "The check doesn't run: " + output
		}
		wrong.want = strings.TrimSuffix(wrong.want, ",")
		if err := a.mend(wrong); err != nil {
			return "I can't mend that: " + err.Error()
		}
		output, passed = a.check("")
	}
	if passed {
		return fmt.Sprintf("All %d numbers come out right, the check passes.\n\n<promise>%s</promise>", demoNumbers, demoPromise)
	}
	next, _, _ := strings.Cut(output, "\n")
	return fmt.Sprintf("**%s** comes out right now. Still wrong is `%s`. That is for the next run.", wrong.want, next)
}

// wrongNumber is a line of the check's output.
type wrongNumber struct {
	n         int
	want, got string
}

// check runs the check in a process of its own, as a tool would.
func (a demoAgent) check(say string) (output string, passed bool) {
	args := map[string]any{"command": "ralph-lsp demo-check " + demoFile}
	return a.pi.call(say, "bash", args, func() (string, error) {
		out, err := exec.Command(a.self, "demo-check", demoFile).CombinedOutput()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return fmt.Sprintf("%s\nCommand exited with code %d", out, exit.ExitCode()), err
		}
		return string(out), err
	})
}

// mistakes are the three of the program, by the word that comes out wrong.
var mistakes = map[string]struct{ before, after string }{
	"Fizz":     {"divides 4 .", "divides 3 ."},
	"Buzz":     {"divides 6 .", "divides 5 ."},
	"FizzBuzz": {"divides 16 .", "divides 15 ."},
}

// mend makes the one edit that puts the wrong number right.
func (a demoAgent) mend(wrong wrongNumber) error {
	mistake, known := mistakes[wrong.want]
	if !known {
		return fmt.Errorf("%d should be %s", wrong.n, wrong.want)
	}
	say := fmt.Sprintf("%d should be **%s**, but the program says %s.", wrong.n, wrong.want, wrong.got)
	source, ok := a.pi.call(say, "read", map[string]any{"path": demoFile}, func() (string, error) {
		data, err := os.ReadFile(demoFile)
		return string(data), err
	})
	if !ok || !strings.Contains(source, mistake.before) {
		return fmt.Errorf("there is no %q in %s", mistake.before, demoFile)
	}
	say = fmt.Sprintf("There it is: `%s` must be `%s`.", mistake.before, mistake.after)
	args := map[string]any{"path": demoFile, "edits": []map[string]string{{"oldText": mistake.before, "newText": mistake.after}}}
	_, ok = a.pi.call(say, "edit", args, func() (string, error) {
		mended := strings.Replace(source, mistake.before, mistake.after, 1)
		return "Successfully replaced 1 block(s) in " + demoFile + ".", os.WriteFile(demoFile, []byte(mended), 0o600)
	})
	if !ok {
		return fmt.Errorf("writing %s failed", demoFile)
	}
	return nil
}
