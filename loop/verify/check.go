package verify

import (
	"errors"
	"runtime"
	"strings"
	"time"
)

// Check is what proves that a loop is done: foremost a command that succeeds. The
// zero value is none.
type Check struct {
	Command     []string      `json:"command,omitempty"` // a program with its arguments
	Shell       string        `json:"shell,omitempty"`   // instead: a text that the shell runs
	When        When          `json:"when,omitempty"`
	Timeout     time.Duration `json:"timeout,omitempty"`      // 0: none
	MaxFailures int           `json:"max_failures,omitempty"` // refuted promises in a row that end a loop; 0: no limit
	Protect     []string      `json:"protect,omitempty"`      // patterns of files that the loop mustn't change unasked
	Diagnostics string        `json:"diagnostics,omitempty"`  // DiagnosticsNoNew, or DiagnosticsOff
	Reviewer    string        `json:"reviewer,omitempty"`     // a hat that may refute; "" is none
}

// When says which iterations are checked.
type When string

// The values of When.
const (
	OnPromise When = "promise" // those that promise
	OnEach    When = "each"    // all, of which those count that promise
	OnUntil   When = "until"   // all, and the folder before the first; passing ends the loop without any promise
)

// Argv is the program with its arguments.
func (c Check) Argv() []string {
	switch {
	case c.Shell == "":
		return c.Command
	case runtime.GOOS == "windows":
		return []string{"cmd", "/d", "/s", "/c", c.Shell}
	}
	return []string{"sh", "-c", c.Shell}
}

// String is the command as a person reads it.
func (c Check) String() string {
	if c.Shell != "" {
		return strings.Join(strings.Fields(c.Shell), " ")
	}
	words := make([]string, len(c.Command))
	for i, word := range c.Command {
		if words[i] = word; word == "" || strings.ContainsAny(word, " \t\n'\"") {
			words[i] = "'" + word + "'"
		}
	}
	return strings.Join(words, " ")
}

// Problem completes "the check ..." for a command that can't be run; "" for one that can.
func (c Check) Problem() string {
	switch {
	case strings.Contains(c.Shell+strings.Join(c.Command, ""), "\x00"):
		return "contains a NUL character; remove it"
	case c.Shell != "" && strings.TrimSpace(c.Shell) == "", len(c.Command) > 0 && strings.TrimSpace(c.Command[0]) == "":
		return "is empty; leave it out or fill it in"
	}
	return ""
}

// Validate returns why the command can't be run.
func (c Check) Validate() error {
	if why := c.Problem(); why != "" {
		return errors.New("the command that verifies " + why)
	}
	return nil
}
