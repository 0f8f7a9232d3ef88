package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/notify"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// shown is what the flags say about how a loop is shown.
type shown struct {
	style   start.Choice
	verbose bool
	answers bool // what agents ask is answered here
	once    bool // for a program that holds the loop
}

func (s *shown) addFlags(cmd *cobra.Command) {
	s.style = start.Choice{Of: styleNames}
	cmd.Flags().Var(&s.style, "output", outputUsage)
	cmd.Flags().BoolVar(&s.verbose, "verbose", false, "show the model's reasoning too")
	cli.CompleteWith(cmd, "output", styleNames...)
}

// drive runs a loop in this terminal to its end. begun is told when it has begun; over
// is closed at its end.
func drive(cfg loop.Config, stdout, stderr io.Writer, how shown, begun func(l *loop.Loop, over <-chan struct{})) (loop.End, error) {
	caught, stop := catchSignals()
	defer stop()
	out := checked(stdout)
	screen := describe(stdout, stderr, how.verbose)
	screen.out, screen.folder, screen.answers, screen.statuses = out, cfg.Folder, how.answers, how.once
	screen.verbatim = cfg.Backend.Output == decode.FormatText
	q := newQueue(func(clock func() time.Time) style {
		screen.now = clock
		return newStyle(how.style.Value, screen)
	})
	l, _, told, err := notify.Start(cfg, q, here(stdout, q.Note))
	if err != nil {
		return loop.End{}, err
	}
	over := make(chan struct{})
	begun(l, over)
	q.Start(l.Status)
	if how.once {
		go lookOften(q, over)
	}
	giveUp := answerSignals(caught, out.broken, over, l, q.Note)
	if how.answers {
		go answerHere(os.Stdin, l, over, q.Note)
	}
	end := l.Wait()
	told.Close()
	q.Close(giveUp)
	close(over)
	if err := out.failure(); err != nil && end.Reason == loop.StopInterrupted {
		return end, &exitError{exitCancelled, fmt.Sprintf("what happens can't be shown (%v), so the loop was interrupted in iteration %d", err, end.Iterations)}
	}
	return end, nil
}

// exitCode is what the program returns for a loop that ended so.
func exitCode(reason loop.StopReason) int {
	switch ending := reason.Ending(); {
	case ending.HandsOn:
		return exitGoesOn
	case ending.Class == loop.ClassOK:
		return exitDone
	case reason.Capped():
		return exitCapped
	case ending.Class == loop.ClassError:
		return exitFailed
	}
	return exitCancelled
}

// outcome turns a loop's end into the program's: nil only for one that is done.
func outcome(end loop.End) error {
	switch code := exitCode(end.Reason); code {
	case exitDone:
		return nil
	case exitFailed:
		return &exitError{code, failure(end)}
	default:
		return &exitError{code: code} // the style has said it
	}
}

// patience bounds how long a command waits for a loop in another process.
const patience = 15 * time.Second

// here is where loops of this terminal are driven.
func here(stdout io.Writer, warn func(string)) notify.At {
	f, ok := isTerminal(stdout)
	return notify.Here(f, ok, utf8Locale(), warn)
}
