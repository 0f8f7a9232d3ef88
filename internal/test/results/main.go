// Command results runs go test with its arguments and says what that says: what failed, and a line for
// each package with tests. Its last lines say which tests failed, with what they printed, how to run
// each alone, and how often it failed when that was done. With RALPH_TEST_TIMES, it adds to that file
// how long each test took; with RALPH_TEST_FELL, it adds to that file its last lines.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A test that failed is run againRuns times alone, but no longer than againFor, and so are againTests of them.
const (
	againRuns  = 20
	againFor   = 90 * time.Second
	againTests = 3
)

func main() {
	failed, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// run runs go test, writes what it says, and says whether it failed.
func run(args []string, out io.Writer) (failed bool, err error) {
	times, err := appendTo("RALPH_TEST_TIMES")
	if err != nil {
		return false, err
	}
	fell, err := appendTo("RALPH_TEST_FELL")
	if err != nil {
		return false, err
	}
	got := newReport(out, times)
	testErr := goTest(args, got)
	for _, line := range got.skips() {
		fmt.Fprintln(out, line)
	}
	if lines := closing(got, args, runAgain); len(lines) > 0 {
		text := strings.Join(lines, "\n") + "\n"
		io.WriteString(out, text)
		if _, err := io.WriteString(fell, text); err != nil {
			return false, err
		}
	}
	return testErr != nil, nil
}

// appendTo opens the file that a variable names, or one that keeps nothing.
func appendTo(variable string) (io.Writer, error) {
	name := os.Getenv(variable)
	if name == "" {
		return io.Discard, nil
	}
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// goTest has a report read what go test says. Its error is that of go test.
func goTest(args []string, into *report) error {
	cmd := exec.Command("go", append([]string{"test", "-json", "-vet=off"}, args...)...)
	cmd.Stderr = os.Stderr
	if slices.Contains(args, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	return cmp.Or(into.read(out), cmd.Wait())
}

// runAgain runs one test alone, as it is built by the flags, and counts.
func runAgain(flags []string, f failure) (failed, ran int) {
	got := newReport(io.Discard, io.Discard)
	args := append(slices.Clone(flags), fmt.Sprintf("-count=%d", againRuns), "-timeout", againFor.String(), "-run", f.pattern(), f.pkg)
	if err := goTest(args, got); err != nil && len(got.failures) == 0 {
		return 0, 0
	}
	return got.ends[f.test]["fail"], got.ends[f.test]["fail"] + got.ends[f.test]["pass"]
}
