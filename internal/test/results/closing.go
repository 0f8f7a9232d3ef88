package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/ralph-lsp/ralph-lsp"

// environment are the variables that a test alone needs as all do, to be the same.
var environment = []string{"RALPH_STATE_DIR", "RALPH_TEST_SANDBOX", "RALPH_WINE", "WINEPREFIX", "WINEDEBUG"}

// closing are at most 18 lines that say why a run is red. Again runs a test alone, built by the flags of args.
func closing(r *report, args []string, again func(flags []string, f failure) (failed, ran int)) (lines []string) {
	if len(r.failures) == 0 {
		return nil
	}
	flags := buildFlags(args)
	shown := min(len(r.failures), againTests)
	for _, f := range r.failures[:shown] {
		lines = append(lines, "*** FAILED: "+f.String())
		for _, line := range matter(f.said, 9/shown) {
			lines = append(lines, "    "+line)
		}
		lines = append(lines, "    "+alone(flags, f, again))
	}
	var more []string
	for _, f := range r.failures[shown:] {
		more = append(more, f.String())
	}
	if len(more) > 0 {
		lines = append(lines, fmt.Sprintf("*** FAILED, too: %s", cut(strings.Join(more, ", "))))
	}
	return lines
}

// alone says how to run a failure alone, and how that went.
func alone(flags []string, f failure, again func(flags []string, f failure) (failed, ran int)) string {
	command := []string{}
	for _, name := range environment {
		if value := os.Getenv(name); value != "" {
			command = append(command, name+"="+value)
		}
	}
	command = append(append(command, "go", "test"), flags...)
	if f.test != "" {
		command = append(command, "-run", "'"+f.pattern()+"'")
	}
	pkg, _, _ := strings.Cut(f.pkg, " ") // a test's build is named "PACKAGE [PACKAGE.test]"
	how := strings.Join(append(command, strings.Replace(pkg, module, ".", 1)), " ")
	if f.test == "" {
		return "alone: " + how
	}
	failed, ran := again(flags, f)
	if ran == 0 {
		return "alone, where it never ended: " + how
	}
	return fmt.Sprintf("it fell %d of %d times alone: %s", failed, ran, how)
}

// buildFlags are those that say how tests are built.
func buildFlags(args []string) (flags []string) {
	for i, arg := range args {
		if arg == "-race" {
			flags = append(flags, arg)
		}
		if arg == "-tags" && i+1 < len(args) {
			flags = append(flags, arg, args[i+1])
		}
	}
	return flags
}

// ofGoTest are lines by which go test says what runs, how it ended, and who called whom when a test panicked.
var ofGoTest = regexp.MustCompile(`^\s*(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP):|PASS$|exit status|$)|^FAIL\b`)

// own are the lines that a test said itself.
func own(said string) []string {
	return slices.DeleteFunc(strings.Split(said, "\n"), ofGoTest.MatchString)
}

var ended = regexp.MustCompile(`^(panic: |fatal error: |WARNING: DATA RACE)`)

// ofScript is the line by which a script says where it failed. What matters is in front of it.
var ofScript = regexp.MustCompile(`^\s+FAIL: \S+:\d+: `)

// matter are at most n lines of what a test said: the first ones and the last, or of a panic and of a race where in the tests it was.
func matter(said string, n int) []string {
	lines := own(said)
	if at := slices.IndexFunc(lines, ofScript.MatchString); at >= n {
		lines = slices.Concat([]string{fmt.Sprintf("… %d lines …", at-n+2)}, lines[at-n+2:at+1])
	}
	if at := slices.IndexFunc(lines, ended.MatchString); at >= 0 {
		where := slices.DeleteFunc(slices.Clone(lines[at+1:]), func(line string) bool {
			return !strings.Contains(line, ".go:") || strings.Contains(line, "/src/") ||
				regexp.MustCompile(`^\s*(runtime|testing|internal|time)/`).MatchString(line)
		})
		before := lines[:min(at, n/3)]
		lines = slices.Concat(before, lines[at:at+1], where[:min(len(where), max(0, n-1-len(before)))])
	}
	if len(lines) > n {
		last := n / 3
		first := n - last - 1
		lines = slices.Concat(lines[:first], []string{fmt.Sprintf("… %d lines …", len(lines)-first-last)}, lines[len(lines)-last:])
	}
	for i, line := range lines {
		lines[i] = cut(strings.TrimSpace(line))
	}
	return lines
}

// cut shortens a line that would fill a screen.
func cut(line string) string {
	const most = 300
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return line
}
