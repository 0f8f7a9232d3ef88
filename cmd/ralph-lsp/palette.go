package main

import (
	"io"
	"os"
	"runtime"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// palette colours text; the zero value leaves it as it is.
type palette struct{ on bool }

// paletteFor colours what goes to a terminal, unless the environment asks for
// plain text.
func paletteFor(out io.Writer) palette {
	_, terminal := isTerminal(out)
	return palette{on: terminal && os.Getenv("NO_COLOR") == "" && !isDumb()}
}

// isDumb says whether a terminal knows no sequences, or nobody says which it is. Those of
// Windows say nothing and know all of ours.
func isDumb() bool {
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
func (p palette) paint(code, s string) string {
	if !p.on || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[" + sgrNone + "m"
}

// class paints what is told of a class.
func (p palette) class(c loop.Class, s string) string {
	switch c {
	case loop.ClassOK:
		return p.green(s)
	case loop.ClassWarning:
		return p.yellow(s)
	case loop.ClassError:
		return p.red(s)
	}
	return p.dim(s)
}

func (p palette) bold(s string) string   { return p.paint(sgrBold, s) }
func (p palette) dim(s string) string    { return p.paint(sgrDim, s) }
func (p palette) red(s string) string    { return p.paint(sgrRed, s) }
func (p palette) green(s string) string  { return p.paint(sgrGreen, s) }
func (p palette) yellow(s string) string { return p.paint(sgrYellow, s) }
func (p palette) cyan(s string) string   { return p.paint(sgrCyan, s) }
