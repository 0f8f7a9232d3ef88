package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ralph-lsp/server"
)

// sidecar is the program as editors start it: without a command.
type sidecar struct {
	stdio   bool
	logFile string
	parent  int
}

func (s *sidecar) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.stdio, "stdio", false, "serve an editor on standard input and output (the default without a terminal)")
	cmd.Flags().StringVar(&s.logFile, "log", "", "write the log to `FILE` instead of standard error")
	// The name is the protocol's; clients add it by themselves.
	cmd.Flags().IntVar(&s.parent, "clientProcessId", 0, "end when the process `PID` does; it must be an ancestor of this one")
	cmd.Flags().SortFlags = false
}

// run serves an editor, or shows the help to a person.
func (s *sidecar) run(cmd *cobra.Command) error {
	if _, terminal := isTerminal(cmd.InOrStdin()); terminal && !s.stdio {
		return cmd.Help()
	}
	log, closeLog, err := s.openLog(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer closeLog()
	stdout := unchecked(cmd.OutOrStdout()).(io.Writer) // the server looks after its errors
	ctx, stop := editorContext(stdout)
	defer stop()
	code := server.Run(ctx, cmd.InOrStdin(), stdout, server.Options{Version: programVersion(), Log: log, Parent: s.parent})
	if code != exitDone {
		return &exitError{code: code} // the log has said why
	}
	return nil
}

// openLog returns the logger that doesn't disturb the protocol.
func (s *sidecar) openLog(stderr io.Writer) (log *slog.Logger, closeLog func(), err error) {
	to := stderr
	if s.logFile != "" {
		// Closed by the end of the process: it is written to until then.
		if to, err = os.OpenFile(s.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return nil, nil, fmt.Errorf("opening the log file: %w", err)
		}
	}
	w := newLossyWriter(to)
	return slog.New(slog.NewTextHandler(w, nil)), w.close, nil
}

// editorContext ends when a signal says that the editor goes away, or when
// nobody can read stdout any more.
func editorContext(stdout io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, signals...)
	go func() {
		for {
			select {
			case sig := <-caught:
				if sig != syscall.SIGPIPE { // a broken pipe is an error of a write
					cancel(fmt.Errorf("signal: %v", sig))
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	if f, ok := stdout.(*os.File); ok {
		go func() {
			if awaitHangUp(ctx, f) {
				cancel(errStdoutClosed)
			}
		}()
	}
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

var errStdoutClosed = errors.New("standard output is closed")
