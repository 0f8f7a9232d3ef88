package loop

import (
	"strconv"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
)

// The authors of a change of limits, where no other process is one.
const (
	ByWindow = "its own window"
	ByFile   = "an edit of the state file"
)

// ByProcess says which process of the user's asks for something, and from where:
// "process 4711 (ralph-lsp update) in pts/3, below tmux: server".
func ByProcess(pid int) string {
	if pid == 0 {
		return "another process"
	}
	o := caller.OriginOf(pid)
	text := "process " + strconv.Itoa(o.PID)
	if o.Command != "" {
		text += " (" + o.Command + ")"
	}
	if o.Terminal != "" {
		text += " in " + o.Terminal
	}
	if o.Below != "" {
		text += ", below " + o.Below
	}
	return OneLine(text)
}

// Text says what changed and who asked for it: "80 iterations instead of 50, by its own window"; "" if nobody knows.
func (e LimitsChanged) Text() string {
	if len(e.Changes) == 0 {
		return ""
	}
	return OneLine(strings.Join(e.Changes, ", ") + ", by " + e.By)
}
