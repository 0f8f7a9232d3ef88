package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/metrics"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// worker is the command's flags.
type worker struct {
	fleet.Worker
	bus       busFlags
	log       logFlags
	walls     start.Choice
	lease     time.Duration
	metricsAt string
	queuesOf  []string
}

func newWorker() *cobra.Command {
	w := worker{walls: start.Choice{Value: sandbox.Workspace, Of: []string{sandbox.Workspace, sandbox.Off}}}
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run iterations of loops here",
		Long: `Take loops from the bus and run an iteration of each, in checkouts below --dir, with the
agents, logins and keys of this machine. Walls around each agent hide what leads to the
bus. A loop is this worker's for the lease of the bus, which is renewed; when the worker
dies, another one goes on with the iteration.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := w.complete(cmd.Context()); err != nil {
				return err
			}
			return w.work(cmd)
		},
	}
	w.bus.addFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&w.Slots, "slots", 1, "run `N` iterations at the same time")
	f.Var(&w.walls, "sandbox", "the walls around each loop; off: only around those that were submitted with some")
	f.DurationVar(&w.lease, "lease", 0, "begin only if the lease of the bus is this `TIME`; ralph-fleet limits --lease sets "+
		"it for all workers")
	f.DurationVar(&w.Drain, "drain", 0, "iterations have this `TIME` to end by themselves when the worker is told to; it "+
		"takes no more loops then. Without it they are cut off, and run again elsewhere")
	f.StringVar(&w.Dir, "dir", "", "keep repositories and checkouts in `DIR` (default: a folder of yours); each worker needs its own")
	f.StringSliceVar(&w.queuesOf, "queue", nil, "take loops of these `QUEUES` alone; default is those that are in none; without it of all")
	f.StringVar(&w.Name, "name", "", "the `NAME` of the worker in the status (default: host and process)")
	f.StringVar(&w.metricsAt, "metrics", "", "serve metrics for Prometheus, and /healthz, at `ADDRESS`, as 127.0.0.1:9465")
	f.StringArrayVar(&w.Labels, "label", nil, "a `WORD`, as gpu or zone=west, that loops are submitted for and people see; may be given again")
	f.IntVar(&w.Keep, "keep", fleet.DefaultKeep, "keep `N` checkouts of loops that it doesn't run at the moment, and copies of N repositories")
	f.Uint64Var(&w.MinFree, "min-free", fleet.DefaultMinFree, "take no loop when less than `MIB` of the disk are free, and "+
		"remove what isn't used")
	w.log.addFlags(f)
	f.StringVar(&w.Program, "ralph-lsp", "", "the `PROGRAM` that runs iterations (default: beside this one, or in PATH)")
	return cmd
}

// complete finds what wasn't said, and refuses a worker that couldn't do what it is to do.
func (w *worker) complete(ctx context.Context) (err error) {
	if w.Slots < 1 {
		return fmt.Errorf("--slots %d: a worker has at least one", w.Slots)
	}
	if w.Walls = w.walls.Value == sandbox.Workspace; w.Walls {
		if err := canWall(ctx); err != nil {
			return err
		}
	}
	if w.Queues, err = fleet.QueuesOf(w.queuesOf); err != nil {
		return err
	}
	w.Has = slices.Concat(w.Labels, []string{"os=" + runtime.GOOS, "arch=" + runtime.GOARCH})
	w.HasAgent = func(name string) bool {
		agent, err := backends.Lookup(name)
		if err == nil {
			_, err = agent.Find()
		}
		return err == nil
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
		w.Dir, err = paths.Fleet("worker")
	}
	return err
}

// canWall says why loops can't be walled here: each of them would fail.
func canWall(ctx context.Context) error {
	settings, err := config.FilesOf("", backends.Names()).Load()
	if err == nil {
		err = sandbox.Check(ctx, settings.Sandbox.EngineOf())
	}
	if err != nil {
		return fmt.Errorf("this worker can put no walls around loops: %w; or let agents read and write what you may: --sandbox "+
			"off (sandbox below [worker] in %s)", err, config.FleetName)
	}
	return nil
}

// work connects to the bus and runs loops until the command is told to end.
func (w *worker) work(cmd *cobra.Command) error {
	token, err := w.bus.token()
	if err != nil {
		return err
	}
	if w.Log, err = w.log.logger(cmd.ErrOrStderr(), token); err != nil {
		return err
	}
	connected, err := w.bus.dial(cmd.Context(), "worker "+w.Name)
	if err != nil {
		return err
	}
	defer connected.Close()
	if err := agree(cmd.Context(), connected, w.lease); err != nil {
		return err
	}
	w.Bus, w.Log, w.Version = connected, w.Log.With("worker", w.Name), programVersion()
	if w.metricsAt != "" {
		figures := metrics.NewWorker(programVersion(), w.Slots, w.Busy)
		w.Observer = figures.Tell
		if err := metrics.Serve(cmd.Context(), w.metricsAt, figures.Registry(),
			func(ctx context.Context) error { return agree(ctx, connected, 0) }, nil, w.Log); err != nil {
			return err
		}
	}
	w.Log.Info("ready", "slots", w.Slots, "dir", w.Dir, "version", programVersion(), "sandbox", w.walls.Value)
	return w.Run(cmd.Context())
}

// agree refuses a worker that insists on another lease than all others have. Without a ledger nothing begins anyway.
func agree(ctx context.Context, bus fleet.Bus, lease time.Duration) error {
	l, _, err := bus.Ledger(ctx, ledger.CommonPart)
	if errors.Is(err, ledger.ErrBroken) {
		err = nil
	}
	if now := l.Limits.Lasts(); err == nil && lease != 0 && lease != now {
		return fmt.Errorf("--lease %s: the lease of this bus is %s, for all its workers: leave --lease out (lease in "+
			"fleet.toml, too), or change it for all with ralph-fleet limits --lease %[1]s", lease, now)
	}
	return err
}

// sibling finds ralph-lsp.
func sibling() (string, error) {
	if self, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), "ralph-lsp")); err == nil {
			return beside, nil
		}
	}
	path, err := outside.LookPath("ralph-lsp")
	if err != nil {
		return "", fmt.Errorf("there is no ralph-lsp beside this program or in PATH: install it, or say where it is with --ralph-lsp")
	}
	return path, nil
}
