// Package stdio runs the server as a program that an editor has started: on standard input
// and output, until the editor goes away in whichever way.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/server"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// Sidecar is the program as editors start it: without a command.
type Sidecar struct {
	Wanted  bool // it was asked for, so it serves a terminal too
	logFile string
	parent  int
}

// AddFlags adds what editors give.
func (s *Sidecar) AddFlags(f *pflag.FlagSet) {
	f.BoolVar(&s.Wanted, "stdio", false, "serve an editor on standard input and output (the default without a terminal)")
	s.AddLog(f)
	// The name is the protocol's; clients add it by themselves.
	f.IntVar(&s.parent, "clientProcessId", 0, "end when the process `PID` does; it must be an ancestor of this one")
}

// AddLog adds the flag that says where the log goes.
func (s *Sidecar) AddLog(f *pflag.FlagSet) {
	f.StringVar(&s.logFile, "log", "", "write the log to `FILE` instead of standard error")
}

// envGrace names how long the loops of an editor go on that is gone, as "30s": longer than grace where windows take
// longer to be back, as over a slow connection.
const envGrace = "RALPH_EDITOR_GRACE"

// grace is how long it is else: enough for a window that is reloaded.
const grace = 5 * time.Second

// maxGrace bounds what is said.
const maxGrace = time.Hour

// Returns is how long the loops of an editor go on that is gone, as its user says.
func Returns() time.Duration {
	said, err := time.ParseDuration(os.Getenv(envGrace))
	if err != nil || said < 0 {
		return grace
	}
	return min(said, maxGrace)
}

// Run serves an editor with the loops of this machine and those elsewhere, and returns the
// exit code; fleet may be nil. Out takes frames only, as they are.
func (s *Sidecar) Run(in io.Reader, out, stderr io.Writer, version string, fleet func(*slog.Logger) service.Remote) (code int, err error) {
	log, closeLog, err := s.openLog(stderr)
	if err != nil {
		return 1, err
	}
	defer closeLog()
	ctx, stop := editorContext(out)
	defer stop()
	o := server.Options{Version: version, Log: log, Parent: s.parent, Returns: Returns()}
	if fleet != nil {
		o.Remote = fleet(log)
	}
	return server.Run(ctx, in, out, o), nil
}

// openLog returns the logger that doesn't disturb the protocol.
func (s *Sidecar) openLog(stderr io.Writer) (log *slog.Logger, closeLog func(), err error) {
	to := stderr
	if s.logFile != "" {
		// Closed by the end of the process: it is written to until then.
		if to, err = regular.Open(s.logFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return nil, nil, fmt.Errorf("opening the log file: %w", err)
		}
	}
	w := newLossyWriter(to)
	return slog.New(slog.NewTextHandler(w, nil)), w.close, nil
}

// signals are those that say that the editor goes away. SIGPIPE is among them so that a
// broken pipe is an error of a write.
var signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// editorContext ends when a signal says that the editor goes away, or when
// nobody can read stdout any more. The second signal ends this process.
func editorContext(stdout io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, signals...)
	over := make(chan struct{})
	go func() {
		for isAsked := false; ; {
			select {
			case sig := <-caught:
				if sig == syscall.SIGPIPE {
					continue
				}
				if isAsked && sig != syscall.SIGHUP { // a second signal doesn't wait
					backends.EndBeside()
					os.Exit(1)
				}
				isAsked = true
				cancel(fmt.Errorf("signal: %v", sig))
			case <-over:
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
		close(over)
		cancel(nil)
	}
}

var errStdoutClosed = errors.New("standard output is closed")
