package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/metrics"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

func newServe() *cobra.Command {
	var bus busFlags
	var log logFlags
	var o natsbus.ServeOptions
	var metricsAt string
	var minFree, maxFiles uint64
	var calls bool
	var submitters []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the bus: JetStream, with its files in a folder",
		Long: `Serve the bus on which loops wait, and on which all that is kept of them stands. It
listens on this machine alone, with a token that only you can read and that your own
commands find, until you give it one. Whoever knows the token can run commands on every
worker: keep it as you keep a key.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			bus.url = o.Listen
			if err := bus.makeToken(); err != nil {
				return err
			}
			if o.Token, err = bus.token(); err != nil {
				return err
			}
			if o.Submitters, err = makeSubmitters(submitters); err != nil {
				return err
			}
			if o.Dir == "" {
				if o.Dir, err = paths.Fleet("bus"); err != nil {
					return err
				}
			}
			logger, err := log.logger(cmd.ErrOrStderr(), o.Token)
			if err != nil {
				return err
			}
			o.Log, o.MinFree, o.MaxFiles = logger, int64(minFree)<<20, int64(maxFiles)<<20
			served, err := natsbus.Serve(o)
			if err != nil {
				return err
			}
			defer served.Close()
			if calls || metricsAt != "" || len(o.Submitters) > 0 {
				inside, err := served.Bus(cmd.Context(), natsbus.Options{Token: o.Token, Name: "serve"})
				if err != nil {
					return err
				}
				defer inside.Close()
				if err := beside(cmd.Context(), served, inside, o, calls, metricsAt); err != nil {
					return err
				}
			}
			logger.Info("the bus is ready", "url", served.URL(), "dir", o.Dir, "version", programVersion())
			<-cmd.Context().Done()
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "", "keep everything in `DIR` (default: a folder of yours)")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4222", "the `ADDRESS` to listen on; port 0 is any that is free")
	f.StringVar(&bus.tokenFile, "token-file", "", "the `FILE` with the token that clients have to know (else RALPH_TOKEN)")
	f.StringArrayVar(&submitters, "submitter", nil, "`NAME=FILE`: who may only submit loops, and see, watch, cancel and "+
		"fetch its own, with the token in FILE, which is made if it isn't there; may be given again")
	f.StringVar(&o.Cert, "tls-cert", "", "the `FILE` with the certificate of the bus")
	f.StringVar(&o.Key, "tls-key", "", "the `FILE` with its key")
	f.StringVar(&metricsAt, "metrics", "", "serve metrics for Prometheus, /healthz and /readyz at `ADDRESS`, as 127.0.0.1:9464")
	f.BoolVar(&calls, "notify", false, "call you about loops, as [notify] of your config.toml says, with no window open")
	f.Uint64Var(&minFree, "min-free", fleet.DefaultMinFree, "keep no more files when less than `MIB` of the disk are free, "+
		"until there is room again")
	f.Uint64Var(&maxFiles, "max-files", 0, "keep at most `MIB` of checkpoints and other files; 0: any number")
	f.BoolVar(&o.SyncAlways, "sync", false, "survive a power failure too: what is kept is on the disk before it counts")
	f.StringVar(&o.Name, "name", "", "the `NAME` of this server in a cluster")
	f.StringVar(&o.Cluster, "cluster-listen", "", "be one of a cluster: the `ADDRESS` for its other servers")
	f.StringSliceVar(&o.Routes, "routes", nil, "the `ADDRESSES` of the other servers of the cluster, with commas between")
	f.StringVar(&o.CA, "ca", "", "the `FILE` with the certificate that the servers of a cluster are known by, with TLS")
	log.addFlags(f)
	return cmd
}

// beside does what is asked of serve beside the bus.
func beside(ctx context.Context, served *natsbus.Served, bus *natsbus.Bus, o natsbus.ServeOptions, calls bool, metricsAt string) error {
	if err := admit(ctx, bus, o); err != nil {
		return err
	}
	if calls {
		if err := callFrom(ctx, bus, o.Log); err != nil {
			return fmt.Errorf("the notifications: %w", err)
		}
	}
	if metricsAt == "" {
		return nil
	}
	well := func(ctx context.Context) error { return natsbus.Well(ctx, bus, natsbus.Stalled) }
	ready := map[string]http.HandlerFunc{"/readyz": served.Ready}
	return metrics.Serve(ctx, metricsAt, metrics.NewBus(ctx, programVersion(), bus).Registry(), well, ready, o.Log)
}
