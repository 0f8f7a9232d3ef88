package stream

import (
	"strings"
	"testing"
)

func TestReasonIn(t *testing.T) {
	many := strings.Repeat("npm notice\n", fewLines)
	for _, tt := range []struct{ name, stderr, want string }{
		{"nothing", " \n\n", ""},
		{"a shell's word", "bash: line 1: agent: command not found", "bash: line 1: agent: command not found"},
		{"a few lines", "No key.\n\nLog in:\n  agent login\n", "No key. Log in: agent login"},
		{"noise before the error", "(node:7) Warning: old\nError: Unknown option: --x\nsee --help", "Error: Unknown option: --x see --help"},
		{"an error in much noise", many + many + "error: no such model", "error: no such model"},
		{"the last error counts", "ERROR: telemetry is off\n" + many + "fatal: no API key\n", "fatal: no API key"},
		{"a traceback that was dealt with", "Traceback (most recent call last):\n  File \"a\", line 1\nValueError: bad\nretrying\nerror: quota exhausted", "error: quota exhausted"},
		{"a log", "starting\n" + many + "cannot log in", "starting … cannot log in"},
		{"one long line", strings.Repeat("x", 1000), strings.Repeat("x", lineLimit-1) + "…"},
		{"a log of long lines", strings.Repeat("x", 1000) + "\n" + many + strings.Repeat("y", 1000),
			strings.Repeat("x", lineLimit/2-1) + "… … " + strings.Repeat("y", lineLimit/2-1) + "…"},
		{"colours", "\x1b[31mError: red\x1b[0m", "Error: red"},
		{"the word alone is no error", "Errors: 0\nno login", "Errors: 0 no login"},
		{"a traceback cut off", "Traceback (most recent call last):\n  File \"a\", line 1", `Traceback (most recent call last): File "a", line 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ReasonIn(tt.stderr); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
