package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

func TestHelpIsNarrow(t *testing.T) {
	u := newUser(t)
	var look func(path []string, cmd *cobra.Command)
	look = func(path []string, cmd *cobra.Command) {
		code, stdout, stderr := u.calls(append([]string{"help"}, path...)...)
		if code != terminal.ExitDone || stdout == "" || stderr != "" {
			t.Errorf("help %q: exit code %d, %q, %q", path, code, stdout, stderr)
		}
		for line := range strings.Lines(stdout) {
			if n := terminal.Cells(strings.TrimRight(line, "\n")); n > format.HelpWidth {
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

// The help of a start is one screen; nothing is missing in the long one, nor in completion.
func TestTheHelpOfAStartBeginsShort(t *testing.T) {
	u := newUser(t)
	_, brief, _ := u.calls("run", "--help")
	for line := range strings.Lines(brief) {
		if terminal.Cells(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("a line is wider than 80 columns: %s", line)
		}
	}
	if n := strings.Count(brief, "\n"); n > 45 {
		t.Errorf("it has %d lines:\n%s", n, brief)
	}
	_, all, _ := u.calls("run", "--help-all")
	_, completed, _ := u.calls("__complete", "run", "--")
	newRun().Flags().VisitAll(func(f *pflag.Flag) {
		group, seldom := start.GroupOf(f)
		if group == "" && f.Name != "help-all" {
			t.Errorf("--%s is in no group", f.Name)
		}
		named := regexp.MustCompile(`(?m)^ .*--` + f.Name + `[ [\n]`)
		if named.MatchString(brief) == seldom {
			t.Errorf("--%s in the short help: %v", f.Name, !seldom)
		}
		if !named.MatchString(all) || !strings.Contains(completed, "--"+f.Name+"\t") {
			t.Errorf("--%s isn't in\n%s\nor not completed in\n%s", f.Name, all, completed)
		}
	})
	if strings.Contains(completed, "`") {
		t.Errorf("a shell shows backticks of usages:\n%s", completed)
	}
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
