package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// scene is where an attack takes place.
type scene struct {
	place
	target   string // what the attacker is told
	network  bool
	isWalled bool
	run      sandbox.Run
	attr     *syscall.SysProcAttr
	stdin    *os.File
}

// attack is what an agent does that it should not be able to do. The test binary plays it.
type attack struct {
	prepare func(t *testing.T, s *scene)
	strike  func(target string) error
	// worked says from outside, with what the attacker printed, whether it came off.
	worked func(t *testing.T, s *scene, out string) bool
}

const secret = "the private key"

func (s *scene) in(parts ...string) string {
	return filepath.Join(append([]string{s.folder}, parts...)...)
}

func contains(path, text string) bool {
	data, _ := os.ReadFile(path)
	return strings.Contains(string(data), text)
}

func printFile(path string) error {
	data, err := os.ReadFile(path)
	fmt.Print(string(data))
	return err
}

func saysSecret(_ *testing.T, _ *scene, out string) bool { return strings.Contains(out, secret) }

// configured says whether git would obey what the attacker wrote.
func configured(key string) func(t *testing.T, s *scene, out string) bool {
	return func(t *testing.T, s *scene, _ string) bool {
		out, _ := exec.Command("git", "-C", s.folder, "config", key).Output()
		return strings.Contains(string(out), "evil")
	}
}

func git(args ...string) error {
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	f.Close()
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func hook(t *testing.T, s *scene, _ string) bool {
	return contains(s.in(".git", "hooks", "pre-commit"), "evil")
}

// inFile is an attack that writes into a file of the folder.
func inFile(name string) attack {
	return attack{
		prepare: func(t *testing.T, s *scene) { must.Write(t, s.in(name), "ours\n") },
		strike:  func(string) error { return appendTo(name, "evil\n") },
		worked:  func(t *testing.T, s *scene, _ string) bool { return contains(s.in(name), "evil") },
	}
}

// replaced is an attack that puts another file in the place of one.
func replaced(name string) attack {
	a := inFile(name)
	a.strike = func(string) error {
		return first(os.WriteFile("evil", []byte("evil\n"), 0o644), os.Rename("evil", name))
	}
	return a
}

// moved is an attack that puts a folder of its own in the place of one.
func moved(dir, name string) attack {
	a := inFile(filepath.Join(dir, name))
	a.strike = func(string) error {
		return first(os.Rename(dir, "old"), os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), appendTo(filepath.Join(dir, name), "evil\n"))
	}
	return a
}

const filler = "ralph-lsp-test-filler"

// fill writes more than walls in a test allow.
func fill(dir string) error {
	return saidIf(os.WriteFile(filepath.Join(dir, filler), make([]byte, 2*sandbox.TestTempBytes), 0o600))
}

// saidIf says the secret where there is no error.
func saidIf(err error) error {
	if err == nil {
		fmt.Println(secret)
	}
	return err
}

// afterASave strikes when the user, outside, has replaced a file: the target is a name whose
// file tells.
func afterASave(strike func() error) func(string) error {
	return func(string) error {
		os.WriteFile("ready", nil, 0o600)
		for begun := time.Now(); time.Since(begun) < proctest.Patience; proctest.Pause(begun) {
			if _, err := os.Stat("saved"); err == nil {
				return strike()
			}
		}
		return os.ErrDeadlineExceeded
	}
}

// takeNumber puts a file in the place of one that the user saved, with the inode number that the
// user's had before: most file systems give it away again.
func takeNumber(name, text string) func(string) error {
	return func(string) error {
		var old, mine unix.Stat_t
		err := unix.Stat(name, &old)
		strike := func() (err error) {
			for i := 0; i < 1000 && mine.Ino != old.Ino && err == nil; i++ {
				err = first(os.WriteFile(fmt.Sprint(name, i), []byte(text), 0o644), unix.Stat(fmt.Sprint(name, i), &mine))
				if mine.Ino == old.Ino || i == 999 {
					err = first(err, os.Rename(fmt.Sprint(name, i), name))
				}
			}
			return err
		}
		return first(err, afterASave(strike)(""))
	}
}

