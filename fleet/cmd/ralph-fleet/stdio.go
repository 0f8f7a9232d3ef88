package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/client"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/notify"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/server/stdio"
	"github.com/ralph-lsp/ralph-lsp/service"
)

// editor is the program as editors start it: the sidecar of ralph-lsp, with the loops of the
// bus among the others.
type editor struct {
	stdio.Sidecar
	bus busFlags
}

func (e *editor) addFlags(cmd *cobra.Command) {
	e.AddFlags(cmd.Flags())
	e.bus.addFlags(cmd)
}

// exitCode ends the program without a word.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// serve serves an editor, or shows the help to a person. The start doesn't wait for the bus,
// and without one that somebody has named there is none: nothing is looked for in the network.
// Loops of this machine need no bus: what is wrong with its settings is told in its place.
func (e *editor) serve(cmd *cobra.Command, stdout io.Writer) error {
	if !e.Wanted {
		return cmd.Help()
	}
	problem := settle(cmd)
	var loops func(*slog.Logger) service.Remote
	if e.bus.url != "" || problem != nil {
		dir, noDir := paths.Fleet("seen")
		dial := func(ctx context.Context, lost func()) (fleet.Bus, func(), error) {
			if problem != nil {
				problem = settle(cmd) // it may be mended
			}
			switch {
			case problem != nil:
				return nil, nil, &client.Unset{Why: problem}
			case noDir != nil:
				return nil, nil, &client.Unset{Why: fmt.Errorf("there is no folder for what they say: %w", noDir)}
			case e.bus.url == "":
				return nil, nil, &client.Unset{Why: errors.New("no bus is named: write bus = \"nats://HOST:4222\" into your " + config.FleetName)}
			}
			return e.dial(ctx, lost)
		}
		loops = func(log *slog.Logger) service.Remote {
			d := client.New(client.Options{Dial: dial, Name: cmp.Or(format.WithoutUserinfo(e.bus.url), "of your "+config.FleetName),
				Dir: dir, Log: log})
			return calling{d, notify.At{Warn: func(text string) { log.Warn(text) }}} // what else there is to see is the editor's business
		}
	}
	code, err := e.Run(cmd.InOrStdin(), stdout, cmd.ErrOrStderr(), programVersion(), loops)
	if err == nil && code != 0 {
		return exitCode(code)
	}
	return err
}

// dial connects to the bus. A connection that is lost is given up: a new one hears all anew.
func (e *editor) dial(ctx context.Context, lost func()) (fleet.Bus, func(), error) {
	e.bus.lost = lost
	bus, err := e.bus.dial(ctx, "editor")
	if why := (*natsbus.Problem)(nil); errors.As(err, &why) {
		return nil, nil, why // the client names the bus
	}
	if err != nil {
		return nil, nil, err
	}
	return bus, bus.Close, nil
}
