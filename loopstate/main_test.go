package loopstate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
)

// roleVariable makes the test binary another process of a test: it names what
// it does, in the folder that is its argument.
const roleVariable = "LOOPSTATE_TEST_ROLE"

var roles = map[string]func(folder string) error{
	"hold the lock":              holdLock,
	"hold the lock with a child": holdLockWithChild,
	"fight for the lock":         fightForLock,
	"wait":                       func(string) error { return waitForStdin() },
}

func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv(roleVariable)]
	if !ok {
		os.Exit(inOwnHome(m))
	}
	if err := role(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func inOwnHome(m *testing.M) int {
	remove, err := testhome.Use()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	return m.Run()
}

func holdLock(folder string) error {
	f, err := Open(folder)
	if err != nil {
		return err
	}
	owner := Owner{LoopID: "held", Version: "1.2.3", Standing: Standing{Agents: []Agent{{PID: 4711, ProcessStart: "then"}}}}
	if _, err := f.Lock(owner); err != nil {
		return err
	}
	fmt.Println("ready")
	return waitForStdin()
}

// holdLockWithChild prints its child's number. The child lives on its own
// standard input, which is the same.
func holdLockWithChild(folder string) error {
	f, err := Open(folder)
	if err != nil {
		return err
	}
	if _, err := f.Lock(Owner{}); err != nil {
		return err
	}
	child := exec.Command(os.Args[0], folder)
	child.Env = append(os.Environ(), roleVariable+"=wait")
	child.Stdin = os.Stdin
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	return child.Wait()
}

// fightForLock takes and releases the lock many times, and fails when another
// process has it at the same time.
func fightForLock(folder string) error {
	f, err := Open(folder)
	if err != nil {
		return err
	}
	marker := filepath.Join(folder, "marker")
	for range 50 {
		l, err := f.Lock(Owner{})
		for errors.As(err, new(*LockedError)) {
			l, err = f.Lock(Owner{})
		}
		if err != nil {
			return err
		}
		if err := os.Mkdir(marker, 0o700); err != nil {
			return fmt.Errorf("someone else has the lock too: %w", err)
		}
		if err := os.Remove(marker); err != nil {
			return err
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
	return nil
}

func waitForStdin() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// process is another process that plays a role.
type process struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *strings.Builder
}

// start starts a process that ends with the test at the latest.
func start(t *testing.T, role, folder string) *process {
	t.Helper()
	if _, ok := roles[role]; !ok {
		t.Fatalf("there is no role %q", role)
	}
	p := &process{Cmd: exec.Command(os.Args[0], folder), stderr: &strings.Builder{}}
	p.Env = append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0")
	p.Stderr = p.stderr
	stdin, err := p.StdinPipe()
	must.OK(t, err)
	stdout, err := p.StdoutPipe()
	must.OK(t, err)
	p.stdin, p.stdout = stdin, bufio.NewReader(stdout)
	must.OK(t, p.Start())
	t.Cleanup(func() {
		stdin.Close()
		p.Process.Kill()
		p.Wait()
	})
	return p
}

// ready waits until the process says that it plays its role.
func (p *process) ready(t *testing.T) {
	t.Helper()
	if line, err := p.stdout.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the other process says %q, %v; %s", line, err, p.stderr)
	}
}
