package sandbox_test

import (
	"errors"
	"fmt"
	"io"
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

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/sandbox/inside"
)

var attacks = map[string]attack{
	"rm -rf ~": {
		prepare: func(t *testing.T, s *scene) { must.Write(t, filepath.Join(s.home, "notes"), "mine") },
		strike:  func(string) error { return exec.Command("sh", "-c", "rm -rf ~").Run() },
		worked: func(t *testing.T, s *scene, _ string) bool {
			_, err := os.Stat(filepath.Join(s.home, "notes"))
			return err != nil
		},
	},
	"write a hook": {strike: func(string) error { return appendTo(".git/hooks/pre-commit", "evil") }, worked: hook},
	"make hooks that were missing": {
		prepare: func(t *testing.T, s *scene) { must.OK(t, os.RemoveAll(s.in(".git", "hooks"))) },
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
			must.Write(t, s.in(".husky", "pre-commit"), "ours")
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
	"a record of what a later start takes away": {
		strike: func(string) error {
			return first(os.MkdirAll(".git/ralph", 0o755), os.WriteFile(".git/ralph/key.json", []byte("evil"), 0o644))
		},
		worked: func(t *testing.T, s *scene, _ string) bool {
			return contains(s.in(".git", "ralph", "key.json"), "evil")
		},
	},
	"the configuration after the user saved it": {
		prepare: func(t *testing.T, s *scene) { s.git(t, "config", "user.name", "Ann") },
		strike:  afterASave(func() error { return git("config", "core.fsmonitor", "evil") }),
		worked:  configured("core.fsmonitor"),
	},
	"the configuration after the user saved it, by the number that its file had": {
		prepare: func(t *testing.T, s *scene) {},
		strike:  takeNumber(".git/config", "[core]\nfsmonitor = evil\n"),
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
		prepare: func(t *testing.T, s *scene) { must.OK(t, os.Link(s.in(".git", "config"), s.in("mine"))) },
		strike:  func(string) error { return appendTo("mine", "[core]\nfsmonitor = evil\n") },
		worked:  configured("core.fsmonitor"),
	},
	"a submodule's configuration": {
		prepare: func(t *testing.T, s *scene) {
			must.OK(t, git("init", "-q", "--bare", s.in(".git", "modules", "lib")))
		},
		strike: func(string) error {
			return first(os.Rename(".git/modules/lib/config", "old"), git("config", "--file", ".git/modules/lib/config", "core.fsmonitor", "evil"))
		},
		worked: func(t *testing.T, s *scene, _ string) bool {
			return contains(s.in(".git", "modules", "lib", "config"), "evil")
		},
	},
	"read ~/.ssh/id_ed25519": {
		prepare: func(t *testing.T, s *scene) { must.Write(t, filepath.Join(s.home, ".ssh", "id_ed25519"), secret) },
		strike:  func(string) error { return printFile(filepath.Join(os.Getenv("HOME"), ".ssh", "id_ed25519")) },
		worked:  saysSecret,
	},
	"read keys that lie elsewhere": {
		prepare: func(t *testing.T, s *scene) {
			must.Write(t, filepath.Join(s.home, "vault", "keys", "id_ed25519"), secret)
			must.OK(t, os.Symlink("vault/keys", filepath.Join(s.home, ".ssh")))
		},
		strike: func(string) error { return printFile(filepath.Join(os.Getenv("HOME"), "vault", "keys", "id_ed25519")) },
		worked: saysSecret,
	},
	"read the token of a fleet": {
		prepare: func(t *testing.T, s *scene) {
			t.Setenv("XDG_STATE_HOME", "")
			must.Write(t, filepath.Join(s.home, ".local", "state", "ralph-fleet", "token"), secret)
			must.Write(t, filepath.Join(s.home, ".config", "ralph-lsp", "fleet.toml"), secret)
			t.Setenv("RALPH_TOKEN", secret)
		},
		strike: func(string) error {
			fmt.Println(os.Environ())
			return errors.Join(printFile(filepath.Join(os.Getenv("HOME"), ".local", "state", "ralph-fleet", "token")), printFile(filepath.Join(os.Getenv("HOME"), ".config", "ralph-lsp", "fleet.toml")))
		},
		worked: saysSecret,
	},
	"read a netrc": {
		prepare: func(t *testing.T, s *scene) { must.Write(t, filepath.Join(s.home, ".netrc"), secret) },
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
		prepare: func(t *testing.T, s *scene) { s.listen(t, "unix", "@"+s.home[max(0, len(s.home)-80):]) },
		strike:  connect("unix"), worked: saysSecret,
	},
	"reach an abstract socket, with a network": { // X11 listens on one
		prepare: func(t *testing.T, s *scene) {
			s.network = true
			if !inside.CanScopeSockets() {
				if words := sandbox.OpenSockets(sandbox.Spec{Mode: sandbox.Workspace, Network: true}); words == "" {
					t.Error("and nobody is told that they are open")
				}
				t.Skip("the kernel can't close them")
			}
			s.listen(t, "unix", "@net"+s.home[max(0, len(s.home)-80):])
		},
		strike: connect("unix"), worked: saysSecret,
	},
	"ask the user's ssh-agent": {
		prepare: func(t *testing.T, s *scene) {
			s.network = true
			socket := filepath.Join(s.home, "agent.sock")
			if len(socket) > 107 {
				t.Skip("the kernel takes no socket with so long a path: set a shorter TMPDIR")
			}
			s.listen(t, "unix", socket)
			t.Setenv("SSH_AUTH_SOCK", s.target)
		},
		strike: connect("unix"), worked: saysSecret,
	},
	"ask a service with a socket in the folder, without a network": {
		prepare: func(t *testing.T, s *scene) {
			socket := s.in("run", "s")
			must.OK(t, os.Mkdir(s.in("run"), 0o755))
			if len(socket) > 107 {
				t.Skip("the kernel takes no socket with so long a path: set a shorter TMPDIR")
			}
			s.listen(t, "unix", socket)
		},
		strike: func(target string) error {
			os.Rename("run", "moved")
			err := connect("unix")(target)
			return first(connect("unix")("moved/s"), err)
		}, worked: saysSecret,
	},
	"ask a service with a socket in /tmp": {
		prepare: func(t *testing.T, s *scene) {
			s.network = true
			dir, err := os.MkdirTemp("/tmp", "ralph-service-")
			must.OK(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			s.listen(t, "unix", filepath.Join(dir, "s"))
		},
		strike: connect("unix"), worked: saysSecret,
	},
	"a symlink out": {
		prepare: func(t *testing.T, s *scene) { must.Write(t, filepath.Join(s.home, ".bashrc"), "mine\n") },
		strike: func(string) error {
			return first(os.Symlink(filepath.Join(os.Getenv("HOME"), ".bashrc"), "link"), appendTo("link", "evil\n"))
		},
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(filepath.Join(s.home, ".bashrc"), "evil") },
	},
	"a hard link out": {
		prepare: func(t *testing.T, s *scene) { must.Write(t, filepath.Join(s.home, ".bashrc"), "mine\n") },
		strike: func(string) error {
			return first(os.Link(filepath.Join(os.Getenv("HOME"), ".bashrc"), "link"), appendTo("link", "evil\n"))
		},
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(filepath.Join(s.home, ".bashrc"), "evil") },
	},
	"/proc/PID/root": {
		prepare: func(t *testing.T, s *scene) { must.Write(t, filepath.Join(s.home, ".ssh", "id"), secret) },
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
			must.Write(t, filepath.Join(s.home, ".ssh", "id"), secret)
			f, err := os.Open(filepath.Join(s.home, ".ssh", "id"))
			must.OK(t, err)
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
			must.OK(t, err)
			return n > 0
		},
	},
	"the state file":             inFile(".pi/ralph-loop.local.md"),
	"the state file, replaced":   replaced(".pi/ralph-loop.local.md"),
	"the state folder, replaced": moved(".pi", "ralph-loop.local.md"),
	"the state file, after it was saved": {
		prepare: func(t *testing.T, s *scene) { must.Write(t, s.in(".pi", "ralph-loop.local.md"), "ours\n") },
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
	"the keys that the kernel keeps": {
		strike: func(string) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
			return saidIf(err)
		},
		worked: saysSecret,
	},
	"root's privileges in a namespace of its own": {
		prepare: func(t *testing.T, s *scene) {
			if os.Geteuid() != 0 {
				t.Skip("nothing that matters belongs to others")
			}
		},
		strike: func(string) error {
			cmd := exec.Command("true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
			return saidIf(cmd.Run())
		},
		worked: saysSecret,
	},
	".nvim.lua":        replaced(".nvim.lua"),
	"mise.toml":        inFile("mise.toml"),
	"a workspace":      inFile("all.code-workspace"),
	"an agent's hooks": moved(".cursor", "hooks.json"),
	"where a submodule's repository is": {
		prepare: func(t *testing.T, s *scene) {
			must.OK(t, os.Mkdir(s.in(".git", "modules"), 0o755))
			s.git(t, "init", "-q", "--separate-git-dir", ".git/modules/lib", "lib")
			s.git(t, "-C", "lib", "commit", "-q", "--allow-empty", "-m", "x")
			s.git(t, "add", "lib")
			s.git(t, "commit", "-q", "-m", "x")
		},
		strike: func(string) error {
			return first(git("init", "-q", "evil"), os.WriteFile("link", []byte("gitdir: ../evil/.git\n"), 0o644), os.Rename("link", "lib/.git"))
		},
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(s.in("lib", ".git"), "evil") },
	},
	"what a nested repository runs": {
		prepare: func(t *testing.T, s *scene) {
			s.git(t, "init", "-q", "lib")
			s.git(t, "-C", "lib", "commit", "-q", "--allow-empty", "-m", "x")
			s.git(t, "add", "lib")
		},
		strike: func(string) error { return git("-C", "lib", "config", "core.fsmonitor", "evil") },
		worked: func(t *testing.T, s *scene, _ string) bool { return contains(s.in("lib", ".git", "config"), "evil") },
	},
	"what the configuration includes": {
		prepare: func(t *testing.T, s *scene) {
			must.Write(t, s.in("team.gitconfig"), "")
			s.git(t, "config", "include.path", "../team.gitconfig")
		},
		strike: func(string) error { return git("config", "--file", "team.gitconfig", "core.fsmonitor", "evil") },
		worked: configured("core.fsmonitor"),
	},
	"the user's configuration in the folder": {
		prepare: func(t *testing.T, s *scene) {
			must.Write(t, s.in("mine.gitconfig"), "")
			t.Setenv("GIT_CONFIG_GLOBAL", s.in("mine.gitconfig"))
		},
		strike: func(string) error { return git("config", "--file", "mine.gitconfig", "core.fsmonitor", "evil") },
		worked: configured("core.fsmonitor"),
	},
	"a work tree's own configuration that isn't there": {
		prepare: func(t *testing.T, s *scene) { s.git(t, "config", "extensions.worktreeConfig", "true") },
		strike: func(string) error {
			return appendTo(".git/config.worktree", "[core]\nfsmonitor = evil\n")
		},
		worked: configured("core.fsmonitor"),
	},
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
			must.OK(t, os.Chown(s.target, 12345, 12345))
			must.OK(t, os.Chmod(s.target, 0o755|os.ModeSetuid))
			must.OK(t, os.Chmod(s.home, 0o755))
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
		prepare: func(t *testing.T, s *scene) {
			if os.Geteuid() != 0 {
				t.Skip("only root may make one")
			}
		},
		strike: func(string) error {
			defer os.Remove("/dev/" + filler)
			return saidIf(os.WriteFile("/dev/"+filler, []byte("x"), 0o600))
		},
		worked: saysSecret,
	},
}
