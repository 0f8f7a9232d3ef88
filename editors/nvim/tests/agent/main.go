// Command agent is a stand-in for pi in the plugin's tests: built as pi, it is
// found first on PATH. It reads a prompt on standard input, whatever its
// arguments say, and prints the stream of pi's JSON mode.
//
// A line "agent: SCENARIO" in the prompt says what it does: see scenarios.
// Without one it writes the prompt to prompt.txt and promises DONE.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"
)

var directive = regexp.MustCompile(`(?m)^agent: (\w+)(?: (\d+))?$`)

// scenarios are what the agent can play, each with a number from the prompt.
var scenarios = map[string]func(s *stream, n int) error{
	"promise": promise,
	"fail":    fail,
	"hang":    hang,
	"steps":   steps,
	"flood":   flood,
	"spaces":  spaces,
	"shell":   shell,
	"tour":    tour,
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("agent: ")
	if slices.Contains(os.Args, "--version") {
		fmt.Println("0.0.1")
		return
	}
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(in io.Reader, out io.Writer) error {
	prompt, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("reading the prompt: %w", err)
	}
	play, n := write(string(prompt)), 0
	if found := directive.FindStringSubmatch(string(prompt)); found != nil {
		if play = scenarios[found[1]]; play == nil {
			return fmt.Errorf("there is no scenario %q", found[1])
		}
		n, _ = strconv.Atoi(found[2]) // none is 0
	}
	buffered := bufio.NewWriter(out)
	s := &stream{out: buffered}
	s.begin()
	if err := play(s, n); err != nil {
		return err
	}
	s.end()
	return buffered.Flush()
}

// iteration is the one that the loop says this is.
func iteration() int {
	n, err := strconv.Atoi(os.Getenv("RALPH_ITERATION"))
	if err != nil {
		return 1
	}
	return n
}

// write keeps the prompt for the test to look at.
func write(prompt string) func(*stream, int) error {
	return func(s *stream, _ int) error {
		if err := os.WriteFile("prompt.txt", []byte(prompt), 0o600); err != nil {
			return err
		}
		s.say("I have it.\n\n<promise>DONE</promise>")
		return nil
	}
}

// fail says something and breaks; the n-th iteration and those behind it promise.
func fail(s *stream, n int) error {
	if n > 0 && iteration() >= n {
		s.say("<promise>DONE</promise>")
		return nil
	}
	s.say("I try.")
	if err := s.out.Flush(); err != nil {
		return err
	}
	return errors.New("it is broken")
}

// promise edits work.txt in each iteration, and promises in the n-th. While
// there is a file hold, it stays in the tool.
func promise(s *stream, n int) error {
	line := fmt.Sprintf("iteration %d\n", iteration())
	edit := object{"path": "work.txt", "content": line}
	s.say("I write the file.")
	s.tool("write", edit, func() string {
		for _, err := os.Stat("hold"); err == nil; _, err = os.Stat("hold") {
			time.Sleep(10 * time.Millisecond)
		}
		if err := os.WriteFile("work.txt", []byte(line), 0o600); err != nil {
			return err.Error()
		}
		return "Successfully wrote work.txt"
	})
	if iteration() >= n {
		s.say("All is written.\n\n<promise>DONE</promise>")
	} else {
		s.say("More is to be done.")
	}
	return nil
}

// shell runs the folder's script for the iteration, 1.sh in the first, and
// promises in the n-th.
func shell(s *stream, n int) error {
	script := fmt.Sprintf("%d.sh", iteration())
	s.tool("bash", object{"command": "sh " + script}, func() string {
		out, _ := exec.Command("sh", script).CombinedOutput()
		return string(out)
	})
	if iteration() >= n {
		s.say("<promise>DONE</promise>")
	} else {
		s.say("More is to be done.")
	}
	return nil
}

// spaces writes a file whose name has them, and promises.
func spaces(s *stream, _ int) error {
	s.tool("write", object{"path": "my file.txt", "content": "mine"}, func() string {
		if err := os.WriteFile("my file.txt", []byte("mine\n"), 0o600); err != nil {
			return err.Error()
		}
		return "  Successfully wrote my file.txt"
	})
	s.say("<promise>DONE</promise>")
	return nil
}

// hang runs a tool that ends in a quarter of an hour. Its process is named in
// tool.pid.
func hang(s *stream, _ int) error {
	cmd := exec.Command("sleep", "900")
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := os.WriteFile("tool.pid", []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return err
	}
	s.say("This will take a while.")
	s.tool("bash", object{"command": "sleep 900"}, func() string {
		if err := cmd.Wait(); err != nil {
			return err.Error()
		}
		return "slept"
	})
	return nil
}

// steps takes n tenths of a second for each iteration, and never promises.
func steps(s *stream, n int) error {
	for i := range n {
		s.tool("bash", object{"command": fmt.Sprintf("go test ./step%d", i+1)}, func() string {
			time.Sleep(100 * time.Millisecond)
			return "ok"
		})
	}
	s.say("That was it.")
	return nil
}

// flood prints n events as fast as it can, then promises.
func flood(s *stream, n int) error {
	for i := range n / 4 {
		s.delta(fmt.Sprintf("line %d of the flood\n", i))
		s.delta("and more of it, ")
		s.tool("read", object{"path": fmt.Sprintf("src/file%d.go", i)}, func() string { return "package a" })
	}
	s.say("<promise>DONE</promise>")
	return nil
}

// tour shows a bit of everything, slowly enough to be read, and promises in
// the n-th iteration.
func tour(s *stream, n int) error {
	s.say("Let me see what fails.")
	s.tool("bash", object{"command": "go test ./..."}, func() string {
		time.Sleep(1200 * time.Millisecond)
		return fmt.Sprintf("ok  \tapp/parse\t0.21s\n--- FAIL: TestStep%d\nFAIL\tapp/step\t0.04s", iteration())
	})
	s.say(fmt.Sprintf("TestStep%d fails: the last step is never taken.", iteration()))
	s.tool("edit", object{"path": fmt.Sprintf("step%d.go", iteration())}, func() string {
		return "Successfully replaced 1 block(s)."
	})
	if iteration() >= n {
		s.say("All tests pass.\n\n<promise>DONE</promise>")
	} else {
		s.say("That test passes now. Another one still fails, that is for the next run.")
	}
	return nil
}
