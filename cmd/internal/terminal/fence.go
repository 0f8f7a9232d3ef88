package terminal

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Fence stands in front of stdout and stderr. Whoever wrote what is printed, and
// whichever command prints it, nothing passes that isn't plain (stream.Plain) but
// the codes of our own, and those only to a terminal. Who prints a text of
// somebody else's makes it plain as well: it must have none of our codes.
type Fence struct {
	stream.PlainWriter
	codes bool
	ascii bool // the locale isn't UTF-8: our marks are ASCII
	open  bool // bytes for a program pass as they are
}

func NewFence(to io.Writer) *Fence {
	_, terminal := Is(to)
	return fenced(to, terminal, !UTF8Locale())
}

func fenced(to io.Writer, codes, ascii bool) *Fence {
	f := &Fence{codes: codes, ascii: ascii}
	f.To, f.Passes = to, f.passes
	return f
}

// Fence is what stands in front of who draws a terminal himself: what may be shown of a line.
func (p Palette) Fence() func(line string) string { return fenced(nil, p.On, !UTF8Locale()).passes }

func (f *Fence) Write(p []byte) (int, error) {
	if f.open {
		return f.To.Write(p)
	}
	return f.PlainWriter.Write(p)
}

// passes is what may pass of s.
func (f *Fence) passes(s string) string {
	s = f.plain(s)
	if f.ascii {
		s = inASCII.Replace(s)
	}
	return s
}

// plain is s without what isn't plain, nor a code of ours.
func (f *Fence) plain(s string) string {
	if !f.codes {
		return stream.Plain(s)
	}
	var out strings.Builder
	begin := 0 // of what isn't written yet
	for at := 0; at < len(s); {
		code := codeAt(s[at:])
		if code == "" {
			at++
			continue
		}
		out.WriteString(stream.Plain(s[begin:at]))
		out.WriteString(code)
		at += len(code)
		begin = at
	}
	out.WriteString(stream.Plain(s[begin:]))
	return out.String()
}

// ownCodes are what the screen needs; of two that begin alike the longer one
// stands first.
var ownCodes = []string{hideCursor, showCursor, clearLive, cutLines, wrapLines + "\r", wrapLines}

// codeAt is the code of ours that s begins with, or "".
func codeAt(s string) string {
	if s[0] != '\r' && s[0] != '\x1b' {
		return ""
	}
	for _, code := range ownCodes {
		if strings.HasPrefix(s, code) {
			return code
		}
	}
	parameters, ok := strings.CutPrefix(s, "\x1b[")
	end := strings.IndexByte(parameters, 'm')
	if !ok || end < 0 || end > len("1;2;3;4;31") {
		return ""
	}
	for code := range strings.SplitSeq(parameters[:end], ";") {
		if !slices.Contains(sgrCodes, code) {
			return ""
		}
	}
	return s[:len("\x1b[")+end+1]
}

// UTF8Locale says whether the user's locale writes UTF-8. One that says nothing
// does: containers have no locale, and their terminals are the host's.
func UTF8Locale() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"), "utf-8"))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// inASCII replaces the marks that this program prints by others of the same width
// (but for the ellipsis, see cut). The same characters of an agent's are replaced
// too; whatever else it writes passes as it is.
var inASCII = strings.NewReplacer(
	"✓", "+", "✗", "x", "–", "-", "●", "*", "■", "#", "•", "*", "‖", "=", "·", "|", "…", "...",
	"─", "-", "│", "|", "┼", "+", "┊", ":", "▸", "+", "▾", "-", "“", `"`, "”", `"`,
	"⠋", "|", "⠙", "/", "⠹", "-", "⠸", `\`, "⠼", "|", "⠴", "/", "⠦", "-", "⠧", `\`, "⠇", "|", "⠏", "/",
)

// ellipsis stands where a text was cut.
func ellipsis() string {
	if UTF8Locale() {
		return "…"
	}
	return "..."
}

// Verbatim returns an output for programs, which get every character as it is.
func Verbatim(out io.Writer) io.Writer {
	if f := fenceOf(out); f != nil {
		f.ascii = false // what is for programs is all that the command prints
	}
	return out
}

// Raw returns an output for programs, which get every byte as it is; a terminal doesn't.
func Raw(out io.Writer) io.Writer {
	if f := fenceOf(out); f != nil {
		_, terminal := Is(out)
		f.open = !terminal
	}
	return Verbatim(out)
}

// fenceOf is the fence that stands in front of an output, nil where there is none.
func fenceOf(out io.Writer) *Fence {
	if o, ok := out.(*Output); ok {
		out = o.Writer
	}
	f, _ := out.(*Fence)
	return f
}
