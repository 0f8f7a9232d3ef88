package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/keeper"
	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/notify"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// shown is what the flags say about how a loop is shown.
type shown struct {
	style   start.Choice
	verbose bool
	answers bool            // what agents ask is answered here
	once    bool            // for a program that holds the loop
	next    <-chan struct{} // gets that program's wish for another iteration; nil: it has none
}

func (s *shown) addFlags(cmd *cobra.Command) {
	s.style = start.Choice{Of: terminal.Styles}
	cmd.Flags().Var(&s.style, "output", terminal.StyleUsage)
	cmd.Flags().BoolVar(&s.verbose, "verbose", false, "show the model's reasoning too")
	cli.CompleteWith(cmd, "output", terminal.Styles...)
}

// drive runs a loop in this terminal to its end. begun is told when it has begun; over
// is closed at its end.
func drive(cfg setup.Config, host setup.Host, stdout, stderr io.Writer, how shown, begun func(l *engine.Loop, over <-chan struct{})) (loop.End, error) {
	caught, stop := terminal.CatchSignals()
	defer stop()
	out := terminal.Checked(stdout)
	screen := terminal.ConfigOf(stdout, stderr, how.verbose)
	screen.Out, screen.Answer, screen.Answers, screen.Statuses = out, terminal.AnswerIn(cfg.Folder), how.answers, how.once
	screen.Verbatim, screen.Here = cfg.Backend.Output == decode.FormatText, cfg.Folder
	display := terminal.NewDisplay(how.style.Value, screen)
	if how.next != nil {
		host.Stay = func(end loop.End) <-chan struct{} {
			display.Left(end)
			return how.next
		}
	}
	over, coming := make(chan struct{}), &comingLoop{begun: make(chan struct{})}
	defer close(over)
	giveUp := terminal.AnswerSignals(caught, out.Broken, over, coming, display.Note, func() { terminal.EndByForce(display, cfg.Folder) })
	l, log, told, err := notify.Start(cfg, host, display, terminal.NotifyAt(stdout, display.Note))
	if err != nil {
		return loop.End{}, err
	}
	coming.Loop = l
	close(coming.begun)
	begun(l, over)
	display.Start(log, l.Status)
	if how.answers {
		go terminal.AnswerHere(os.Stdin, l, over, display.Note)
	}
	end := l.Wait()
	told.Close()
	display.Close(giveUp)
	if err := out.Failure(); err != nil && end.Reason == loop.StopInterrupted {
		return end, &exitError{terminal.ExitCancelled, fmt.Sprintf("what happens can't be shown (%v), so the loop was interrupted in iteration %d", err, end.Iterations)}
	}
	return end, nil
}

// comingLoop is a loop that signals end which may come before it has begun.
type comingLoop struct {
	*engine.Loop
	begun chan struct{}
}

func (c *comingLoop) Close()     { <-c.begun; c.Loop.Close() }
func (c *comingLoop) Interrupt() { <-c.begun; c.Loop.Interrupt() }
func (c *comingLoop) Kill()      { <-c.begun; c.Loop.Kill() }

// outcome turns a loop's end into the program's: nil only for one that is done.
func outcome(end loop.End) error {
	switch code := terminal.ExitCode(end.Reason); code {
	case terminal.ExitDone:
		return nil
	case terminal.ExitFailed:
		return &exitError{code, terminal.FailureText(end)}
	default:
		return &exitError{code: code} // the style has said it
	}
}

// detached starts a loop that goes on alone, and prints its id. begun is told that it has begun.
func detached(cmd *cobra.Command, cfg setup.Config, begun func(id string)) error {
	end, err := keeper.Launch(cfg, begun, func(warning string) {
		fmt.Fprintln(cmd.ErrOrStderr(), terminal.Wrapped("warning: "+terminal.Line(warning), terminal.LineWidth(cmd.ErrOrStderr()), 2))
	})
	switch {
	case err != nil:
		return err
	case end.Reason != loop.StopDetached:
		return outcome(end)
	case end.Error != "":
		return &exitError{terminal.ExitFailed, end.Error + "; " + terminal.GoOn + terminal.InFolderOf(cfg.Folder)}
	}
	fmt.Fprintln(cmd.OutOrStdout(), end.Status.LoopID)
	return nil
}
