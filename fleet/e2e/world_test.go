//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// patience bounds what a test waits for; only a hang reaches it.
const patience = proctest.Patience

// token opens the bus.
const token = "open-sesame"

// A worker's lease: a short one where it is to be lost, and else one that no load can exceed.
const (
	short = 8 * time.Second
	long  = 2 * time.Minute
)

// world is a bus, and a repository for its loops.
type world struct {
	t    testing.TB
	dir  string
	addr string // of the bus
	repo string
	log  string // what agents did
	mark string // of all processes of this world
	bus  *exec.Cmd

	view *view

	from  string        // the folder with the programs that are started; "" is those under test
	lease time.Duration // that the bus was told
	flags []string      // with which workers and users reach the bus
	env   []string      // of all that is started
}

// newWorld serves a bus.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := prepare(t)
	w.addr = freeAddresses(t, 1)[0] // the same port after a restart
	w.serve()
	return w
}

// prepare makes a world without a bus.
func prepare(t testing.TB) *world {
	t.Helper()
	if test, ok := t.(*testing.T); ok {
		test.Parallel()
	}
	w := &world{t: t, dir: t.TempDir(), view: new(view)}
	t.Cleanup(w.view.close)
	w.repo, w.log, w.mark = filepath.Join(w.dir, "repo"), filepath.Join(w.dir, "log"), "RALPH_FLEET_WORLD="+w.dir
	for _, args := range [][]string{{"init", "-q", w.repo}, {"-C", w.repo, "config", "user.name", "User"}, {"-C", w.repo, "config", "user.email", "u@x"}} {
		w.git(args...)
	}
	w.write("repo/.gitignore", "ignored\n")
	w.write("repo/a.txt", "one\n")
	w.git("-C", w.repo, "add", "-A")
	w.git("-C", w.repo, "commit", "-q", "-m", "base")
	t.Cleanup(func() { proctest.CheckNone(t, patience, w.mark) })
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// start starts ralph-fleet; what it says goes to a file, and to the test's log at the end.
func (w *world) start(name string, args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(cmp.Or(w.from, programs), "ralph-fleet"), args...)
	cmd.Env = append(os.Environ(), w.mark, "PATH="+filepath.Join(w.dir, "bin")+":"+os.Getenv("PATH"), roleEnv+"=agent", logEnv+"="+w.log, "RALPH_TEST_KEY=sk-very-secret", "RALPH_TOKEN="+token)
	cmd.Env = append(cmd.Env, w.env...)
	said, err := os.OpenFile(filepath.Join(w.dir, name+".said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGCONT)
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		said.Close()
		if w.t.Failed() {
			text, _ := os.ReadFile(said.Name())
			w.t.Logf("%s said:\n%s", name, text)
		}
	})
	return cmd
}

// serve starts the bus, and waits until it takes connections.
func (w *world) serve(flags ...string) {
	w.t.Helper()
	w.bus = w.start("bus", append([]string{"serve", "--dir", filepath.Join(w.dir, "bus"), "--listen", w.addr}, flags...)...)
	w.until("the bus", func() bool { return isReady(w.addr) })
}

// worker starts a worker without walls that reaches the bus at an address, whose lease is this one by then.
func (w *world) worker(name string, slots int, addr string, lease time.Duration, flags ...string) *exec.Cmd {
	w.t.Helper()
	if w.lease != lease {
		w.until("the lease", func() bool { _, err := w.run("limits", "--lease", lease.String()); return err == nil })
		w.lease = lease
	}
	args := []string{"worker", "--bus", "nats://" + addr, "--name", name, "--dir", filepath.Join(w.dir, name), "--slots", fmt.Sprint(slots), "--lease", lease.String()}
	args = append(args, "--sandbox", "off") // the agents of these tests write what they do into one log
	return w.start(name, slices.Concat(args, w.flags, flags)...)
}

