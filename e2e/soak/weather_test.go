//go:build soak && linux

package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
)

// script has what the runs of an iteration do, one after the other; behind these, and in other iterations, they work.
var script = map[int][]deed{
	20:  {cutOff},
	40:  {unreachable, unreachable},
	60:  {limited}, // claude, so pi works
	70:  {limited}, // pi, so gemini works
	80:  {limited}, // gemini, so nobody works until the user says so
	100: {hangs},
	110: {refused},
	112: {lies},
	115: {lies}, 116: {lies}, 117: {lies}, 118: {lies},
	120: {asks},
	140: {fills},
	170: {cutOff},
	175: {asks},
	200: {finishes},
}

// deedOf is what a run of an iteration does behind so many others.
func deedOf(n, before int) deed {
	if all := script[n]; before < len(all) {
		return all[before]
	}
	return works
}

const (
	diskVar    = "RALPH_SOAK_DISK" // a folder, in which diskName is a small disk
	programVar = "RALPH_SOAK_PROGRAM"
	diskName   = "disk"
)

// A night of 200 iterations has weather of each kind, three vendors and a liar. The receipt is what the script did, line
// by line, and each end on the way names its cause and a command. The user is awake and waits for no pause, so it takes
// half a minute; loop/engine holds how long pauses are (TestTheNetworkIsWaitedFor).
func TestANightOfWeather(t *testing.T) {
	disk := os.Getenv(diskVar)
	if disk == "" {
		onASmallDisk(t)
		return
	}
	w := weatherIn(t, disk)
	w.leg(func() { w.kills(20) },
		"the process of the loop is gone in iteration 20, it was killed; go on with ralph-lsp resume",
		"run", "--backend", "claude", "--max-iterations", "180", "--max-time", "0", "--max-unchanged-iterations", "0",
		"--completion-promise", "DONE", "--verify", "test -e "+finishedName, "Build it")
	w.leg(func() {
		w.waitsFor("network", 2)
		w.says("resume")
		w.waitsFor("rate_limit", 1)
		w.says("resume")
		w.begins(100, hangs)
		w.says("pause")
		w.says("update", "--idle-timeout", "1s", "--tool-timeout", "1s")
		w.is("paused")
		w.says("update", "--idle-timeout", "10m", "--tool-timeout", "1h")
		w.says("resume")
	},
		"the promises weren't true (test -e finished failed (exit 1)); look at what the verification says, and change the prompt or the code, then ralph-lsp resume, or start anew with run --replace",
		"resume")
	w.leg(func() {
		w.begins(140, fills)
		w.says("pause") // so that only one run meets the full disk
		w.write(filepath.Join(w.own, pausedName), "")
		w.until("what is lost is told", func() bool { return strings.Contains(w.said.String(), "can't be shown or undone") })
		w.is("paused")
		w.must(os.Remove(w.path(fillerName)))
		w.says("resume")
		w.kills(170)
	},
		"the process of the loop is gone in iteration 170, it was killed; go on with ralph-lsp resume",
		"resume", "--permissions", "ask", "--ask-timeout", "1s")
	w.leg(func() {
		w.begins(175, asks)
		w.until("it asks", func() bool { return len(w.status().Questions) > 0 })
		w.says("answer", "deny", "Not yet")
	},
		"ralph-lsp resume --max-iterations 360 goes on, ralph-lsp cancel discards it",
		"resume", "--ask-timeout", "1h")
	w.leg(func() {}, "", "resume", "--max-iterations", "250")

	did := accountOf(t, string(w.log()))
	shown, err := w.ralph("status").Output()
	w.must(err)
	isAlike(t, "the receipt", always(string(shown)), did.receipt(w.work()))
	var said struct {
		Last struct {
			Account struct{ Failures, Refused, Unanswered, Limits, Warnings account.List }
		}
	}
	out, err := w.ralph("status", "--json").Output()
	w.must(err)
	w.must(json.Unmarshal(out, &said))
	a := said.Last.Account
	for name, list := range map[string][2]account.List{
		"failed": {a.Failures, did.failed}, "refused": {a.Refused, did.refused}, "no answer": {a.Unanswered, did.unanswered}, "limits": {a.Limits, did.limits}, "warned": {a.Warnings, did.warned},
	} {
		isAlike(t, name, always(lines(list[0])), lines(list[1]))
	}
	w.isUndone()
}

// isAlike compares texts line by line.
func isAlike(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// onASmallDisk runs this test where its folder is a disk of its own.
func onASmallDisk(t *testing.T) {
	walltest.Need(t)
	dir := testhome.Short(t)
	self, err := os.Executable()
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, diskName), 0o700)
	}
	must.OK(t, err)
	program, err := built()
	must.OK(t, err)
	cmd := exec.Command("bwrap", "--dev-bind", "/", "/", "--size", strconv.Itoa(64<<20), "--tmpfs", filepath.Join(dir, diskName), "--die-with-parent", "--",
		self, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), diskVar+"="+dir, programVar+"="+program)
	if out, err := cmd.CombinedOutput(); err != nil || testing.Verbose() {
		t.Logf("%s", out)
		if err != nil {
			t.Fail()
		}
	}
}

