package terminal

import (
	"io"
	"os"
	"runtime"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Palette colours text; the zero value leaves it as it is.
type Palette struct{ On bool }

// PaletteFor colours what goes to a terminal, unless the environment asks for
// plain text.
func PaletteFor(out io.Writer) Palette {
	_, terminal := Is(out)
	return Palette{On: terminal && os.Getenv("NO_COLOR") == "" && !IsDumb()}
}

// IsDumb says whether a terminal knows no sequences, or nobody says which it is. Those of
// Windows say nothing and know all of ours.
func IsDumb() bool {
	kind := os.Getenv("TERM")
	return kind == "dumb" || kind == "" && runtime.GOOS != "windows"
}

// The select-graphic-rendition codes in use.
const (
	sgrBold   = "1"
	sgrDim    = "2"
	sgrItalic = "3"
	sgrUnder  = "4"
	sgrRed    = "31"
	sgrGreen  = "32"
	sgrYellow = "33"
	sgrCyan   = "36"
	sgrNone   = "0"
)

var sgrCodes = []string{sgrBold, sgrDim, sgrItalic, sgrUnder, sgrRed, sgrGreen, sgrYellow, sgrCyan, sgrNone}

// paint wraps s in a code such as sgrRed or "1;36".
func (p Palette) paint(code, s string) string {
	if !p.On || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[" + sgrNone + "m"
}

// codeOf is the colour of what is told of a class.
func codeOf(c loop.Class) string {
	switch c {
	case loop.ClassOK:
		return sgrGreen
	case loop.ClassWarning:
		return sgrYellow
	case loop.ClassError:
		return sgrRed
	}
	return sgrDim
}

func (p Palette) Bold(s string) string   { return p.paint(sgrBold, s) }
func (p Palette) Dim(s string) string    { return p.paint(sgrDim, s) }
func (p Palette) Red(s string) string    { return p.paint(sgrRed, s) }
func (p Palette) Green(s string) string  { return p.paint(sgrGreen, s) }
func (p Palette) Yellow(s string) string { return p.paint(sgrYellow, s) }
func (p Palette) Cyan(s string) string   { return p.paint(sgrCyan, s) }
