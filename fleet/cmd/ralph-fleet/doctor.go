package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/cli"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/git"
	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// doctor looks at a fleet from one machine.
type doctor struct {
	bus     busFlags
	command *cobra.Command
	file    config.Fleet
	only    start.Choice // "" is both
	expects string       // a worker that has to be there
	dir     string       // the worker's
	program string       // ralph-lsp
	checks  []answers.Check
}

func newDoctor() *cobra.Command {
	var d doctor
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the bus, its workers, and whether this machine can be one",
		Args:  cli.NoArguments,
		// A file with mistakes is one of the things that are looked at.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.command = cmd
			d.examine(cmd.Context())
			if asJSON {
				return errors.Join(json.NewEncoder(cmd.OutOrStdout()).Encode(answers.DoctorResult{Checks: d.checks}), d.show(io.Discard))
			}
			return d.show(cmd.OutOrStdout())
		},
	}
	d.bus.addFlags(cmd)
	f := cmd.Flags()
	d.only.Of = []string{"bus", "worker"}
	f.Var(&d.only, "only", "look at one part alone; worker is this machine as one")
	f.StringVar(&d.expects, "expect", "", "the worker of that `NAME` has to be there")
	f.StringVar(&d.dir, "dir", "", "the `DIR` of this machine's worker (default: a folder of yours)")
	f.StringVar(&d.program, "ralph-lsp", "", "the `PROGRAM` that runs its iterations (default: beside this one, or in PATH)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// show prints what was found. It is an error if something keeps loops from running.
func (d *doctor) show(out io.Writer) error {
	n := terminal.PrintChecks(out, terminal.Palette{}, 0, d.checks)
	if n == 0 {
		return nil
	}
	return errors.New(format.Counted(n, "problem") + " found, marked ✗ above; a fleet can't run as it should until that is mended")
}

func (d *doctor) add(c answers.Check) {
	c.Message, c.Fix = stream.Line(format.WithoutUserinfo(c.Message), 500), stream.Line(c.Fix, 500)
	d.checks = append(d.checks, c)
}

func (d *doctor) good(id, format string, args ...any) {
	d.add(answers.Check{ID: id, OK: true, Message: fmt.Sprintf(format, args...)})
}

func (d *doctor) bad(id, fix, format string, args ...any) {
	d.add(answers.Check{ID: id, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// explain says why something of the bus can't be used, behind what that is.
func (d *doctor) explain(id, what string, err error, o natsbus.Options) {
	p := natsbus.Explain(err, o)
	d.bad(id, p.Fix, "%s%s", what, p.What)
}

func (d *doctor) note(id, fix, format string, args ...any) {
	d.add(answers.Check{ID: id, Optional: true, Message: fmt.Sprintf(format, args...), Fix: fix})
}

func (d *doctor) examine(ctx context.Context) {
	d.good("version", "ralph-fleet %s, %s/%s", programVersion(), runtime.GOOS, runtime.GOARCH)
	d.checkSettings()
	if d.only.Value != "worker" {
		d.checkBus(ctx)
	}
	if d.only.Value != "bus" {
		d.checkMachine(ctx)
	}
}

// checkSettings says what counts here, and where it comes from.
func (d *doctor) checkSettings() {
	dir, err := config.UserDir()
	if err != nil {
		d.note("config", "set HOME, or give everything as flags", "there is no %s: %v", config.FleetName, err)
	} else {
		name := filepath.Join(dir, config.FleetName)
		d.file, err = config.LoadFleet(dir)
		switch invalid := (*config.InvalidError)(nil); {
		case errors.As(err, &invalid):
			for _, p := range invalid.Problems {
				d.bad("config", "mend it: no command runs until then", "%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
			}
		case err != nil:
			d.bad("config", "", "%v", err)
		case !isThere(name):
			d.good("config", "there is no %s: flags and the environment say everything", name)
		default:
			d.good("config", "%s is read", name)
		}
	}
	if err := fillIn(d.command, d.file); err != nil {
		d.bad("config", "", "%v", err)
	}
	for _, key := range config.FleetKeys() {
		name := strings.Join(key.Path, ".")
		if value, from := d.source(key, name); key.Type != config.Table && value != "" {
			d.good("setting."+name, "%s = %s (%s)", name, value, from)
		}
	}
	d.checkToken()
}

func isThere(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// source is what counts of a key, and who says it.
func (d *doctor) source(key config.Key, name string) (value, from string) {
	flag := d.command.Flags().Lookup(strings.ReplaceAll(name, "_", "-"))
	if name == "worker.dir" {
		flag = d.command.Flags().Lookup("dir")
	}
	values := setting(name, d.file)
	switch {
	case flag != nil && flag.Changed:
		return flag.Value.String(), "the arguments"
	case len(values) > 0 && len(d.file[name]) > 0 && slices.Equal(values, d.file[name]) && os.Getenv(fromEnv[name]) == "":
		return strings.Join(values, ", "), "your " + config.FleetName
	case len(values) > 0:
		return strings.Join(values, ", "), fromEnv[name]
	}
	return strings.Trim(key.Default, `"`), "built in"
}

// checkToken says whether there is one, and who can read it.
func (d *doctor) checkToken() {
	file := d.bus.tokenPlace()
	if file == "" || d.bus.tokenFile == "" && !isThere(file) {
		if os.Getenv("RALPH_TOKEN") != "" {
			d.good("token", "there is a token (RALPH_TOKEN)")
		} else {
			d.good("token", "there is no token: ralph-fleet serve makes one for a bus of this machine")
		}
		return
	}
	info, err := os.Stat(file)
	token, errToken := d.bus.token()
	switch {
	case err != nil:
		d.bad("token", "write the token there, or name another file", "the token: %v", err)
	case errToken != nil:
		d.bad("token", "let the user that runs this read it", "%v", errToken)
	case token == "":
		d.bad("token", "write the token there, or name another file", "the token: %s is empty", file)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o044 != 0:
		d.note("token", "chmod 600 "+file, "others than you can read the token: %s (%s)", file, info.Mode().Perm())
	default:
		d.good("token", "the token is in %s", file)
	}
}

// busPatience is how long the bus may take for all that the doctor asks.
const busPatience = 15 * time.Second

// farApart is how much clocks may differ before waits and leases get strange.
const farApart = 2 * time.Second

func (d *doctor) checkBus(ctx context.Context) {
	o, err := d.bus.options("doctor")
	if p := (*natsbus.Problem)(nil); errors.As(err, &p) {
		d.bad("bus", p.Fix, "%s", p.What)
	}
	if err != nil {
		return // or the token's check says so
	}
	ctx, cancel := context.WithTimeout(ctx, busPatience)
	defer cancel()
	bus, err := natsbus.Dial(ctx, o)
	if err != nil {
		d.explain("bus", "the bus "+o.URL+" can't be used: ", err, o)
		return
	}
	defer bus.Close()
	h, err := bus.Look(ctx)
	if err != nil {
		d.explain("bus", "the bus "+o.URL+" can't be looked at: ", err, o)
		return
	}
	walls := "without TLS"
	if h.IsTLS {
		walls = "with TLS"
	}
	d.good("bus", "the bus %s answers in %s, %s: %s; it has its queue since %s", o.URL, h.Took.Round(100*time.Microsecond),
		walls, h.Server, h.Born.Local().Format(time.DateTime))
	d.checkStores(h)
	if disk, isTold := natsbus.DiskOf(ctx, bus); isTold && !disk.IsFull() {
		d.good("bus.disk", "%s", disk)
	}
	if _, err := ledger.Whole(ctx, bus); err != nil {
		d.explain("ledger", "", err, o)
	}
	d.checkClock("clock", "this machine's clock", h.Ahead, h.Took)
	d.checkWorkers(ctx, bus)
	if err := natsbus.Well(ctx, bus, natsbus.Stalled); err != nil {
		d.explain("queue", "", err, o)
	}
}

func (d *doctor) checkStores(h natsbus.Health) {
	kept := fmt.Sprintf("JetStream keeps %s", format.Bytes(int64(h.Used)))
	for _, s := range h.Stores {
		kept += fmt.Sprintf("; %s %s", s.Name, format.Bytes(int64(s.Bytes)))
		if s.Replicas > 1 {
			kept += fmt.Sprintf(" on %d servers", s.Replicas)
		}
	}
	switch {
	case h.Max > 0 && int64(h.Used) > h.Max/10*9:
		d.bad("bus.store", "remove loops that have ended (ralph-fleet remove), or let it keep more", "%s of %s that it may", kept,
			format.Bytes(h.Max))
	case h.Max > 0:
		d.good("bus.store", "%s; it may keep %s", kept, format.Bytes(h.Max))
	default:
		d.good("bus.store", "%s", kept)
	}
}

// littleSpace is when a disk is as good as full.
const littleSpace = 1 << 30

func (d *doctor) checkFree(id, dir string) {
	switch free, err := paths.Free(dir); {
	case err != nil:
		d.note(id, "", "how much space %s has can't be said: %v", dir, err)
	case free < littleSpace:
		d.bad(id, "make space: at least 1 GB", "%s has only %s left", dir, format.Bytes(free))
	default:
		d.good(id, "%s has %s left", dir, format.Bytes(free))
	}
}

func (d *doctor) checkClock(id, whose string, ahead, give time.Duration) {
	apart := ahead.Abs()
	word := "ahead of"
	if ahead < 0 {
		word = "behind"
	}
	if apart > farApart+give {
		d.bad(id, "let both follow a time server: waits end at the wrong time else", "%s is %s %s the bus's", whose,
			apart.Round(time.Millisecond), word)
	} else if id == "clock" {
		d.good(id, "%s is that of the bus, give or take %s", whose, (apart + give).Round(time.Millisecond))
	}
}

func (d *doctor) checkWorkers(ctx context.Context, bus *natsbus.Bus) {
	workers, err := bus.Workers(ctx)
	if err != nil {
		d.bad("workers", "", "which workers are there can't be said: %v", err)
		return
	}
	d.add(answers.Check{ID: "workers", OK: len(workers) > 0, Optional: d.only.Value == "bus" && d.expects == "",
		Message: tellWorkers(workers), Fix: "start one where the agents are: ralph-fleet worker"})
	found := d.expects == ""
	for _, w := range workers {
		line := fmt.Sprintf("worker %s: %s, %d of %s busy, there since %s", w.Name, w.Version, w.Busy,
			format.Counted(w.Slots, "slot"), w.Since.Local().Format(time.DateTime))
		if len(w.Labels) > 0 {
			line += " (" + strings.Join(w.Labels, ", ") + ")"
		}
		if w.Sandbox == sandbox.Off {
			line += "; no walls around loops that weren't submitted with some"
		} else if w.Sandbox != "" {
			line += "; walls around each loop"
		}
		if w.Version != programVersion() {
			d.note("worker."+w.Name, "install the same version on all machines when you can", "%s; that is another version than this one", line)
		} else {
			d.good("worker."+w.Name, "%s", line)
		}
		if w.Fails() {
			d.note("worker."+w.Name+".attempts", "see its log, and ralph-fleet doctor --only worker on its machine",
				"the last %d attempts failed on worker %s: %s", w.Failed, w.Name, w.Problem)
		}
		d.checkClock("worker."+w.Name+".clock", "the clock of worker "+w.Name, w.Ahead, time.Second)
		found = found || w.Name == d.expects
	}
	if !found {
		d.bad("worker."+d.expects, "see its log", "worker %s isn't there", d.expects)
	}
}

// tellWorkers says in a line who is there.
func tellWorkers(workers []fleet.Presence) string {
	if len(workers) == 0 {
		return "no worker is there"
	}
	slots, busy, failing := 0, 0, ""
	for _, w := range workers {
		slots, busy = slots+w.Slots, busy+w.Busy
		if w.Fails() {
			failing += "; each attempt fails on " + w.Name
		}
	}
	are := "are"
	if len(workers) == 1 {
		are = "is"
	}
	return fmt.Sprintf("%s %s there, %d of %s busy%s",
		format.Counted(len(workers), "worker"), are, busy, format.Counted(slots, "slot"), failing)
}

// checkMachine says whether this machine can be a worker.
func (d *doctor) checkMachine(ctx context.Context) {
	if program, err := git.Find(); err != nil {
		d.bad("git", "install git", "%v", err)
	} else {
		out, _ := outside.Command(ctx, program, "--version").Output() // what it says is for people
		d.good("git", "%s at %s", strings.TrimSpace(string(out)), program)
	}
	dir, err := d.workerDir()
	if err != nil {
		d.bad("worker.dir", "name one: --dir, or dir below [worker] in fleet.toml", "%v", err)
		return
	}
	d.checkFree("worker.free", dir)
	d.checkWalls(ctx)
	program := d.program
	if program == "" {
		if program, err = sibling(); err != nil {
			d.bad("ralph-lsp", "", "%v", err)
			return
		}
	}
	d.askSibling(ctx, program, dir)
}

// checkWalls says what a worker here does for walls, as it finds that out itself: what ralph-lsp does without a fleet is
// something else.
func (d *doctor) checkWalls(ctx context.Context) {
	if slices.Equal(d.file["worker.sandbox"], []string{sandbox.Off}) {
		d.note("sandbox", "leave sandbox = \"off\" out of "+config.FleetName+", if this machine isn't a wall itself",
			"a worker here puts walls only around loops that were submitted with some: agents of others read what it may")
		return
	}
	if err := canWall(ctx); err != nil {
		d.bad("sandbox", "", "%v", err)
		return
	}
	d.good("sandbox", "a worker here puts walls around each loop")
}

// workerDir makes the folder of this machine's worker.
func (d *doctor) workerDir() (dir string, err error) {
	if dir = d.dir; dir == "" {
		dir = strings.Join(d.file["worker.dir"], "")
	}
	if dir == "" {
		if dir, err = paths.Fleet("worker"); err != nil {
			return "", err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// loopsHere are the checks of ralph-lsp's doctor that say whether a worker's loops can run.
var loopsHere = []string{"version", "folder", "backend", "config"}

// askSibling has the program that runs iterations look at this machine.
func (d *doctor) askSibling(ctx context.Context, program, dir string) {
	cmd := outside.Command(ctx, program, "doctor", "--json", "-C", dir)
	out, err := cmd.Output()
	var said answers.DoctorResult
	if problem := json.Unmarshal(out, &said); problem != nil {
		d.bad("ralph-lsp", "run it yourself to see why: "+program+" doctor", "%s says nothing of use: %v", program, errors.Join(err, problem))
		return
	}
	for _, c := range said.Checks {
		isBackend := strings.HasPrefix(c.ID, "backend.")
		if !isBackend && !slices.Contains(loopsHere, c.ID) {
			continue
		}
		c.Optional = isBackend
		if c.ID == "version" {
			c.ID, c.Message = "ralph-lsp", c.Message+" at "+program
			if !strings.HasPrefix(c.Message, "ralph-lsp "+programVersion()+",") {
				c.OK, c.Optional, c.Fix = false, true, "install both programs of one version"
			}
		}
		d.add(c)
	}
}
