package notify

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The notifications of terminals, with a title and a text.
const (
	osc9   = "\x1b]9;%s: %s\x1b\\"
	osc777 = "\x1b]777;notify;%s;%s\x1b\\"
	osc99  = "\x1b]99;i=ralph:d=0;%s\x1b\\\x1b]99;i=ralph:p=body;%s\x1b\\"
)

// known are the terminals that take one, by a variable and how its value begins.
var known = []struct{ variable, value, notify string }{
	{"KITTY_WINDOW_ID", "", osc99},
	{"TERM", "xterm-kitty", osc99},
	{"TERM_PROGRAM", "iTerm.app", osc9},
	{"TERM_PROGRAM", "WezTerm", osc777},
	{"TERM_PROGRAM", "ghostty", osc777},
	{"TERM", "xterm-ghostty", osc777},
	{"TERM", "foot", osc777},
	{"TERM", "rxvt-unicode", osc777},
}

// terminal is what one understands.
type terminal struct {
	bell, title bool
	notify      string // one of the formats above; "": none
}

// terminalOf finds out by the environment. One that isn't known gets the bell; so does one
// behind tmux or screen, which keep the rest to themselves.
func terminalOf(env func(string) string, bellOnly bool) terminal {
	term := env("TERM")
	switch {
	case term == "dumb":
		return terminal{}
	case bellOnly, env("TMUX") != "", env("STY") != "", strings.HasPrefix(term, "screen"), strings.HasPrefix(term, "tmux"):
		return terminal{bell: true}
	}
	for _, k := range known {
		if v := env(k.variable); v != "" && strings.HasPrefix(v, k.value) {
			return terminal{true, true, k.notify}
		}
	}
	return terminal{bell: true, title: strings.HasPrefix(term, "xterm")}
}

// codes are what tells a note.
func (t terminal) codes(n Note) (codes string) {
	title, text := stream.Line(n.Title, 80), stream.Line(n.Text, 200)
	if t.notify != "" {
		codes += fmt.Sprintf(t.notify, strings.ReplaceAll(title, ";", ","), text)
	}
	if t.title {
		codes += "\x1b]2;" + title + ": " + text + "\x1b\\"
	}
	if t.bell {
		codes += "\a"
	}
	return codes
}
