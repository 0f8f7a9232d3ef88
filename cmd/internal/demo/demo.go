// Package demo is a loop's agent and check without a model: a recording that makes the edits which
// are in it, and a little program that fails its check until all of them are made.
package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// File has the little program, Program: it says what to say for one number. It is wrong in three
// places, so that the loop, which is given Prompt, needs three runs.
const (
	File    = "fizzbuzz.tmpl"
	Program = `{{if divides 16 .}}FizzBuzz
{{- else if divides 4 .}}Fizz
{{- else if divides 6 .}}Buzz
{{- else}}{{.}}
{{- end}}
`
	Promise = "DONE"
	Prompt  = "The template " + File + " should play FizzBuzz from 1 to 15; `ralph-lsp demo-check " + File + "` tells which " +
		"numbers come out wrong. Fix one thing per run. When all are right, say <promise>" + Promise + "</promise>."
)

// runs are what the agent prints in each of its runs, in pi's JSON mode.
//
//go:embed runs/*.jsonl
var runs embed.FS

// pauses are made behind events of a kind, so that one can read along.
var pauses = map[string]time.Duration{
	"turn_start":           350 * time.Millisecond, // it thinks
	"message_update":       12 * time.Millisecond,
	"tool_execution_start": 200 * time.Millisecond,
}

// Play prints the recording of an iteration ("1" to "3"), and makes its edits in the working
// directory. fast leaves the pauses out.
func Play(out io.Writer, iteration string, fast bool) error {
	run, err := runs.ReadFile("runs/" + iteration + ".jsonl")
	if err != nil {
		return fmt.Errorf("finding what to play: %w", err)
	}
	return play(out, run, fast)
}

func play(out io.Writer, run []byte, fast bool) error {
	for line := range bytes.Lines(run) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("reading the recording: %w", err)
		}
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("writing the stream: %w", err)
		}
		if !fast {
			time.Sleep(pauses[e.Type])
		}
		if err := e.edit(); err != nil {
			return fmt.Errorf("mending %s: %w", e.Args.Path, err)
		}
	}
	return nil
}

// event is what matters of an event of a run.
type event struct {
	Type string
	Args struct { // of a tool
		Path  string
		Edits []struct{ OldText, NewText string }
	}
}

// edit does what a call of the edit tool asks for, and nothing for other events.
func (e event) edit() error {
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

// numbers is how far the program has to count.
const numbers = 15

// branch is a branch of a program. text/template would understand all of it, but a program that
// has it in it keeps all methods of all its types, a tenth of ours.
const branch = `if divides (\d+) \.}}(\w*)`

// Check prints which numbers a program gets wrong, and says how many.
func Check(out io.Writer, source string) (wrong int, err error) {
	if !strings.Contains(source, "{{.}}") {
		return 0, errors.New("parsing the program: it never says a number")
	}
	branches := regexp.MustCompile(branch).FindAllStringSubmatch(source, -1)
	for n := 1; n <= numbers; n++ {
		got := strconv.Itoa(n)
		for _, b := range branches {
			if by, err := strconv.Atoi(b[1]); err == nil && by > 0 && n%by == 0 {
				got = b[2]
				break
			}
		}
		if want := fizzBuzz(n); got != want {
			fmt.Fprintf(out, "%d: want %s, got %s\n", n, want, got)
			wrong++
		}
	}
	if wrong > 0 {
		fmt.Fprintf(out, "%d of %d numbers are wrong\n", wrong, numbers)
		return wrong, nil
	}
	fmt.Fprintf(out, "all %d numbers are right\n", numbers)
	return 0, nil
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
