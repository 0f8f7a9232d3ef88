package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Style shows a loop in the terminal or writes it to a pipe: the updates of a journal, a session
// file or a fleet's bus. Its calls come from one goroutine, and may block.
type Style interface {
	// Show shows an update. A question can be answered only while it is live.
	Show(it journal.Item, isLive bool)
	// End shows how the loop ended, where no update does.
	End(e loop.End)
	// Live begins the live view, where the style has one.
	Live(status func() loop.Status)
	// Look has what is new of the loop's status written.
	Look()
	// Tell shows a line about the loop.
	Tell(text string)
	// Note is said by this program, not by the loop.
	Note(text string)
	// Close ends the live view and restores the terminal.
	Close()
}

// The output styles.
const (
	Pretty  = "pretty"
	Console = "console"
	Quiet   = "quiet"
	JSON    = "json"
)

// Styles in the order of the help.
var Styles = []string{Pretty, Console, Quiet, JSON}

// StyleUsage is the help of the flag that chooses one.
var StyleUsage = "the `STYLE`: " + strings.Join(Styles, ", ") + "; pretty is the default on a terminal, else console"

// Config is what the styles have in common.
type Config struct {
	Out      io.Writer // the output
	Notes    io.Writer // notes, where out is for programs
	Palette  Palette
	Width    func() int  // of the terminal, in cells
	terminal bool        // out is one: a live line can be drawn
	job      job         // of the terminal's shell
	thinking bool        // show the model's reasoning
	Verbatim bool        // the agent's text is no markdown, and comes in whole lines
	Here     string      // the folder of the loop, where it runs in this process: what it offers has command lines, and End tells its end
	Answer   string      // the command line that answers what agents ask; "" where the loop is over
	Asks     string      // the command that shows all of it, where that isn't AnswerCommand
	Answers  bool        // agents' questions are answered here
	IsLive   func() bool // questions can be answered; nil: always
	Statuses bool        // a program is told how the loop stands, too
}

// New builds the style called name; "" chooses by where the output goes.
func New(name string, cfg Config) Style {
	if name == "" {
		name = Console
		if cfg.terminal {
			name = Pretty
		}
	}
	switch name {
	case Pretty:
		return newPretty(cfg)
	case Quiet:
		return &quietStyle{cfg: cfg}
	case JSON:
		return newJSONStyle(cfg)
	}
	return newConsole(cfg)
}

// defaultWidth is assumed where there is no terminal to ask.
const defaultWidth = 80

// WidthOf asks the terminal for its width each time: windows are resized.
func WidthOf(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return defaultWidth
		}
		return width
	}
}

// ConfigOf configures a style for where stdout and stderr go.
func ConfigOf(stdout, stderr io.Writer, thinking bool) Config {
	cfg := Config{Out: stdout, Notes: stderr, Palette: PaletteFor(stdout), thinking: thinking, Width: func() int { return defaultWidth }}
	if f, ok := Is(stdout); ok {
		cfg.Width = WidthOf(f)
		cfg.terminal = !IsDumb()
		cfg.job = job{f}
	}
	return cfg
}

// quietStyle shows only how the loop ended.
type quietStyle struct {
	cfg Config
	mute
}

func (s *quietStyle) Show(it journal.Item, _ bool) {
	switch kind, isHere := wire.KindOf(it.JSON), s.cfg.Here != ""; {
	case kind == wire.KindQuestion && isHere:
		if q, ok := wire.Decode(it.JSON).(wire.Question); ok {
			for _, line := range s.cfg.ask(q.Question) {
				fmt.Fprintln(s.cfg.Notes, line)
			}
		}
	case kind == wire.KindEnd && !isHere:
		if u, ok := wire.Decode(it.JSON).(wire.End); ok {
			s.End(u.End)
		}
	}
}

func (s *quietStyle) End(e loop.End) {
	fmt.Fprintln(s.cfg.Out, wire.JoinFacts(wire.EndLine(e), troubleLine(e)))
}

func (s *quietStyle) Note(text string) { fmt.Fprintln(s.cfg.Notes, text) }

// mute is a style that says nothing, for styles to build on.
type mute struct{}

func (mute) Live(func() loop.Status) {}
func (mute) Look()                   {}
func (mute) Tell(string)             {}
func (mute) Close()                  {}
