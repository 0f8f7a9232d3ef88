package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// style shows a loop in the terminal or writes it to a pipe. Its calls come
// from one goroutine, and may block: a queue stands in front of it.
type style interface {
	loop.Observer
	// Live begins the live view, where the style has one.
	Live(status func() loop.Status)
	// Note is said by this program, not by the loop.
	Note(text string)
	// Close ends the live view and restores the terminal.
	Close()
}

// The output styles.
const (
	stylePretty  = "pretty"
	styleConsole = "console"
	styleQuiet   = "quiet"
	styleJSON    = "json"
)

// styleNames in the order of the help.
var styleNames = []string{stylePretty, styleConsole, styleQuiet, styleJSON}

// outputUsage is the help of the flag that chooses one.
var outputUsage = "the `STYLE`: " + strings.Join(styleNames, ", ") + "; pretty is the default on a terminal, else console"

// styleConfig is what the styles have in common.
type styleConfig struct {
	out      io.Writer // what is shown
	notes    io.Writer // notes, where out is for programs
	palette  palette
	width    func() int // of the terminal, in cells
	terminal bool       // out is one: a live line can be drawn
	job      job        // of the terminal's shell
	thinking bool       // show the model's reasoning
	verbatim bool       // the agent's text is no markdown, and comes in whole lines
	now      func() time.Time
	folder   string // of the loop that runs; "" where it is over
	answers  bool   // what its agents ask is answered here
	statuses bool   // a program is told how the loop stands, too
}

// newStyle builds the style called name; "" chooses by where the output goes.
func newStyle(name string, cfg styleConfig) style {
	if name == "" {
		name = styleConsole
		if cfg.terminal {
			name = stylePretty
		}
	}
	switch name {
	case stylePretty:
		return newPretty(cfg)
	case styleQuiet:
		return &quietStyle{cfg: cfg}
	case styleJSON:
		return newJSONStyle(cfg)
	}
	return newConsole(cfg)
}

// defaultWidth is assumed where there is no terminal to ask.
const defaultWidth = 80

// widthOf asks the terminal for its width each time: windows are resized.
func widthOf(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return defaultWidth
		}
		return width
	}
}

// describe configures a style for where stdout and stderr go.
func describe(stdout, stderr io.Writer, thinking bool) styleConfig {
	cfg := styleConfig{out: stdout, notes: stderr, palette: paletteFor(stdout), thinking: thinking, width: func() int { return defaultWidth }, now: time.Now}
	if f, ok := isTerminal(stdout); ok {
		cfg.width = widthOf(f)
		cfg.terminal = !isDumb()
		cfg.job = job{f}
	}
	return cfg
}

// quietStyle shows only how the loop ended.
type quietStyle struct {
	cfg styleConfig
	mute
}

func (s *quietStyle) HandleLoop(e loop.Event) {
	switch e := e.(type) {
	case loop.Asked:
		for _, line := range s.cfg.ask(e.Question) {
			fmt.Fprintln(s.cfg.notes, line)
		}
	case loop.End:
		fmt.Fprintln(s.cfg.out, wire.EndLine(e))
	}
}

func (s *quietStyle) Note(text string) { fmt.Fprintln(s.cfg.notes, text) }

// mute is a style that says nothing, for styles to build on.
type mute struct{}

func (mute) Handle(stream.Event)     {}
func (mute) HandleLoop(loop.Event)   {}
func (mute) Live(func() loop.Status) {}
func (mute) Note(string)             {}
func (mute) Close()                  {}
