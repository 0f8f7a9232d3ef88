// Package top is the screen over all loops of a user: how they stand, what one of them does, asks and changed.
//
// It has no policy of its own: it shows what status --all and watch show, and a key is a command of the program, run
// in this process with its output below. A model takes messages and draws pictures (model.go, act.go, list.go,
// files.go, typed.go, view.go), so it is tested as a conversation. A loop's story is read beside it, at a width, in
// pages (story.go), and kept in sections that fold (transcript.go). One goroutine has the model, and draws it as
// often as a person can see, and at once after a key. screen.go and keys.go are the terminal: a library for it would
// cost each start of the program more than all of these.
package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	drawEvery = 33 * time.Millisecond  // at most
	turnEvery = 100 * time.Millisecond // spinners, and a look at the terminal's size
	listEvery = time.Second
	escAlone  = 50 * time.Millisecond // how long what may follow an ESC takes
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
			return newProgram(in, out, execute).run()
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print lines, and draw nothing")
	return cmd
}

// program is the screen, its model and what comes to it.
type program struct {
	screen   screen
	model    *model
	messages chan message
	typed    chan []byte
	broken   chan any  // a panic elsewhere
	pending  []byte    // of a key that isn't whole
	since    time.Time // when that came
	suspend  func()
}

func newProgram(in, out *os.File, execute func([]string, io.Writer) int) *program {
	palette := terminal.PaletteFor(out)
	p := &program{
		screen:   screen{in: in, out: out, shown: palette.Fence()},
		messages: make(chan message, 16), typed: make(chan []byte), broken: make(chan any, 1),
	}
	w := world{
		loops: new(service.Lister).Loops,
		read:  func(s loop.Status) journal.Story { return storyOf(s) },
		watch: func(ctx context.Context, s loop.Status, cursor string) terminal.Story {
			w := window.NewWatch(s.Folder, s.LoopID, s, storyOf(s), client.Hello{Cursor: cursor})
			p.beside(func() { w.Keep(ctx) })
			return w
		},
		run:  func(args ...string) said { return ran(execute, args) },
		diff: changesOf,
		now:  time.Now,
		send: func(ctx context.Context, msg message) {
			select {
			case p.messages <- msg:
			case <-ctx.Done():
			}
		},
		beside: p.beside,
	}
	width, height := p.screen.size()
	p.model = newModel(w, palette, width, height)
	return p
}

// storyOf is what is kept of a loop's story.
func storyOf(s loop.Status) *journal.Reader {
	file := s.SessionFile
	if s.Last != nil && file == "" {
		file = s.Last.Status.SessionFile
	}
	return journal.StoryOf(s.LoopID, file)
}

// run shows the screen until its user leaves, or a signal ends it.
func (p *program) run() error {
	caught, stop := terminal.CatchSignals()
	defer stop()
	if err := p.screen.enter(); err != nil {
		return err
	}
	defer p.screen.leave() // also on a panic
	var unwatch func()
	p.suspend, unwatch = terminal.OnSuspend(p.screen.out, p.screen.leave, func() { _ = p.screen.enter() })
	defer unwatch()
	p.beside(p.read)
	p.beside(p.listen)
	turns := time.NewTicker(turnEvery)
	defer turns.Stop()
	var drawn time.Time
	isNew := false // something isn't drawn
	draw := func() {
		p.screen.draw(p.model.picture())
		drawn, isNew = time.Now(), false
	}
	for draw(); !p.model.leaves; {
		var later, alone <-chan time.Time
		if isNew {
			later = time.After(drawEvery - time.Since(drawn))
		}
		if len(p.pending) > 0 {
			alone = time.After(escAlone - time.Since(p.since))
		}
		select {
		case in, ok := <-p.typed:
			if !ok { // the terminal is gone
				return nil
			}
			p.press(append(p.pending, in...), false)
			draw()
		case <-alone:
			p.press(p.pending, true)
			draw()
		case msg := <-p.messages:
			p.update(msg)
			isNew = true
		case <-later:
			draw()
		case <-turns.C:
			p.model.frame++
			isNew = isNew || isTurning(p.model.seen())
			if w, h := p.screen.size(); w != p.model.width || h != p.model.height {
				p.update(resizeMsg{w, h})
				isNew = true
			}
		case problem := <-p.broken:
			panic(problem)
		case <-caught:
			return nil
		}
	}
	return nil
}

// beside runs something that has no end but the program's. Its panic is the program's, which gives
// the terminal back first.
func (p *program) beside(do func()) {
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				p.broken <- problem
			}
		}()
		do()
	}()
}

// read reads what is typed.
func (p *program) read() {
	for {
		in := make([]byte, 4096)
		n, err := p.screen.in.Read(in)
		if n == 0 || err != nil {
			close(p.typed)
			return
		}
		p.typed <- in[:n]
	}
}

// listen asks how the loops stand.
func (p *program) listen() {
	for {
		began := time.Now()
		p.messages <- p.model.list()
		time.Sleep(max(listEvery, 10*time.Since(began)))
	}
}

func (p *program) update(msg message) {
	for _, do := range p.model.update(msg) {
		p.beside(func() { p.messages <- do() })
	}
}

// press takes keys.
func (p *program) press(in []byte, isAll bool) {
	var keys []key
	keys, p.pending = keysOf(in, isAll)
	p.since = time.Now()
	for _, k := range keys {
		switch k.name {
		case "ctrl+z":
			p.suspend()
		case "ctrl+l":
			p.screen.forget()
		default:
			p.update(k)
		}
	}
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
