package loop

import (
	"os"
	"strings"
	"testing"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/stream"
)

// The files are what real programs wrote, paths shortened.
func TestTheReasonIsInTheMessage(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"pi-no-key", "No API key found for the selected model. Use /login to log into a provider via OAuth or API key. See: " +
			"/opt/pi/docs/providers.md /opt/pi/docs/models.md"},
		{"node-throws", "Error: the reason"},
		{"node-no-module", "Error: Cannot find module '/app/agent.js'"},
		{"python-raises", "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
		{"python-chained", "KeyboardInterrupt"},
		{"go-panic", "panic: assignment to entry in nil map"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			stderr, err := os.ReadFile("testdata/stderr/" + tt.file + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			exit := backends.Exit{Code: 1, Stderr: strings.TrimSpace(string(stderr)), Duration: time.Minute}
			r := assess(exit, "", stream.Completion{}, time.Now())
			if want := "the agent exited with code 1: " + tt.want; r.problem != want {
				t.Errorf("got  %s\nwant %s", r.problem, want)
			}
		})
	}
}

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
			if got := reasonIn(tt.stderr); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
