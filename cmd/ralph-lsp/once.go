package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
)

// once are the flags of a run that does one iteration for a program that holds the loop.
type once struct {
	wanted bool
	lease  time.Duration // without a line on stdin for so long, the iteration is cut off; 0: never
	next   chan struct{} // gets a wish for another iteration, where there is a lease
}

func (o *once) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.wanted, "once", false, "run one iteration for a program that goes on with the loop: it ends with standard "+
		"input, and with 3 when there is more to do")
	f.DurationVar(&o.lease, "lease", 0, "with --once: end when standard input brings no line for this `TIME`; until then it "+
		"stays behind its iteration, for a line that says next")
}

// check says whether the flags go together with the command's input.
func (o *once) check(cmd *cobra.Command, needsStdin, detach bool) error {
	switch {
	case !o.wanted && cmd.Flags().Changed("lease"):
		return errors.New("--lease is of --once: add that, or leave --lease out")
	case o.wanted && detach:
		return errors.New("--once is for a program that holds the loop, and --detach lets it go on alone; leave one of them out")
	case o.lease < 0:
		return errors.New("--lease is how long to wait for a line: say it as 30s")
	case o.wanted && needsStdin:
		return errors.New("with --once standard input says how long to run: give the prompt as words or in a file")
	}
	return nil
}

// hold interrupts the iteration when its holder is gone (in ends), or has said nothing for the length of the lease. over is
// closed when the iteration has ended.
func (o *once) hold(in io.Reader, interrupt func(), over <-chan struct{}) {
	if !o.wanted {
		return
	}
	end := sync.OnceFunc(func() {
		select {
		case <-over:
		default:
			interrupt()
		}
	})
	wait := cmp.Or(o.lease, math.MaxInt64)
	lease := time.AfterFunc(wait, end)
	go func() {
		defer end()
		for lines := bufio.NewScanner(in); lines.Scan(); lease.Reset(wait) {
			if lines.Text() == "next" {
				select {
				case o.next <- struct{}{}:
				default: // it has that
				}
			}
		}
	}()
}

// newSetup is the command by which a fleet's worker prepares a checkout: like an iteration
// it ends with its input or its lease, and nothing that it starts outlives it.
func newSetup() *cobra.Command {
	held := once{wanted: true}
	cmd := &cobra.Command{
		Use:    "setup -- COMMAND...",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
	}
	cmd.Flags().DurationVar(&held.lease, "lease", 0, "end when standard input brings no line for this `TIME`")
	return inFolder(cmd, func(cmd *cobra.Command, dir string, commands []string) error {
		ctx, interrupt := context.WithCancel(cmd.Context())
		defer interrupt()
		over := make(chan struct{})
		defer close(over)
		held.hold(cmd.InOrStdin(), interrupt, over)
		err := start.SetUp(ctx, dir, commands, backends.QuickGrace, cmd.OutOrStdout())
		if failed := (*start.SetupError)(nil); errors.As(err, &failed) {
			return errors.New("the setup: " + failed.Words())
		}
		return err
	})
}
