package main

import (
	"cmp"
	"io"
	"os"
	"strings"
)

// utf8Locale says whether the user's locale writes UTF-8. One that says nothing
// does: containers have no locale, and their terminals are the host's.
func utf8Locale() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"), "utf-8"))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// inASCII replaces the marks that this program prints by others of the same width
// (but for the ellipsis, see fit). The same characters of an agent's are replaced
// too; whatever else it writes passes as it is.
var inASCII = strings.NewReplacer(
	"✓", "+", "✗", "x", "–", "-", "●", "*", "■", "#", "•", "*", "‖", "=", "·", "|", "…", "...",
	"─", "-", "│", "|", "┼", "+", "┊", ":",
	"⠋", "|", "⠙", "/", "⠹", "-", "⠸", `\`, "⠼", "|", "⠴", "/", "⠦", "-", "⠧", `\`, "⠇", "|", "⠏", "/",
)

// ellipsis stands where a text was cut.
func ellipsis() string {
	if utf8Locale() {
		return "…"
	}
	return "..."
}

// verbatim returns an output for programs, which get every character as it is.
func verbatim(out io.Writer) io.Writer {
	if f := fenceOf(out); f != nil {
		f.ascii = false // what is for programs is all that the command prints
	}
	return out
}

// raw returns an output for programs, which get every byte as it is; a terminal doesn't.
func raw(out io.Writer) io.Writer {
	if f := fenceOf(out); f != nil {
		_, terminal := isTerminal(out)
		f.open = !terminal
	}
	return verbatim(out)
}

// fenceOf is the fence that stands in front of an output, nil where there is none.
func fenceOf(out io.Writer) *fence {
	if o, ok := out.(*checkedOutput); ok {
		out = o.Writer
	}
	f, _ := out.(*fence)
	return f
}
