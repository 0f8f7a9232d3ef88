package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"ralph-lsp/fleet"
	"ralph-lsp/fleet/desk"
	"ralph-lsp/fleet/natsbus"
	"ralph-lsp/internal/emit"
	"ralph-lsp/internal/tell"
	"ralph-lsp/server/elsewhere"
	"ralph-lsp/server/stdio"
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
func (e *editor) serve(cmd *cobra.Command, stdout io.Writer) error {
	if !e.Wanted {
		return cmd.Help()
	}
	var place func(*slog.Logger) elsewhere.Place
	if e.bus.url != "" {
		dir, err := stateDir("seen")
		if err != nil {
			return err
		}
		place = func(log *slog.Logger) elsewhere.Place {
			return desk.New(desk.Options{Dial: e.dial, Name: tell.WithoutUserinfo(e.bus.url), Dir: dir, Log: log})
		}
	}
	code, err := e.Run(cmd.InOrStdin(), stdout, cmd.ErrOrStderr(), version, place)
	if err == nil && code != 0 {
		return exitCode(code)
	}
	return err
}

// dial connects to the bus. A connection that is lost is given up: a new one hears all anew.
func (e *editor) dial(ctx context.Context, lost func()) (fleet.Bus, func(), error) {
	o, err := e.bus.options("editor")
	if err != nil {
		return nil, nil, err
	}
	o.Lost = lost
	within, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	bus, err := natsbus.Dial(within, o)
	if why := (*natsbus.Problem)(nil); errors.As(err, &why) {
		return nil, nil, why // the desk names the bus
	}
	if err != nil {
		return nil, nil, err
	}
	return bus, bus.Close, nil
}

// newEmit is what agents of local loops call.
func newEmit() *cobra.Command {
	cmd := emit.New()
	cmd.Hidden = true
	return cmd
}