// save is the user, who saves by renaming when the attacker is ready.
func (s *scene) save(t *testing.T, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
		if _, err := os.Stat(s.in("ready")); err != nil {
			continue
		}
		for _, name := range []string{".git/config", ".pi/ralph-loop.local.md"} {
			data, err := os.ReadFile(s.in(name))
			if err == nil {
				err = first(os.WriteFile(s.in(name)+".new", data, 0o644), os.Rename(s.in(name)+".new", s.in(name)))
			}
			if err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
		}
		os.WriteFile(s.in("saved"), nil, 0o600)
		return
	}
}

func connect(network string) func(string) error {
	return func(target string) error {
		conn, err := net.DialTimeout(network, target, 10*time.Second)
		if err != nil {
			return err
		}
		_, err = io.Copy(os.Stdout, conn)
		return err
	}
}

// listen serves the secret.
func (s *scene) listen(t *testing.T, network, address string) {
	t.Helper()
	l, err := net.Listen(network, address)
	must.OK(t, err)
	t.Cleanup(func() { l.Close() })
	s.target = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, secret)
			conn.Close()
		}
	}()
}

// victim is a process that everybody of this user may trace.
func (s *scene) victim(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ATTACK=victim")
	out, err := cmd.StdoutPipe()
	must.OK(t, first(err, cmd.Start()))
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	_, err = io.ReadFull(out, make([]byte, 2))
	must.OK(t, err)
	s.target = strconv.Itoa(cmd.Process.Pid)
}

// terminal gives the attacker a terminal as its controlling one.
func (s *scene) terminal(t *testing.T) {
	t.Helper()
	if data, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti"); err == nil && strings.TrimSpace(string(data)) == "0" && os.Geteuid() != 0 {
		t.Skip("this kernel refuses it to everybody")
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must.OK(t, err)
	t.Cleanup(func() { master.Close() })
	must.OK(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must.OK(t, err)
	s.stdin, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	must.OK(t, err)
	t.Cleanup(func() { s.stdin.Close() })
	s.attr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

func TestMain(m *testing.M) {
	roles := map[string]func(){"victim": func() {
		unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // fails where nobody is kept from it
		fmt.Println("up")
		time.Sleep(time.Hour)
	}, "listWritable": listWritable}
	for name, a := range attacks {
		roles[name] = func() {
			if err := a.strike(os.Getenv("TARGET")); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	testhome.Main(m, "ATTACK", roles)
}

// strikes plays an attack and says whether it came off.
func (a attack) strikes(t *testing.T, name string, isWalled bool) bool {
	s := &scene{place: newPlace(t), isWalled: isWalled}
	if a.prepare != nil {
		a.prepare(t, s)
	}
	s.run.TempDir = t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Dir, cmd.SysProcAttr = s.folder, s.attr
	cmd.Env = append(os.Environ(), "ATTACK="+name, "TARGET="+s.target, "TMPDIR="+s.run.TempDir)
	if s.stdin != nil {
		cmd.Stdin = s.stdin
	}
	settle := func() {}
	if isWalled {
		walls := raise(t, sandbox.Spec{Network: s.network, Env: []string{"ATTACK", "TARGET"}}, s.folder)
		var err error
		settle, err = walls.Wrap(cmd, s.run)
		must.OK(t, err)
	}
	done := make(chan struct{})
	saved := make(chan struct{})
	go func() { s.save(t, done); close(saved) }()
	out, err := cmd.Output()
	close(done)
	<-saved
	settle()
	if err != nil {
		t.Logf("%v", err)
	}
	return a.worked(t, s, string(out))
}

// Each attack comes off without walls, and doesn't behind them.
func TestAttacks(t *testing.T) {
	sandbox.BoundTemp(t)
	walltest.Both(t, func(t *testing.T) {
		for name, a := range attacks {
			t.Run(name, func(t *testing.T) {
				if !a.strikes(t, name, false) {
					t.Error("it doesn't come off without walls, so it shows nothing")
				}
				if a.strikes(t, name, true) {
					t.Error("it comes off behind walls")
				}
			})
		}
	})
}
