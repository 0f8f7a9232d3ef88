// Package top is the screen over all loops of a user: how they stand, what one of them does, asks and changed.
//
// It has no policy of its own: it shows what status --all and watch show, and a key is a command of the program, run
// in this process with its output below. A model takes messages and draws pictures (model.go, act.go, list.go,
// files.go, typed.go, view.go), so it is tested as a conversation. A loop's story is read beside it, at a width, in
// pages (story.go), and kept in sections that fold (transcript.go). Bubble Tea has the terminal: it reads keys, and
// writes what differs between two pictures.
package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/window"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	drawEvery = 33 * time.Millisecond  // at most, but for keys
	turnEvery = 100 * time.Millisecond // spinners
	listEvery = time.Second
)

// errNoScreen says what there is instead.
var errNoScreen = errors.New("top needs a terminal that can draw; ralph-lsp status --all lists the loops, ralph-lsp " +
	"watch shows one, and ralph-lsp top --plain prints what changes")

// New is the command. execute runs a command line of the program and returns its exit code.
func New(execute func(args []string, out io.Writer) int) *cobra.Command {
	plain := false
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show all your loops on a screen, and act on them",
		Long: `Show the loops of all your folders, what the chosen one does, asks and changed. Keys do
what the other commands do: ? lists them. Leaving it ends no loop. If kill -9
ends it, type reset, in tmux tput rmcup, too. --plain prints a line for each loop, and
another when that stands otherwise, for screen readers.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if plain {
				return list(cmd)
			}
			out, shows := terminal.Is(cmd.OutOrStdout())
			in, answers := terminal.Is(cmd.InOrStdin())
			if !shows || !answers || terminal.IsDumb() {
				return errNoScreen
			}
			return run(in, out, execute)
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print lines, and draw nothing")
	return cmd
}

// program is the model as Bubble Tea has it.
type program struct {
	model   *model
	tty     *os.File
	shown   func(string) string // what may be shown of a line
	suspend func()

	isNew, isTyped bool // something isn't drawn; the last message was a key
	drawn          time.Time
	view           tea.View
}

// run shows the screen until its user leaves, or a signal ends it.
func run(in, out *os.File, execute func([]string, io.Writer) int) error {
	palette := terminal.PaletteFor(out)
	p := &program{tty: out, shown: palette.Fence()}
	screen := tea.NewProgram(p, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithFPS(30))
	beside := func(do func()) {
		go screen.Send(tea.BatchMsg{func() tea.Msg { do(); return nil }}) // whose panic gives the terminal back
	}
	p.model = newModel(world{
		loops: new(service.Lister).Loops,
		read:  func(s loop.Status) journal.Story { return storyOf(s) },
		watch: func(ctx context.Context, s loop.Status, cursor string) terminal.Story {
			w := window.NewWatch(s.Folder, s.LoopID, s, storyOf(s), client.Hello{Cursor: cursor})
			beside(func() { w.Keep(ctx) })
			return w
		},
		run:    func(args ...string) said { return ran(execute, args) },
		diff:   changesOf,
		now:    time.Now,
		send:   screen.Send,
		beside: beside,
	}, palette, 0, 0)
	caught, stop := terminal.CatchSignals()
	defer stop()
	away := terminal.OnSuspend(out, func() { _ = screen.ReleaseTerminal() }, func() { _ = screen.RestoreTerminal() })
	p.suspend = away.Now
	ended := make(chan error, 1)
	go func() {
		_, err := screen.Run()
		ended <- err
	}()
	select {
	case <-caught:
		if away.End() {
			return nil
		}
		go screen.Quit()
		return <-ended
	case err := <-ended:
		away.End()
		return err
	}
}

// storyOf is what is kept of a loop's story.
func storyOf(s loop.Status) *journal.Reader {
	file := s.SessionFile
	if s.Last != nil && file == "" {
		file = s.Last.Status.SessionFile
	}
	return journal.StoryOf(s.LoopID, file)
}

// The messages of the program's own.
type (
	turnMsg   struct{}
	lookedMsg struct {
		loops message
		took  time.Duration
	}
)

// Init implements tea.Model.
func (p *program) Init() tea.Cmd { return tea.Batch(turn(), p.looked) }

func turn() tea.Cmd { return tea.Tick(turnEvery, func(time.Time) tea.Msg { return turnMsg{} }) }

// looked asks how the loops stand.
func (p *program) looked() tea.Msg {
	began := time.Now()
	return lookedMsg{p.model.list(), time.Since(began)}
}

// Update implements tea.Model.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	pressed, isKey := msg.(tea.KeyPressMsg)
	switch msg := msg.(type) {
	case turnMsg:
		if _, _, err := term.GetSize(int(p.tty.Fd())); err != nil { // the terminal is gone
			return p, tea.Quit
		}
		p.model.frame++
		p.isNew = p.isNew || isTurning(p.model.seen())
		return p, turn()
	case lookedMsg:
		next := tea.Tick(max(listEvery, 10*msg.took), func(time.Time) tea.Msg { return p.looked() })
		_, cmd := p.Update(msg.loops)
		return p, tea.Batch(cmd, next)
	}
	switch {
	case isKey && pressed.String() == "ctrl+z":
		return p, func() tea.Msg { p.suspend(); return nil }
	case isKey && pressed.String() == "ctrl+l":
		return p, tea.ClearScreen
	}
	effects := p.model.update(msg)
	p.isNew, p.isTyped = true, isKey
	if p.model.leaves {
		return p, tea.Quit
	}
	return p, tea.Batch(effects...)
}

// View implements tea.Model. What comes too fast to be seen is drawn with the next turn.
func (p *program) View() tea.View {
	if !p.isNew || !p.isTyped && time.Since(p.drawn) < drawEvery {
		return p.view
	}
	shown := p.model.picture()
	for i, row := range shown.rows {
		shown.rows[i] = terminal.Fit(p.shown(row), shown.width)
	}
	p.view = tea.NewView(strings.Join(shown.rows, "\n"))
	p.view.AltScreen = true
	if shown.column >= 0 {
		p.view.Cursor = tea.NewCursor(shown.column, shown.row)
	}
	p.isNew, p.drawn = false, time.Now()
	return p.view
}

// ran runs a command of the program and returns what it has said.
func ran(execute func([]string, io.Writer) int, args []string) said {
	var out limited
	code := execute(args, &out)
	return said{"ralph-lsp " + args[0], strings.TrimSpace(string(out)), code != terminal.ExitDone}
}

// limited keeps what is printed up to what anybody would read.
type limited []byte

const maxPrinted = 1 << 20

func (l *limited) Write(p []byte) (int, error) {
	*l = append(*l, p[:min(len(p), maxPrinted-len(*l))]...)
	return len(p), nil
}

// list prints a line for each loop, and another when it stands otherwise.
func list(cmd *cobra.Command) error {
	caught, stop := terminal.CatchSignals()
	defer stop()
	out := terminal.Checked(cmd.OutOrStdout())
	printed := map[string]string{}
	loops := new(service.Lister)
	for {
		for _, st := range loops.Loops() {
			key := fmt.Sprint(st.State, st.Iteration, len(st.Questions), st.Pausing, st.Last != nil)
			if printed[st.LoopID] != key {
				printed[st.LoopID] = key
				fmt.Fprintln(out, terminal.Line(wire.JoinFacts(st.LoopID, st.Folder, terminal.TitleOf(st), wire.StandText(st, time.Now()))))
			}
		}
		select {
		case <-caught:
			return nil
		case <-out.Broken:
			return out.Failure()
		case <-time.After(listEvery):
		}
	}
}
