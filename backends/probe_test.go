package backends

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

func TestProbeOfABrokenAgent(t *testing.T) {
	t.Setenv("ROLE", "fails")
	install(t, "pi")
	if probe := pi.Probe(context.Background()); probe.Err == nil || probe.Path == "" {
		t.Errorf("got %+v", probe)
	}
}

// What manages versions runs what the folder names in which it works, and anybody may have written that.
func TestAProgramIsAskedOutsideOfTheFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no scripts of sh")
	}
	shims, folder := filepath.Join(t.TempDir(), "shims"), t.TempDir()
	out := filepath.Join(folder, "out")
	for path, text := range map[string]string{
		filepath.Join(shims, "pi"):     "#!/bin/sh\nexec \"$(cat .tool)\"\n",
		filepath.Join(shims, "claude"): "#!/bin/sh\necho $PATH in $PWD, $(pwd)\n",
		filepath.Join(folder, ".tool"): "./evil\n",
		filepath.Join(folder, "evil"):  "#!/bin/sh\necho out >" + out + "\necho pi 1.2.3\n",
		filepath.Join(folder, "codex"): "#!/bin/sh\necho out >" + out + "\n",
	} {
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)))
	}
	t.Chdir(folder)
	t.Setenv("PATH", strings.Join([]string{".", shims, "/usr/bin", "/bin"}, ":"))
	if probe := pi.Probe(t.Context()); probe.Err == nil || !strings.Contains(probe.Err.Error(), "(it was asked in /, as a folder may not say what runs: give its version manager a version for your user") {
		t.Errorf("a shim: %+v", probe)
	}
	if probe := claude.Probe(t.Context()); probe.Version != shims+":/usr/bin:/bin in /, /" {
		t.Errorf("another: %+v", probe)
	}
	if probe := codex.Probe(t.Context()); !errors.As(probe.Err, new(*NotFoundError)) {
		t.Errorf("one of the folder, by a relative PATH: %+v", probe)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a program of the folder ran")
	}
}

// markProbes gives the agents, and what they start, a variable and an argument
// of this test's.
func markProbes(t *testing.T) (marks []string) {
	id := loopOf(t)
	t.Setenv("PROBED", id)
	return []string{"PROBED=" + id, id}
}

// awaitProcesses waits until so many processes have one of the marks.
func awaitProcesses(n int, marks ...string) {
	for begun := time.Now(); len(proctest.Find(marks...)) < n; proctest.Pause(begun) {
		if time.Since(begun) > hangs {
			panic(fmt.Sprintf("%v of %d processes with %q", proctest.Find(marks...), n, marks))
		}
	}
}

func TestAProbeLeavesNothing(t *testing.T) {
	t.Setenv("ROLE", "prints its version and leaves a child")
	t.Setenv("TMPDIR", t.TempDir())
	marks := markProbes(t)
	install(t, "claude", "codex", "pi")
	for _, probe := range ProbeAll(context.Background()) {
		if probe.Path != "" && (probe.Err != nil || probe.Version != "fake 1.2.3") {
			t.Errorf("got %+v", probe)
		}
	}
	proctest.CheckNone(t, 0, marks...)
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

func TestAProbeThatHangsIsEnded(t *testing.T) {
	t.Setenv("ROLE", "hangs with a child")
	marks := markProbes(t)
	install(t, "pi")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		awaitProcesses(2, marks...)
		cancel()
	}()
	if probe := pi.Probe(ctx); !errors.Is(probe.Err, context.Canceled) || probe.Path == "" {
		t.Errorf("got %+v", probe)
	}
	proctest.CheckNone(t, 0, marks...)
}

func TestAProbeHasItsTime(t *testing.T) {
	defer func(limit time.Duration) { probeTimeout = limit }(probeTimeout)
	probeTimeout = 50 * time.Millisecond
	t.Setenv("ROLE", "hangs with a child")
	marks := markProbes(t)
	install(t, "pi")
	if probe := pi.Probe(context.Background()); !errors.Is(probe.Err, ErrNoAnswer) || !strings.Contains(probe.Err.Error(), "pi --version gave no answer within 50ms") {
		t.Errorf("got %+v", probe)
	}
	proctest.CheckNone(t, 0, marks...)
}

// Whose version is unknown isn't old: there is nothing to update.
func TestAnAgentThatDoesNotTellItsVersionInTimeIsNotCalledOld(t *testing.T) {
	defer func(limit time.Duration) { probeTimeout = limit }(probeTimeout)
	probeTimeout = 50 * time.Millisecond
	t.Setenv("ROLE", "hangs with a child")
	marks := markProbes(t)
	install(t, "pi")
	_, err := pi.Asking(t.Context(), nil)
	want := `pi can't ask you while its version is unknown: pi --version gave no answer within 50ms; run it yourself, then try again, or leave out permissions = "ask"`
	if !errors.Is(err, ErrNoAnswer) || err.Error() != want {
		t.Errorf("got %v", err)
	}
	proctest.CheckNone(t, 0, marks...)
}

func TestDetectLeavesNothing(t *testing.T) {
	t.Setenv("ROLE", "hangs with a child unless it is claude")
	marks := markProbes(t)
	install(t, "claude", "gemini")
	if b, _, err := Detect(context.Background()); err != nil || b.Name != "claude" {
		t.Errorf("%s, %v", b.Name, err)
	}
	proctest.CheckNone(t, 0, marks...)
}

func TestDetectThatIsInterrupted(t *testing.T) {
	t.Setenv("ROLE", "hangs")
	install(t, "pi")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Detect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestASignalEndsTheProbes(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			marks := markProbes(t)
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			install(t, "pi", "claude")
			cmd := exec.Command(os.Args[0])
			cmd.Env = withRole("detector")
			must.OK(t, cmd.Start())
			awaitProcesses(7, marks...) // itself, and twice a reaper, an agent, its child
			cmd.Process.Signal(sig)
			cmd.Wait()
			if got := cmd.ProcessState.String(); got != "signal: "+sig.String() {
				t.Errorf("it ended by %q", got)
			}
			proctest.CheckNone(t, hangs, marks...)
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("temporary files are left: %v, %v", left, err)
			}
		})
	}
}
