package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/metrics"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/fleet/spans"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

func newServe() *cobra.Command {
	var bus busFlags
	var log logFlags
	var o natsbus.ServeOptions
	var metricsAt string
	var minFree, maxFiles uint64
	var calls bool
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
			if calls || metricsAt != "" {
				inside, err := served.Bus(cmd.Context(), natsbus.Options{Token: o.Token, Name: "serve"})
				if err != nil {
					return err
				}
				defer inside.Close()
				if err := beside(cmd.Context(), inside, calls, metricsAt, logger); err != nil {
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
	f.StringVar(&o.Cert, "tls-cert", "", "the `FILE` with the certificate of the bus")
	f.StringVar(&o.Key, "tls-key", "", "the `FILE` with its key")
	f.StringVar(&metricsAt, "metrics", "", "serve metrics for Prometheus, and /healthz, at `ADDRESS`, as 127.0.0.1:9464")
	f.BoolVar(&calls, "notify", false, "call you about loops, as [notify] of your config.toml says, with no window open")
	f.Uint64Var(&minFree, "min-free", fleet.DefaultMinFree, "keep no more files when less than `MIB` of the disk are free, until there is room again")
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
func beside(ctx context.Context, bus *natsbus.Bus, calls bool, metricsAt string, log *slog.Logger) error {
	if calls {
		if err := callFrom(ctx, bus, log); err != nil {
			return fmt.Errorf("the notifications: %w", err)
		}
	}
	if metricsAt == "" {
		return nil
	}
	well := func(ctx context.Context) error { return natsbus.Well(ctx, bus, natsbus.Stalled) }
	return metrics.Serve(ctx, metricsAt, metrics.NewBus(ctx, programVersion(), bus).Registry(), well, log)
}

func newWorker() *cobra.Command {
	var bus busFlags
	var log logFlags
	var w fleet.Worker
	var lease time.Duration
	var metricsAt string
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run iterations of loops here",
		Long: `Take loops from the bus and run an iteration of each, in checkouts below --dir, with the
agents, logins and keys of this machine. A loop is this worker's for the lease of the
bus, which is renewed; when the worker dies, another one goes on with the iteration.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if w.Slots < 1 {
				return fmt.Errorf("--slots %d: a worker has at least one", w.Slots)
			}
			if w.Program == "" {
				if w.Program, err = sibling(); err != nil {
					return err
				}
			}
			if w.Name == "" {
				host, _ := os.Hostname()
				w.Name = host + "-" + strconv.Itoa(os.Getpid())
			}
			if w.Dir == "" {
				if w.Dir, err = paths.Fleet("worker"); err != nil {
					return err
				}
			}
			token, err := bus.token()
			if err != nil {
				return err
			}
			if w.Log, err = log.logger(cmd.ErrOrStderr(), token); err != nil {
				return err
			}
			connected, err := bus.dial(cmd.Context(), "worker "+w.Name)
			if err != nil {
				return err
			}
			defer connected.Close()
			if err := agree(cmd.Context(), connected, lease); err != nil {
				return err
			}
			w.Bus, w.Log, w.Version = connected, w.Log.With("worker", w.Name), programVersion()
			if metricsAt != "" {
				figures := metrics.NewWorker(programVersion(), w.Slots, w.Busy)
				w.Observers = append(w.Observers, figures.Tell)
				if err := metrics.Serve(cmd.Context(), metricsAt, figures.Registry(), func(ctx context.Context) error { return agree(ctx, connected, 0) }, w.Log); err != nil {
					return err
				}
			}
			if spans.Wanted() {
				traced, err := spans.Start(cmd.Context(), w.Name, programVersion(), w.Log)
				if err != nil {
					return fmt.Errorf("the collector that OTEL_EXPORTER_OTLP_ENDPOINT names: %w", err)
				}
				defer traced.Close()
				w.Observers = append(w.Observers, traced.Tell)
			}
			w.Log.Info("ready", "slots", w.Slots, "dir", w.Dir, "version", programVersion())
			return w.Run(cmd.Context())
		},
	}
	bus.addFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&w.Slots, "slots", 1, "run `N` iterations at the same time")
	f.DurationVar(&lease, "lease", 0, "begin only if the lease of the bus is this `TIME`; ralph-fleet limits --lease sets it for all workers")
	f.StringVar(&w.Dir, "dir", "", "keep repositories and checkouts in `DIR` (default: a folder of yours); each worker needs its own")
	f.StringVar(&w.Name, "name", "", "the `NAME` of the worker in the status (default: host and process)")
	f.StringVar(&metricsAt, "metrics", "", "serve metrics for Prometheus, and /healthz, at `ADDRESS`, as 127.0.0.1:9465")
	f.StringArrayVar(&w.Labels, "label", nil, "a `WORD` that people see with its name; may be given again")
	f.IntVar(&w.Keep, "keep", fleet.DefaultKeep, "keep `N` checkouts of loops that it doesn't run at the moment, and copies of N repositories")
	f.Uint64Var(&w.MinFree, "min-free", fleet.DefaultMinFree, "take no loop when less than `MIB` of the disk are free, and remove what isn't used")
	log.addFlags(f)
	f.StringVar(&w.Program, "ralph-lsp", "", "the `PROGRAM` that runs iterations (default: beside this one, or in PATH)")
	return cmd
}

// agree refuses a worker that insists on another lease than all others have. Without a ledger nothing begins anyway.
func agree(ctx context.Context, bus fleet.Bus, lease time.Duration) error {
	l, _, err := bus.Ledger(ctx)
	if errors.Is(err, fleet.ErrLedger) {
		err = nil
	}
	if now := l.Limits.Lasts(); err == nil && lease != 0 && lease != now {
		return fmt.Errorf("--lease %s: the lease of this bus is %s, for all its workers: leave --lease out (lease in fleet.toml, too), or change it for all with ralph-fleet limits --lease %[1]s", lease, now)
	}
	return err
}

// sibling finds ralph-lsp.
func sibling() (string, error) {
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), "ralph-lsp"); exec.Command(beside).Err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath("ralph-lsp")
	if err != nil {
		return "", fmt.Errorf("there is no ralph-lsp beside this program or in PATH: install it, or say where it is with --ralph-lsp")
	}
	return path, nil
}
