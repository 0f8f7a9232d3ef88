package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/window"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// shown is what the flags say about how a loop is shown.
type shown struct {
	style   start.Choice
	verbose bool
	answers bool            // agents' questions are answered here
	once    bool            // for a program that holds the loop
	next    <-chan struct{} // gets that program's wish for another iteration; nil: it has none
	spare   *window.Spare   // the process for the loop, where it is started already
}

func (s *shown) addFlags(cmd *cobra.Command) {
	s.style = start.Choice{Of: terminal.Styles}
	cmd.Flags().Var(&s.style, "output", terminal.StyleUsage)
	cmd.Flags().BoolVar(&s.verbose, "verbose", false, "show the model's reasoning too")
	cli.CompleteWith(cmd, "output", terminal.Styles...)
}

// display is what shows a loop with a configuration, and where that is written.
func (s *shown) display(cfg setup.Config, stdout, stderr io.Writer) (*terminal.Display, *terminal.Output) {
	out := terminal.Checked(stdout)
	screen := terminal.ConfigOf(stdout, stderr, s.verbose)
	screen.Out, screen.Answer, screen.Answers, screen.Statuses = out, terminal.AnswerIn(cfg.Folder), s.answers, s.once
	screen.Verbatim, screen.Here = cfg.Backend.Output == decode.FormatText, cfg.Folder
	return terminal.NewDisplay(s.style.Value, screen), out
}

// drive has a loop run in a process of its own, and shows it in this terminal to its end. began is called when it has begun.
func drive(cfg setup.Config, files config.Files, stdout, stderr io.Writer, how shown, began func()) (loop.End, error) {
	caught, stop := terminal.CatchSignals()
	defer stop()
	display, out := how.display(cfg, stdout, stderr)
	hello := client.Hello{Owns: true, Answers: how.answers, BellOnly: !terminal.UTF8Locale()}
	var tty *os.File
	tty, hello.Terminal = terminal.Is(stdout)
	c, err := service.Begin(service.Beginning{Config: cfg, Files: files, Hello: hello, Spawn: how.spare.Take, Caught: caught,
		Prepare: func(c *client.Connection) {
			c.Notes, c.Rings = display.Note, func(codes string) { go io.WriteString(tty, codes) } // which may take nothing
		}})
	if err != nil {
		return loop.End{}, asExit(err)
	}
	defer c.Close()
	began()
	display.Start(c, c.Status)
	w := window.Of(c, cfg)
	over := make(chan struct{})
	giveUp := terminal.AnswerSignals(caught, out.Broken, over, w, display.Note, func() {
		w.Force()
		terminal.EndByForce(display, cfg.Folder)
	})
	if how.answers {
		go terminal.AnswerHere(os.Stdin, c, over, display.Note)
	}
	end, err := w.Wait()
	close(over)
	if err == nil {
		display.End(end)
	} else {
		err = &exitError{terminal.ExitFailed, err.Error()}
	}
	display.Close(w.OrGone(giveUp))
	return end, errors.Join(err, unseen(out, end))
}

// asExit is the error of a start, which may be that a signal came before it.
func asExit(err error) error {
	if errors.Is(err, service.ErrInterrupted) {
		return &exitError{terminal.ExitCancelled, err.Error()}
	}
	return err
}

// unseen is the error of a loop that was interrupted as nobody can see what happens.
func unseen(out *terminal.Output, end loop.End) error {
	if err := out.Failure(); err != nil && end.Reason == loop.StopInterrupted {
		return &exitError{terminal.ExitCancelled, fmt.Sprintf("what happens can't be shown (%v), so the loop was interrupted "+
			"in iteration %d", err, end.Iterations)}
	}
	return nil
}

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

// detached starts a loop that goes on alone, and prints its id. began is called when it has begun.
func detached(cmd *cobra.Command, spare *window.Spare, cfg setup.Config, files config.Files, began func()) error {
	caught, stop := terminal.CatchSignals()
	defer stop()
	c, err := service.Begin(service.Beginning{Config: cfg, Files: files, Spawn: spare.Take, Caught: caught})
	if err != nil {
		return asExit(err)
	}
	defer c.Close()
	began()
	for warning := range window.OpeningWarnings(c, caught) {
		fmt.Fprintln(cmd.ErrOrStderr(), terminal.Wrapped("warning: "+terminal.Line(warning), terminal.LineWidth(cmd.ErrOrStderr()), 2))
	}
	fmt.Fprintln(cmd.OutOrStdout(), c.LoopID())
	return nil
}
