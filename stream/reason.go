package stream

import (
	"regexp"
	"strings"
)

// lineLimit is how long a reason may be, in characters.
const lineLimit = 300

// fewLines is how many lines of stderr are a message; more are a log, and what
// counts in it stands at its ends.
const fewLines = 8

// errorLine matches a line that says itself that it has the reason, whichever
// way the languages write that: "Error: ...", "TypeError [CODE]: ...",
// "json.decoder.JSONDecodeError: ...", "panic: ...", "fatal: ...".
var errorLine = regexp.MustCompile(`^((Uncaught )?[\w.]*(Error|Exception)( \[\w+\])?|error|panic|fatal( error)?|FATAL|ERROR): `)

// traceLine matches a line that only says where something happened.
var traceLine = regexp.MustCompile(`^(\s+at |goroutine \d+ \[)`)

// ReasonIn returns, in one line, why a program failed, from its stderr; "" when it wrote nothing. Of a stack trace
// only the error counts, and no line before it. A few lines without one are one message; of many the first and the
// last count.
func ReasonIn(stderr string) string {
	var lines []string
	var traced, unwinding bool // unwinding: within a traceback of Python's
	failed, raised := -1, -1   // the last line with an error, and the last one behind a traceback
	for line := range strings.SplitSeq(Sanitize(stderr), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		switch {
		case strings.HasPrefix(line, "Traceback ("):
			unwinding = true
		case unwinding && strings.TrimLeft(line, " ") == line:
			unwinding, raised = false, len(lines) // whatever the exception is called
		case errorLine.MatchString(line):
			failed = len(lines)
		}
		traced = traced || traceLine.MatchString(line)
		lines = append(lines, line)
	}
	switch {
	case len(lines) == 0:
		return ""
	case raised > failed: // else it was dealt with
		return Line(lines[raised], lineLimit)
	case failed >= 0 && traced:
		return Line(lines[failed], lineLimit)
	case failed >= 0:
		return Line(strings.Join(lines[failed:], " "), lineLimit)
	case len(lines) > fewLines:
		return Line(lines[0], lineLimit/2) + " … " + Line(lines[len(lines)-1], lineLimit/2)
	}
	return Line(strings.Join(lines, " "), lineLimit)
}
