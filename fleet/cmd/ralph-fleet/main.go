// Command ralph-fleet runs loops on many machines: a bus, workers, and what a user says to them.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/emit"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/keeper"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

func main() {
	if client.IsKeeper(os.Args) { // of a loop that an editor has begun on this machine
		keeper.Main()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) }) // who says it again wants no order
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	plain := &stream.SanitizeWriter{To: stderr}
	root := newRoot(stdout)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(&stream.SanitizeWriter{To: stdout}) // what the bus has is written by others
	root.SetErr(plain)
	cli.AddCompletion(root)
	if err := root.ExecuteContext(ctx); err != nil {
		if exit := (exitCode)(0); errors.As(err, &exit) {
			return int(exit) // the log has said why
		}
		fmt.Fprintln(plain, "ralph-fleet: "+format.WithoutUserinfo(err.Error()))
		return 1
	}
	return 0
}

// newRoot is the program without its output; the wire goes to stdout as it is.
func newRoot(stdout io.Writer) *cobra.Command {
	var editor editor
	root := &cobra.Command{
		Use: "ralph-fleet", Short: "Run Ralph loops on many machines", SilenceErrors: true, SilenceUsage: true,
		Annotations: map[string]string{cli.Begins: `ralph-fleet submit "..."`},
		RunE:        func(cmd *cobra.Command, _ []string) error { return editor.serve(cmd, stdout) },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := caller.Self().May(cli.Words(cmd)); err != nil {
				return err
			}
			if cmd == cmd.Root() || cmd.Flags().Lookup("token-file") == nil { // it settles itself, or needs no bus
				return nil
			}
			return settle(cmd)
		},
	}
	editor.addFlags(root)
	cli.Overview(root, overview)
	handOver := emit.New() // what agents of local loops call
	handOver.Hidden = true
	root.AddCommand(newServe(), newWorker(), newSubmit(), newStatus(), newWatch(), newFetch(), newLand(), newLimits(),
		newBudget(), newQueue(), newRemove(),
		newControl("pause", "Let loops end their iteration, and begin no other", thatGoOn(), pauseLoop), newResume(), newNext(), newAnswer(),
		newCancel(), newSteer(), newDoctor(), handOver)
	cli.Versioned(root, programVersion())
	root.SetHelpCommand(cli.NewHelp())
	return root
}

// busFlags say which bus a command speaks to.
type busFlags struct {
	url, tokenFile, ca, creds, nkey string

	lost, back func() // are called when the connection is lost, and there again; nil: nobody wants to know
}

func (b *busFlags) addFlags(cmd *cobra.Command) { b.addTo(cmd.Flags()) }

func (b *busFlags) addTo(f *pflag.FlagSet) {
	f.StringVar(&b.url, "bus", "", "the `URL` of the bus; of a cluster each server's, with commas between (RALPH_BUS; "+
		"default nats://127.0.0.1:4222)")
	f.StringVar(&b.tokenFile, "token-file", "", "the `FILE` with the token of the bus (else RALPH_TOKEN)")
	f.StringVar(&b.ca, "ca", "", "the `FILE` with the certificate that the bus is known by")
	f.StringVar(&b.creds, "creds", "", "the `FILE` with the credentials of a user of an existing NATS")
	f.StringVar(&b.nkey, "nkey", "", "the `FILE` with the seed of a key that an existing NATS knows")
}

// options say how to reach the bus.
func (b *busFlags) options(name string) (natsbus.Options, error) {
	if err := b.conceal(); err != nil {
		return natsbus.Options{}, err
	}
	token, err := b.token()
	if who := natsbus.SubmitterOf(token); who != "" {
		err = &natsbus.Problem{What: "the token is of the submitter " + who, Fix: "that one may only submit loops, and see, " +
			"watch, cancel and fetch its own: this needs the token of the bus"}
	}
	o := b.reach(name)
	o.Token = token
	return o, err
}

// reach says where the bus is.
func (b *busFlags) reach(name string) natsbus.Options {
	return natsbus.Options{URL: cmp.Or(b.url, "nats://127.0.0.1:4222"), Creds: b.creds, NKey: b.nkey, CA: b.ca, Name: name,
		Lost: b.lost, Back: b.back}
}

// dialPatience bounds how long it may take to open a bus.
const dialPatience = 30 * time.Second

// dial connects to the bus.
func (b *busFlags) dial(ctx context.Context, name string) (*natsbus.Bus, error) {
	o, err := b.options(name)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	return natsbus.Dial(within, o)
}

// with connects a command to the bus while do runs.
func (b *busFlags) with(cmd *cobra.Command, do func(ctx context.Context, bus *natsbus.Bus) error) error {
	bus, err := b.dial(cmd.Context(), cmd.Name())
	if err != nil {
		return err
	}
	defer bus.Close()
	return natsbus.Explained(do(cmd.Context(), bus))
}
