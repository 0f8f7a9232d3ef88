package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"ralph-lsp/internal/tell"
)

var ofCommand = regexp.MustCompile(`(?m)^  ([a-z]+)  `)

func TestHelpIsNarrow(t *testing.T) {
	helpOf := func(words ...string) string {
		var out bytes.Buffer
		if code := execute(t.Context(), append([]string{"help"}, words...), nil, &out, &out); code != 0 {
			t.Errorf("help %q ended with %d", words, code)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > tell.HelpWidth {
				t.Errorf("help %q: a line of %d cells: %s", words, n, line)
			}
		}
		if strings.Contains(out.String(), "[])") || strings.Contains(out.String(), "(default )") {
			t.Errorf("help %q has nothing for a default", words)
		}
		return out.String()
	}
	commands := ofCommand.FindAllStringSubmatch(helpOf(), -1)
	if len(commands) < 15 {
		t.Errorf("there are but %q", commands)
	}
	for _, c := range commands {
		if c[1] != "completion" { // its text is the library's
			helpOf(c[1])
		}
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

// Nobody finds a command that docs/FLEET.md forgot.
func TestTheDocumentNamesEveryCommand(t *testing.T) {
	docs, err := os.ReadFile("../../docs/FLEET.md")
	if err != nil {
		t.Fatal(err)
	}
	var help bytes.Buffer
	if code := execute(t.Context(), []string{"help"}, nil, &help, &help); code != 0 {
		t.Fatalf("help ended with %d: %s", code, help.String())
	}
	for _, c := range ofCommand.FindAllStringSubmatch(help.String(), -1) {
		row := regexp.MustCompile("(?m)^\\|[^|]*`" + c[1] + "`[^|]*\\|")
		if c[1] != "completion" && c[1] != "help" && !row.Match(docs) { // those two tell of themselves
			t.Errorf("docs/FLEET.md has no row for ralph-fleet %s", c[1])
		}
	}
}
