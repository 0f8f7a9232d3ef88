package main

import (
	"io"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/keeper"
	"github.com/ralph-lsp/ralph-lsp/keeper/door"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// driveOnce drives an iteration of a loop in this process, which the program that holds the loop has started and ends.
// begun is told when it has begun; over is closed at its end.
func driveOnce(cfg setup.Config, host setup.Host, stdout, stderr io.Writer, how shown,
	begun func(l keeper.Driven, over <-chan struct{})) (loop.End, error) {
	caught, stop := terminal.CatchSignals()
	defer stop()
	display, out := how.display(cfg, stdout, stderr)
	if how.next != nil {
		host.Stay = func(end loop.End) <-chan struct{} {
			display.Left(end)
			return how.next
		}
	}
	over, coming := make(chan struct{}), terminal.NewComing()
	defer close(over)
	giveUp := terminal.AnswerSignals(caught, out.Broken, over, coming, display.Note, func() { terminal.EndByForce(display, cfg.Folder) })
	windows := door.New()
	host.Windows, host.Stood = windows.Connect, windows.Look
	l, err := keeper.Start(cfg, host, terminal.NotifyAt(stdout, display.Note))
	if err != nil {
		windows.Failed()
		return loop.End{}, err
	}
	windows.Begun(l, l.Log)
	coming.Begun(here{l})
	begun(l, over)
	from := l.Log.Follow(l.Log.Begun(), 0)
	defer from.Close()
	display.Start(terminal.OfLog{Follower: from}, l.Status)
	end := l.Wait()
	windows.Finish(end)
	l.Told.Close()
	display.End(end)
	display.Close(giveUp)
	return end, unseen(out, end)
}

// here is a loop of this process as signals end it.
type here struct{ keeper.Driven }

// Close is for a terminal that goes away.
func (h here) Close() { h.Interrupt() }