// run runs a command of a user's.
func (w *world) run(args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(programs, "ralph-fleet"), slices.Concat(args, []string{"--bus", "nats://" + w.addr}, w.flags)...)
	var out, problem bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(append(os.Environ(), w.mark, "RALPH_TOKEN="+token), w.env...), &out, &problem
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("ralph-fleet %v: %w: %s", args, err, problem.String())
	}
	return out.String(), nil
}

func (w *world) must(args ...string) string {
	w.t.Helper()
	out, err := w.run(args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// submit submits a loop with this name, whose agent does what the words say.
func (w *world) submit(name, words string, flags ...string) {
	w.t.Helper()
	w.must(append([]string{"submit", "--repo", w.repo, "--name", name, "--backend", os.Args[0], "--completion-promise", "DONE",
		"name=" + name + " " + words}, flags...)...)
}

// seen is a loop in the status, as it stands on the bus.
type seen struct {
	LoopID, Name, State, Text, Host, StopReason string
	Iterations, Attempt                         int
	Questions                                   []wire.Question
	Tasks                                       *wire.Tasks
}

// status asks the bus itself, again and again: a process for each look would keep a processor busy.
func (w *world) status() (all map[string]seen) {
	w.t.Helper()
	all = map[string]seen{}
	records, shown, err := w.look(context.Background())
	if err != nil { // by a connection that was lost meanwhile
		records, shown, err = w.look(context.Background())
	}
	if err != nil {
		return all // the bus may be away
	}
	for _, r := range records {
		l := fleet.StatusOf(r, shown[r.ID], "", time.Now())
		all[r.Name] = seen{l.LoopID, r.Name, string(r.Phase), l.Text, l.Host, r.StopReason, r.Iterations, r.Attempt, l.Questions, l.Tasks}
	}
	return all
}

// look returns the loops on the bus, and what those that run show.
func (w *world) look(ctx context.Context) (all []fleet.Record, shown map[string]fleet.Shown, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	v := w.view
	if v.bus == nil || v.addr != w.addr {
		v.close()
		o := natsbus.Options{URL: "nats://" + w.addr, Token: token, Name: "test"}
		if i := slices.Index(w.flags, "--ca"); i >= 0 {
			o.CA = w.flags[i+1]
		}
		if v.bus, err = natsbus.Dial(ctx, o); err != nil {
			return nil, nil, err
		}
		v.addr = w.addr
	}
	all, _, err = v.bus.List(ctx)
	if err == nil {
		shown, err = fleet.Gather(ctx, v.bus, all, 400*time.Millisecond)
	}
	if err != nil {
		v.close() // a bus that is started anew has a connection of its own
	}
	return all, shown, err
}

// view is the test's own connection to the bus.
type view struct {
	bus  *natsbus.Bus // nil: there is none
	addr string
}

func (v *view) close() {
	if v.bus != nil {
		v.bus.Close()
		v.bus = nil
	}
}

// until waits for something.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	for begun := time.Now(); !is(); proctest.Pause(begun) {
		if time.Since(begun) > patience {
			w.t.Fatalf("not within %s: %s\nagents: %s\nloops: %+v", patience, what, w.did(), w.status())
		}
	}
}

// ends waits for the end of a loop.
func (w *world) ends(name string) (s seen) {
	w.t.Helper()
	w.until("the end of "+name, func() bool {
		s = w.status()[name]
		return s.State == "ended"
	})
	return s
}

// did is what the agents did, a line each: "begin one 3".
func (w *world) did() string {
	data, _ := os.ReadFile(w.log) // none yet
	return string(data)
}

func (w *world) hasDone(line string) func() bool {
	return func() bool { return strings.Contains("\n"+w.did(), "\n"+line+"\n") }
}

// counted checks what a loop came to, in a branch of the user's.
func (w *world) counted(name string, runs int) {
	w.t.Helper()
	branch := strings.Fields(w.must("fetch", name, "--into", w.repo))[1]
	if got := w.git("-C", w.repo, "show", branch+":count"); got != fmt.Sprint(runs) {
		w.t.Errorf("%s counted %s runs, want %d", name, got, runs)
	}
}

func kill(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
}
