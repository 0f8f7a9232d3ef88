package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ralph-lsp/internal/proctest"
	"ralph-lsp/internal/testhome"
	"ralph-lsp/sandbox"
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

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
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
		prepare: func(t *testing.T, s *scene) { write(t, s.in(name), "ours\n") },
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

var attacks = map[string]attack{
	"rm -rf ~": {
		prepare: func(t *testing.T, s *scene) { write(t, filepath.Join(s.home, "notes"), "mine") },
		strike:  func(string) error { return exec.Command("sh", "-c", "rm -rf ~").Run() },
		worked: func(t *testing.T, s *scene, _ string) bool {
			_, err := os.Stat(filepath.Join(s.home, "notes"))
			return err != nil
		},
	},
	"write a hook": {strike: func(string) error { return appendTo(".git/hooks/pre-commit", "evil") }, worked: hook},
	"make hooks that were missing": {
		prepare: func(t *testing.T, s *scene) { must(t, os.RemoveAll(s.in(".git", "hooks"))) },
		strike: func(string) error {
			os.Mkdir(".git/hooks", 0o755)
			return appendTo(".git/hooks/pre-commit", "evil")
		}, worked: hook,
	},
	"move the hooks away": {strike: func(string) error {
		return first(os.Rename(".git/hooks", ".git/old"), os.Mkdir(".git/hooks", 0o755), appendTo(".git/hooks/pre-commit", "evil"))
	}, worked: hook},
	"move the repository away": {strike: func(string) error {
		return first(os.Rename(".git", "old"), git("init", "-q"), git("config", "core.fsmonitor", "evil"))
	}, worked: configured("core.fsmonitor")},
	"hooks where the configuration says": {
		prepare: func(t *testing.T, s *scene) {
			write(t, s.in(".husky", "pre-commit"), "ours")
			s.git(t, "config", "core.hooksPath", ".husky")
		},
		strike: func(string) error { return appendTo(".husky/pre-commit", "evil") },
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(s.in(".husky", "pre-commit"), "evil") },
	},
	"core.fsmonitor":  {strike: func(string) error { return git("config", "core.fsmonitor", "evil") }, worked: configured("core.fsmonitor")},
	"core.sshCommand": {strike: func(string) error { return git("config", "core.sshCommand", "evil") }, worked: configured("core.sshCommand")},
	"a detour to another configuration": {
		strike: func(string) error {
			return first(exec.Command("cp", "-r", ".git", "other").Run(), git("config", "--file", "other/config", "core.fsmonitor", "evil"),
				os.WriteFile(".git/commondir", []byte("../other\n"), 0o644))
		}, worked: configured("core.fsmonitor"),
	},
	"the configuration after the user saved it": {
		prepare: func(t *testing.T, s *scene) { s.git(t, "config", "user.name", "Ann") },
		strike:  afterASave(func() error { return git("config", "core.fsmonitor", "evil") }),
		worked:  configured("core.fsmonitor"),
	},
	"the configuration by another name of its": {
		prepare: func(t *testing.T, s *scene) {},
		strike: func(string) error {
			return first(os.Link(".git/config", "mine"), git("config", "--file", ".git/config", "core.fsmonitor", "evil"), appendTo("mine", "[core]\nfsmonitor = evil\n"))
		},
		worked: configured("core.fsmonitor"),
	},
	"the configuration by a name that was there": {
		prepare: func(t *testing.T, s *scene) { must(t, os.Link(s.in(".git", "config"), s.in("mine"))) },
		strike:  func(string) error { return appendTo("mine", "[core]\nfsmonitor = evil\n") },
		worked:  configured("core.fsmonitor"),
	},
	"a submodule's configuration": {
		prepare: func(t *testing.T, s *scene) {
			must(t, git("init", "-q", "--bare", s.in(".git", "modules", "lib")))
		},
		strike: func(string) error {
			return first(os.Rename(".git/modules/lib/config", "old"), git("config", "--file", ".git/modules/lib/config", "core.fsmonitor", "evil"))
		},
		worked: func(t *testing.T, s *scene, _ string) bool {
			return contains(s.in(".git", "modules", "lib", "config"), "evil")
		},
	},
	"read ~/.ssh/id_ed25519": {
		prepare: func(t *testing.T, s *scene) { write(t, filepath.Join(s.home, ".ssh", "id_ed25519"), secret) },
		strike:  func(string) error { return printFile(filepath.Join(os.Getenv("HOME"), ".ssh", "id_ed25519")) },
		worked:  saysSecret,
	},
	"read keys that lie elsewhere": {
		prepare: func(t *testing.T, s *scene) {
			write(t, filepath.Join(s.home, "vault", "keys", "id_ed25519"), secret)
			must(t, os.Symlink("vault/keys", filepath.Join(s.home, ".ssh")))
		},
		strike: func(string) error { return printFile(filepath.Join(os.Getenv("HOME"), "vault", "keys", "id_ed25519")) },
		worked: saysSecret,
	},
	"read a netrc": {
		prepare: func(t *testing.T, s *scene) { write(t, filepath.Join(s.home, ".netrc"), secret) },
		strike:  func(string) error { return printFile(filepath.Join(os.Getenv("HOME"), ".netrc")) },
		worked:  saysSecret,
	},
	"read a key from the environment": {
		prepare: func(t *testing.T, s *scene) { t.Setenv("A_TOKEN_OF_THE_USERS", secret) },
		strike:  func(string) error { fmt.Println(os.Environ()); return nil },
		worked:  saysSecret,
	},
	"reach a port": {
		prepare: func(t *testing.T, s *scene) { s.listen(t, "tcp", "127.0.0.1:0") },
		strike:  connect("tcp"), worked: saysSecret,
	},
	"reach an abstract socket": {
		prepare: func(t *testing.T, s *scene) { s.listen(t, "unix", "@"+s.home) },
		strike:  connect("unix"), worked: saysSecret,
	},
	"ask the user's ssh-agent": {
		prepare: func(t *testing.T, s *scene) {
			s.network = true
			s.listen(t, "unix", filepath.Join(s.home, "agent.sock"))
			t.Setenv("SSH_AUTH_SOCK", s.target)
		},
		strike: connect("unix"), worked: saysSecret,
	},
	"ask a service with a socket in /tmp": {
		prepare: func(t *testing.T, s *scene) {
			s.network = true
			dir, err := os.MkdirTemp("/tmp", "ralph-service-")
			must(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			s.listen(t, "unix", filepath.Join(dir, "s"))
		},
		strike: connect("unix"), worked: saysSecret,
	},
	"a symlink out": {
		prepare: func(t *testing.T, s *scene) { write(t, filepath.Join(s.home, ".bashrc"), "mine\n") },
		strike: func(string) error {
			return first(os.Symlink(filepath.Join(os.Getenv("HOME"), ".bashrc"), "link"), appendTo("link", "evil\n"))
		},
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(filepath.Join(s.home, ".bashrc"), "evil") },
	},
	"a hard link out": {
		prepare: func(t *testing.T, s *scene) { write(t, filepath.Join(s.home, ".bashrc"), "mine\n") },
		strike: func(string) error {
			return first(os.Link(filepath.Join(os.Getenv("HOME"), ".bashrc"), "link"), appendTo("link", "evil\n"))
		},
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(filepath.Join(s.home, ".bashrc"), "evil") },
	},
	"/proc/PID/root": {
		prepare: func(t *testing.T, s *scene) { write(t, filepath.Join(s.home, ".ssh", "id"), secret) },
		strike: func(string) error {
			pids, _ := filepath.Glob("/proc/[0-9]*")
			for _, pid := range pids {
				printFile(filepath.Join(pid, "root", os.Getenv("HOME"), ".ssh", "id"))
			}
			return nil
		},
		worked: saysSecret,
	},
	"/proc/PID/fd": {
		prepare: func(t *testing.T, s *scene) {
			write(t, filepath.Join(s.home, ".ssh", "id"), secret)
			f, err := os.Open(filepath.Join(s.home, ".ssh", "id"))
			must(t, err)
			t.Cleanup(func() { f.Close() })
			s.target = fmt.Sprint(os.Getpid(), "/fd/", f.Fd())
		},
		strike: func(target string) error { return printFile("/proc/" + strings.ReplaceAll(target, " ", "")) },
		worked: saysSecret,
	},
	"ptrace": {
		prepare: func(t *testing.T, s *scene) { s.victim(t) },
		strike: func(target string) error {
			runtime.LockOSThread()
			pid, _ := strconv.Atoi(target)
			if err := syscall.PtraceAttach(pid); err != nil {
				return err
			}
			fmt.Println(secret)
			return syscall.PtraceDetach(pid)
		},
		worked: saysSecret,
	},
	"kill": {
		prepare: func(t *testing.T, s *scene) { s.victim(t) },
		strike: func(target string) error {
			pid, _ := strconv.Atoi(target)
			return saidIf(syscall.Kill(pid, 0))
		},
		worked: saysSecret,
	},
	"TIOCSTI": {
		prepare: func(t *testing.T, s *scene) { s.terminal(t) },
		strike: func(string) error {
			for _, c := range []byte("evil\n") {
				if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, 0, syscall.TIOCSTI, uintptr(unsafe.Pointer(&c))); errno != 0 {
					return errno
				}
			}
			return nil
		},
		worked: func(t *testing.T, s *scene, _ string) bool {
			n, err := unix.IoctlGetInt(int(s.stdin.Fd()), unix.TIOCINQ)
			must(t, err)
			return n > 0
		},
	},
	"the state file":             inFile(".pi/ralph-loop.local.md"),
	"the state file, replaced":   replaced(".pi/ralph-loop.local.md"),
	"the state folder, replaced": moved(".pi", "ralph-loop.local.md"),
	"the state file, after it was saved": {
		prepare: func(t *testing.T, s *scene) { write(t, s.in(".pi", "ralph-loop.local.md"), "ours\n") },
		strike:  afterASave(func() error { return appendTo(".pi/ralph-loop.local.md", "evil") }),
		worked: func(t *testing.T, s *scene, _ string) bool {
			return contains(s.in(".pi", "ralph-loop.local.md"), "evil")
		},
	},
	"ralph.toml":                    inFile("ralph.toml"),
	"ralph.toml, replaced":          replaced("ralph.toml"),
	"the editor's tasks":            inFile(".vscode/tasks.json"),
	"the editor's folder, replaced": moved(".vscode", "tasks.json"),
	"tasks where there were none": {
		strike: func(string) error { os.Mkdir(".vscode", 0o755); return appendTo(".vscode/tasks.json", "evil") },
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(s.in(".vscode", "tasks.json"), "evil") },
	},
	"claude's settings": moved(".claude", "settings.json"),
	".envrc":            inFile(".envrc"),
	"a setuid program": {
		strike: func(string) error {
			status, err := os.ReadFile("/proc/self/status")
			if strings.Contains(string(status), "NoNewPrivs:\t0") {
				fmt.Println(secret)
			}
			return err
		},
		worked: saysSecret,
	},
	"a setuid program that is there": {
		prepare: func(t *testing.T, s *scene) {
			if os.Geteuid() != 0 {
				t.Skip("only root can make one of another user")
			}
			s.target = s.in("suid")
			out, err := exec.Command("cp", os.Args[0], s.target).CombinedOutput()
			if err != nil {
				t.Fatal(string(out))
			}
			must(t, os.Chown(s.target, 12345, 12345))
			must(t, os.Chmod(s.target, 0o755|os.ModeSetuid))
			must(t, os.Chmod(s.home, 0o755))
		},
		strike: func(target string) error {
			if os.Geteuid() == 12345 {
				fmt.Println(secret)
				return nil
			}
			if target == os.Args[0] {
				return nil
			}
			cmd := exec.Command(target)
			cmd.Stdout = os.Stdout
			return cmd.Run()
		},
		worked: saysSecret,
	},
	"a daemon": {
		strike: func(target string) error {
			cmd := exec.Command("sh", "-c", `trap "" TERM HUP INT; echo up; while :; do sleep 1; done`, target)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			out, err := cmd.StdoutPipe()
			if err = first(err, cmd.Start()); err == nil {
				_, err = io.ReadFull(out, make([]byte, 2))
			}
			return err
		},
		prepare: func(t *testing.T, s *scene) {
			s.target = "daemon-of-" + s.home
			t.Cleanup(func() { proctest.Kill(t, s.target) })
		},
		worked: func(t *testing.T, s *scene, _ string) bool {
			if !s.isWalled {
				return len(proctest.Find(s.target)) > 0
			}
			return len(proctest.AwaitNone(time.Minute, s.target)) > 0
		},
	},
	"fill the disk of TMPDIR": {
		strike: func(string) error { return fill(os.TempDir()) },
		worked: saysSecret,
	},
	"fill the disk of /tmp": {
		strike: func(string) error {
			defer os.Remove("/tmp/" + filler)
			return fill("/tmp")
		},
		worked: saysSecret,
	},
	"fill the memory of /dev/shm": {
		strike: func(string) error {
			defer os.Remove("/dev/shm/" + filler)
			return fill("/dev/shm")
		},
		worked: saysSecret,
	},
	"a file in /dev": {
		strike: func(string) error {
			defer os.Remove("/dev/" + filler)
			return saidIf(os.WriteFile("/dev/"+filler, []byte("x"), 0o600))
		},
		worked: saysSecret,
	},
	"what the agent itself runs outside": {
		prepare: func(t *testing.T, s *scene) {
			write(t, filepath.Join(s.home, ".agent", "settings.json"), "{}")
			s.run.Agent = sandbox.Agent{State: []string{"~/.agent/"}, Fixed: []string{"~/.agent/settings.json"}}
		},
		strike: func(string) error {
			dir := filepath.Join(os.Getenv("HOME"), ".agent")
			if err := appendTo(filepath.Join(dir, "state"), "kept"); err != nil {
				panic(err)
			}
			return appendTo(filepath.Join(dir, "settings.json"), "evil")
		},
		worked: func(t *testing.T, s *scene, _ string) bool {
			if !contains(filepath.Join(s.home, ".agent", "state"), "kept") {
				t.Error("it can't keep its state")
			}
			return contains(filepath.Join(s.home, ".agent", "settings.json"), "evil")
		},
	},
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
		for range 30_000 {
			if _, err := os.Stat("saved"); err == nil {
				return strike()
			}
			time.Sleep(time.Millisecond)
		}
		return os.ErrDeadlineExceeded
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
	must(t, err)
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
	must(t, first(err, cmd.Start()))
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	_, err = io.ReadFull(out, make([]byte, 2))
	must(t, err)
	s.target = strconv.Itoa(cmd.Process.Pid)
}

// terminal gives the attacker a terminal as its controlling one.
func (s *scene) terminal(t *testing.T) {
	t.Helper()
	if data, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti"); err == nil && strings.TrimSpace(string(data)) == "0" && os.Geteuid() != 0 {
		t.Skip("this kernel refuses it to everybody")
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { master.Close() })
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	s.stdin, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { s.stdin.Close() })
	s.attr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

func TestMain(m *testing.M) {
	roles := map[string]func(){"victim": func() {
		unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // fails where nobody is kept from it
		fmt.Println("up")
		time.Sleep(time.Hour)
	}}
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
		must(t, err)
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
}
