//go:build e2e && unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// configures writes the folder's ralph.toml: its own program is the agent, and
// leaves a file behind when it runs.
func (s *shell) configures(promise string) (ran string) {
	s.t.Helper()
	ran = filepath.Join(s.box.Tmp, "ran")
	program := filepath.Join(s.box.Dir, "agent")
	script := fmt.Sprintf("#!/bin/sh\ntouch %s\necho '<promise>%s</promise>'\n", ran, promise)
	config := "backend = \"mine\"\n[completion]\npromise = \"" + promise + "\"\n[backends.mine]\ncommand = \"./agent\"\n"
	for file, text := range map[string]string{program: script, filepath.Join(s.box.Dir, "ralph.toml"): config} {
		must.OK(s.t, os.WriteFile(file, []byte(text), 0o700))
	}
	return ran
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func TestAUserAtATerminalIsAskedOnceForTrust(t *testing.T) {
	t.Parallel()
	s := sitDown(t, pi, fakemodel.Script{})
	ran := s.configures("ONE")
	run := func(n int) {
		s.types(fmt.Sprintf("clear; echo begin-$((%d)); %s run --output quiet Do it; echo exit-%d-$?-", n, ralph, n), "Enter")
		s.sees(fmt.Sprintf("begin-%d", n)) // what was on the screen is gone
	}
	run(1)
	s.sees("Trust it, as it is now? [y/N]")
	s.sees(`backends.mine.command = "./agent"`)
	s.types("n", "Enter")
	s.sees("exit-1-1-")
	if exists(ran) {
		t.Error("the folder's program ran although it isn't trusted")
	}
	run(2)
	s.sees("[y/N]")
	s.types("y", "Enter")
	s.sees("exit-2-0-")
	if !exists(ran) {
		t.Error("the trusted program didn't run")
	}
	run(3) // it is remembered
	s.sees("exit-3-0-")
	s.configures("TWO") // and asked again for another content
	run(4)
	s.sees("[y/N]")
	s.types("", "Enter") // says no
	s.sees("exit-4-1-")
}