// weather is a night of vendors.
type weather struct {
	*night
	own  string        // a folder on another disk: what the vendors have done is there
	said *text         // by the leg under way
	over chan struct{} // closed at its end
}

func weatherIn(t *testing.T, folder string) *weather {
	w := &weather{own: folder, night: &night{T: t, folder: filepath.Join(folder, diskName), program: os.Getenv(programVar)}}
	self, err := os.Executable()
	w.must(err)
	for _, dir := range []string{w.work(), w.path(homeName, "ralph-lsp"), w.path("bin")} {
		w.must(os.MkdirAll(dir, 0o700))
	}
	for name := range versions {
		w.must(os.Symlink(self, w.path("bin", name)))
	}
	w.must(testhome.Offered(w.path(homeName)))
	w.write(w.path(homeName, "ralph-lsp", "config.toml"), "fallback = [{backend = \"pi\", on = [\"rate_limit\", \"quota\"]}, {backend = \"gemini\", on = [\"rate_limit\", \"quota\"]}]\n[notify]\nkeep_awake = false\n")
	w.write(w.path(homeName, ".gitconfig"), "[user]\n\tname = a\n\temail = a@b\n")
	for i := range files {
		w.write(filepath.Join(w.work(), fileName(i)), before)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "x"}} {
		w.git(args...)
	}
	w.write(filepath.Join(w.own, logName), "")
	return w
}

// leg is a part of the night: a command, what its user does meanwhile, and the line that says at its end what helps.
func (w *weather) leg(during func(), help string, args ...string) {
	w.Helper()
	cmd := w.ralph(append(args[:1:1], append([]string{"--output", "console"}, args[1:]...)...)...)
	w.said, w.over = &text{}, make(chan struct{})
	cmd.Stdout, cmd.Stderr = w.said, w.said
	w.must(cmd.Start())
	go func() {
		_ = cmd.Wait() // what it says tells its end
		close(w.over)
	}()
	during()
	<-w.over
	if said := w.said.String(); !strings.Contains(said, help+"\n") {
		w.Errorf("%q ends with %s", args, said)
	}
}

// text is what a process writes while somebody reads it.
type text struct {
	mu  sync.Mutex
	all strings.Builder
}

func (s *text) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *text) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

func (w *weather) ralph(args ...string) *exec.Cmd {
	cmd := w.command(w.program, args...)
	cmd.Env = append(cmd.Env, roleVar+"=vendor", folderVar+"="+w.own, "PATH="+w.path("bin")+":"+os.Getenv("PATH"))
	return cmd
}

func (w *weather) log() []byte {
	data, err := os.ReadFile(filepath.Join(w.own, logName))
	w.must(err)
	return data
}

// begins waits until a run has begun that does something in an iteration.
func (w *weather) begins(n int, does deed) {
	w.Helper()
	w.until(fmt.Sprintf("iteration %d: %s", n, does), func() bool {
		return bytes.Contains(w.log(), []byte(logLine(n, "claude", does)))
	})
}

// says has the user say something to the loop.
func (w *weather) says(args ...string) {
	w.Helper()
	if out, err := w.ralph(args...).CombinedOutput(); err != nil {
		w.Errorf("%q: %v\n%s", args, err, out)
	}
}

// until waits for what only happens while the loop runs.
func (w *weather) until(what string, isSo func() bool) {
	w.Helper()
	proctest.Until(w, what, func() bool {
		if isSo() {
			return true
		}
		select {
		case <-w.over:
			w.Fatalf("the loop is over before this: %s\n%s", what, w.said.String())
		default:
		}
		return false
	})
}

type status struct {
	State string
	Retry struct {
		Reason  string
		Attempt int
	}
	Questions []any
}

func (w *weather) status() (s status) {
	out, err := w.ralph("status", "--json").Output()
	if err == nil {
		w.must(json.Unmarshal(out, &s))
	}
	return s
}

func (w *weather) is(state string) {
	w.Helper()
	w.until("it is "+state, func() bool { return w.status().State == state })
}

func (w *weather) waitsFor(reason string, attempt int) {
	w.Helper()
	w.until("it waits for "+reason, func() bool {
		s := w.status()
		return s.State == "waiting" && s.Retry.Reason == reason && s.Retry.Attempt == attempt
	})
}

// kills ends the loop's process when a run has begun that is to be cut off.
func (w *weather) kills(n int) {
	w.Helper()
	w.begins(n, cutOff)
	data, err := os.ReadFile(filepath.Join(w.work(), ".pi", "ralph-loop.local.lock"))
	w.must(err)
	_, rest, _ := strings.Cut(string(data), `"pid":`)
	pid, err := strconv.Atoi(rest[:strings.IndexAny(rest, ",}")])
	w.must(err)
	w.must(syscall.Kill(pid, syscall.SIGKILL))
}
