package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ralph-lsp/cmd/internal/cli"
	"ralph-lsp/internal/caller"
	"ralph-lsp/internal/tell"
)

func TestHelpIsNarrow(t *testing.T) {
	u := newUser(t)
	var look func(path []string, cmd *cobra.Command)
	look = func(path []string, cmd *cobra.Command) {
		code, stdout, stderr := u.calls(append([]string{"help"}, path...)...)
		if code != exitDone || stdout == "" || stderr != "" {
			t.Errorf("help %q: exit code %d, %q, %q", path, code, stdout, stderr)
		}
		for line := range strings.Lines(stdout) {
			if n := cells(strings.TrimRight(line, "\n")); n > tell.HelpWidth {
				t.Errorf("help %q: a line of %d cells: %s", path, n, line)
			}
		}
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				look(append(path[:len(path):len(path)], c.Name()), c)
			}
		}
	}
	root := newRoot()
	addCommands(root)
	look(nil, root)
}

// The general help names each command but itself.
func TestTheOverviewIsComplete(t *testing.T) {
	root := newRoot()
	addCommands(root)
	for _, c := range root.Commands() {
		if !c.Hidden && !regexp.MustCompile(`\b`+c.Name()+`\b`).MatchString(overview) {
			t.Errorf("%s is missing in\n%s", c.Name(), overview)
		}
	}
}

// A command that isn't in the table would be refused to all agents.
func TestItIsSettledWhoMayAskForEachCommand(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		if words := cli.Words(cmd); !caller.Knows(words) {
			t.Errorf("internal/caller/rights.go has no %q", words)
		}
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	root := newRoot()
	addCommands(root)
	look(root)
}
