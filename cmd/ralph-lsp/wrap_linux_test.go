package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// In a narrow terminal lines break between words.
func TestLinesBreakBetweenWords(t *testing.T) {
	inFolderWithAgent(t)
	must.OK(t, os.WriteFile("ralph.toml", []byte("[hats.a]\ninstructions = \"Do what has to be done here, and tell the next one what comes then\"\n[verify]\ncommand = \"true\"\n"), 0o600))
	for _, command := range []string{
		"ralph-lsp status",
		`ralph-lsp run --backend "$AGENT" --dry-run A task that says in many words what has to be done here`,
		`ralph-lsp trust >/dev/null; ralph-lsp run --backend "$AGENT" --backend-arg say=Here --backend-arg fail=nothing --max-failures 1 A task`,
		"ralph-lsp status",
		"ralph-lsp doctor",
		"ralph-lsp resume --backend nobody",
	} {
		term := runsAt(t, "stty cols 44; "+command)
		text := term.await("<ended")
		long := 0
		for line := range strings.SplitSeq(text, "\r\n") {
			if words := strings.Fields(line); terminal.Cells(line) > 44 && len(words) > 0 && !strings.Contains(line, "\x1b") && terminal.Cells(words[len(words)-1]) < 40 {
				t.Errorf("%s: a line is wider than the terminal: %q", command, line)
			}
			if strings.HasPrefix(line, "  ") {
				long++
			}
		}
		if long == 0 {
			t.Errorf("%s: nothing is indented: %q", command, text)
		}
	}
}

func TestWrapped(t *testing.T) {
	for _, tt := range []struct {
		line          string
		width, indent int
		want          string
	}{
		{"no terminal has no width", 0, 2, "no terminal has no width"},
		{"it fits", 7, 2, "it fits"},
		{"one two three four", 9, 2, "one two\n  three\n  four"},
		{"  name  a value of words", 14, 8, "  name  a\n  value of\n  words"},
		{"  name  a value of words", 17, 8, "  name  a value\n        of words"},
		{"see /a/very/long/path/name here", 10, 2, "see\n  /a/very/long/path/name\n  here"},
		{"\x1b[1mbold\x1b[0m and 漢字漢字 wide", 14, 2, "\x1b[1mbold\x1b[0m and\n  漢字漢字\n  wide"},
	} {
		if got := terminal.Wrapped(tt.line, tt.width, tt.indent); got != tt.want {
			t.Errorf("%q in %d: %q, want %q", tt.line, tt.width, got, tt.want)
		}
	}
}

// Where nobody says what the terminal is, it gets no sequences.
func TestATerminalWithoutANameGetsPlainText(t *testing.T) {
	inFolderWithAgent(t)
	term := runsAt(t, `env -u TERM ralph-lsp run --backend "$AGENT" --backend-arg say=LOOP_COMPLETE A task; unset TERM; ralph-lsp doctor`)
	if text := term.await("<ended"); strings.Contains(text, "\x1b") || !strings.Contains(text, "done: LOOP_COMPLETE") {
		t.Errorf("got %q", text)
	}
}
