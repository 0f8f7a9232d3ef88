package terminal

import (
	"cmp"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Output stands in front of stdout and stderr, as a fence and as a memory.
//
// Whoever wrote what is printed, and whichever command prints it, nothing passes that isn't
// plain (stream.Sanitize) but the codes of our own, and those only to a terminal. Who prints a text
// of somebody else's makes it plain as well: it must have none of our codes.
//
// Once a write fails, as it does when the program behind a pipe has ended or a disk is full, it
// takes nothing more, and says so: commands print without looking, and none may lose what it
// printed and count as done. A loop is to be ended in order, not killed by a signal in mid-run.
type Output struct {
	stream.SanitizeWriter
	codes bool
	ascii bool // the locale isn't UTF-8: our marks are ASCII
	open  bool // bytes for a program pass as they are

	Broken chan struct{} // closed at the first failure
	once   sync.Once
	err    error // the failure; read it after Broken
}

func NewOutput(to io.Writer) *Output {
	_, terminal := Is(to)
	return fenced(to, terminal, !UTF8Locale())
}

func fenced(to io.Writer, codes, ascii bool) *Output {
	o := &Output{codes: codes, ascii: ascii, Broken: make(chan struct{})}
	o.To, o.Passes = to, o.passes
	return o
}

// Checked returns the output that stands in front of to, which may be it.
func Checked(to io.Writer) *Output {
	if o, ok := to.(*Output); ok {
		return o
	}
	return NewOutput(to)
}

// Fence is what stands in front of who draws a terminal himself: what may be shown of a line.
func (p Palette) Fence() func(line string) string { return fenced(nil, p.On, !UTF8Locale()).passes }

func (o *Output) Write(p []byte) (n int, err error) {
	if err := o.Failure(); err != nil {
		return 0, err
	}
	if o.open {
		n, err = o.To.Write(p)
	} else {
		n, err = o.SanitizeWriter.Write(p)
	}
	if err != nil {
		o.fail(err)
	}
	return n, err
}

func (o *Output) fail(err error) {
	o.once.Do(func() {
		o.err = err
		close(o.Broken)
	})
}

// Failure is why not all could be written, nil if all was.
func (o *Output) Failure() error {
	select {
	case <-o.Broken:
		return o.err
	default:
		return nil
	}
}

// passes is what may pass of s.
func (o *Output) passes(s string) string {
	s = o.plain(s)
	if o.ascii {
		s = inASCII.Replace(s)
	}
	return s
}

// plain is s without what isn't plain, nor a code of ours.
func (o *Output) plain(s string) string {
	if !o.codes {
		return stream.Sanitize(s)
	}
	var out strings.Builder
	begin := 0 // of what isn't written yet
	for at := 0; at < len(s); {
		code := codeAt(s[at:])
		if code == "" {
			at++
			continue
		}
		out.WriteString(stream.Sanitize(s[begin:at]))
		out.WriteString(code)
		at += len(code)
		begin = at
	}
	out.WriteString(stream.Sanitize(s[begin:]))
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
	if o, ok := out.(*Output); ok {
		o.ascii = false // what is for programs is all that the command prints
	}
	return out
}

// Raw returns an output for programs, which get every byte as it is; a terminal doesn't.
func Raw(out io.Writer) io.Writer {
	if o, ok := out.(*Output); ok {
		_, terminal := Is(out)
		o.open = !terminal
	}
	return Verbatim(out)
}

// Unwrapped is what a stream is without what stands in front of it.
func Unwrapped(from any) any {
	switch w := from.(type) {
	case *Output:
		return w.To
	case *stream.SanitizeWriter:
		return w.To
	}
	return from
}

// Is says whether a reader or a writer is a terminal, and which.
func Is(stream any) (*os.File, bool) {
	f, ok := Unwrapped(stream).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// NotifyAt is where loops are that show themselves on stdout, for who calls their user.
func NotifyAt(stdout io.Writer, warn func(string)) notify.At {
	at := notify.At{BellOnly: !UTF8Locale(), Desktop: true, Warn: warn}
	if f, ok := Is(stdout); ok {
		at.Terminal = f
	}
	return at
}
