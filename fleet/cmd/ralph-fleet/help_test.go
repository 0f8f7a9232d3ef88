package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// typed runs the program as a user does, and returns what it says.
func typed(t *testing.T, words ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := execute(t.Context(), words, nil, &out, &out)
	return out.String(), code
}

func TestHelpIsNarrow(t *testing.T) {
	noUserFile(t)
	narrow := func(words ...string) {
		help, code := typed(t, append([]string{"help"}, words...)...)
		if code != 0 || help == "" {
			t.Errorf("help %q ended with %d", words, code)
		}
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > format.HelpWidth {
				t.Errorf("help %q: a line of %d cells: %s", words, n, line)
			}
		}
		if strings.Contains(help, "[])") || strings.Contains(help, "(default )") {
			t.Errorf("help %q has nothing for a default", words)
		}
		if m := regexp.MustCompile(`--\S+ (string|int|uint|float)\b`).FindString(help); m != "" {
			t.Errorf("help %q: %s has no name for its value", words, m)
		}
	}
	narrow()
	root := newRoot(io.Discard)
	cli.AddCompletion(root)
	for _, c := range root.Commands() {
		if !c.Hidden {
			narrow(c.Name())
		}
	}
	narrow("completion", "bash")
}

// The general help names each command.
func TestTheOverviewIsComplete(t *testing.T) {
	for _, c := range newRoot(io.Discard).Commands() {
		if !c.Hidden && !regexp.MustCompile(`\b`+c.Name()+`\b`).MatchString(overview) {
			t.Errorf("%s is missing in\n%s", c.Name(), overview)
		}
	}
}

// noUserFile hides the settings of whoever runs the tests.
func noUserFile(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, home)
	}
}

func TestWhatIsWrongWithACommandLineIsSaid(t *testing.T) {
	noUserFile(t)
	for line, want := range map[string]string{
		"statu":                  `unknown command "statu"; did you mean status?`,
		"nothing":                `unknown command "nothing"; ralph-fleet help shows the commands`,
		"help submt":             `unknown command "submt"; did you mean submit?`,
		"do it now":              `unknown command "do"; a loop starts with ralph-fleet submit "..."`,
		"worker --slot 3":        "unknown flag --slot; did you mean --slots?",
		"worker --slots many":    `--slots: "many" is not a valid value; see ralph-fleet help worker`,
		"worker more":            `worker takes no arguments, but got "more"; see ralph-fleet help worker`,
		"worker --log-level odd": `--log-level: "odd" is unknown: known are debug, info, warn, error`,
		"submit --priority x y":  `--priority: "x" is unknown: known are high, normal, low`,
		"submit --worktree x":    "--worktree is of ralph-lsp run",
		"submit -x":              "(put text that begins with - after --)",
		"doctor --only me":       `--only: "me" is unknown: known are bus, worker`,
		"steer":                  "say which loop is meant, as in ralph-fleet steer",
		"steer --label a=b":      "say what it should be told, as in ralph-fleet steer",
		"steer mine":             "say what it should be told, as in ralph-fleet steer",
		"watch":                  "say which loops: their names or ids (ralph-fleet status lists them), --label KEY=VALUE\n",
		"answer":                 "say which loop is meant, as in ralph-fleet answer",
		"remove":                 "say which loops: their names or ids",
		"cancel":                 "(ralph-fleet status lists them), --label KEY=VALUE, or --all\n",
		"completion":             "completion needs a command: bash, fish, powershell, zsh",
	} {
		got, code := typed(t, strings.Fields(line)...)
		if code != 1 || !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: ended with %d, said %q, want %q", line, code, got, want)
		}
	}
}

func TestShellsCompleteWhatCanStand(t *testing.T) {
	noUserFile(t)
	const noFiles = ":4"
	for line, want := range map[string]string{
		"worker --log-format":  "text\njson\n" + noFiles,
		"submit --priority":    "high\nnormal\nlow\n" + noFiles,
		"submit --permissions": "agent\nask\n" + noFiles,
		"submit --key":         noFiles,
		"submit --repo":        ":0",
		"worker --token-file":  ":0",
		"worker":               noFiles,
	} {
		got, _ := typed(t, append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
		if !strings.HasPrefix(got, want+"\n") {
			t.Errorf("%s completes %q, want %q", line, got, want)
		}
	}
	script, code := typed(t, "completion", "bash")
	if code != 0 || strings.Contains(script, "ralph-lsp") || !strings.Contains(script, "complete -o default") {
		t.Errorf("the script for bash: %d, %.200s", code, script)
	}
}

func TestACostThatNobodyKnowsIsNone(t *testing.T) {
	for want, got := range map[string]string{
		"$0.00": costOf(0, false), "$1.25": costOf(1.25, false), "at least $1.25": costOf(1.25, true), "cost unknown": costOf(0, true),
	} {
		if got != want {
			t.Errorf("%q is told as %q", want, got)
		}
	}
}

func TestLimitsOfKeysAreReadable(t *testing.T) {
	if got := ofKeys(nil); got != "no limit" {
		t.Errorf("none: %q", got)
	}
	if got := ofKeys(map[string]int{"openai": 2, "*": 1}); got != "1 of *, 2 of openai" {
		t.Errorf("two: %q", got)
	}
}

// Nobody finds a command that docs/FLEET-REFERENCE.md forgot.
func TestTheDocumentNamesEveryCommand(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/FLEET-REFERENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range newRoot(io.Discard).Commands() {
		row := regexp.MustCompile("(?m)^\\|[^|]*`" + c.Name() + "`[^|]*\\|")
		if !c.Hidden && c.Name() != "help" && !row.Match(docs) { // that one tells of itself
			t.Errorf("docs/FLEET-REFERENCE.md has no row for ralph-fleet %s", c.Name())
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
	look(newRoot(nil))
}
