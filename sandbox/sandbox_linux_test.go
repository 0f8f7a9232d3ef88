package sandbox_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// place is a folder with a repository in a home of its own.
type place struct{ home, folder string }

func newPlace(t *testing.T) place {
	t.Helper()
	walltest.Need(t)
	p := place{home: t.TempDir()}
	p.folder = filepath.Join(p.home, "work")
	t.Setenv("HOME", p.home)
	for _, name := range []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"} {
		t.Setenv(name, "")
	}
	must.OK(t, os.Mkdir(p.folder, 0o755))
	p.git(t, "init", "-q")
	return p
}

func (p place) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", p.folder, "-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// run runs a program in the folder, behind walls where there are some.
func (p place) run(t *testing.T, walls *sandbox.Sandbox, run sandbox.Run, argv ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = p.folder
	if run.TempDir == "" {
		run.TempDir = t.TempDir()
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+run.TempDir, "HOME="+p.home)
	if walls != nil {
		settle, err := walls.Wrap(cmd, run)
		must.OK(t, err)
		defer settle()
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func raise(t *testing.T, spec sandbox.Spec, folder string) *sandbox.Sandbox {
	t.Helper()
	spec.Mode, spec.Env = sandbox.Workspace, append(spec.Env, "GORACE") // or each role takes a second to exit
	walls, err := sandbox.Raise(t.Context(), spec, folder)
	must.OK(t, err)
	t.Cleanup(walls.Close)
	return walls
}

// A program that listens somewhere ends while walls are raised that hide its socket. They are raised all the same.
func TestASocketThatGoesWhileWallsAreRaised(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Join(p.folder, ".vscode") // which is read-only inside
	must.OK(t, os.Mkdir(dir, 0o755))
	for i := range 3 {
		socket, err := net.Listen("unix", filepath.Join(dir, strconv.Itoa(i)))
		must.OK(t, err)
		t.Cleanup(func() { socket.Close() })
	}
	bwrap, err := exec.LookPath("bwrap")
	must.OK(t, err)
	bin := t.TempDir() // whose bubblewrap takes one away each time
	must.Write(t, filepath.Join(bin, "bwrap"), "#!/bin/sh\nfor socket in "+dir+"/*; do rm -f \"$socket\"; break; done\nexec "+bwrap+" \"$@\"\n")
	must.OK(t, os.Chmod(filepath.Join(bin, "bwrap"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	raise(t, sandbox.Spec{}, p.folder)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v (%v), so nothing has gone meanwhile", left, err)
	}
}

func TestWorkGoesOnInside(t *testing.T) {
	p := newPlace(t)
	walls := raise(t, sandbox.Spec{}, p.folder)
	out, err := p.run(t, walls, sandbox.Run{}, "/bin/sh", "-c",
		`echo one > a && git add a && git -c user.name=Ann -c user.email=a@example.org commit -qm first && git log --format=%s && echo x > $TMPDIR/x && cat $TMPDIR/x`)
	if err != nil || out != "first\nx\n" {
		t.Errorf("%v\n%s", err, out)
	}
	if got := p.git(t, "log", "--format=%s"); got != "first\n" {
		t.Errorf("outside: %s", got)
	}
}

// What no variable names isn't opened: an empty path would be the folder that we are in.
func TestAStateFolderThatNoVariableNames(t *testing.T) {
	p := newPlace(t)
	t.Setenv("AN_AGENTS_HOME", "")
	walls := raise(t, sandbox.Spec{}, p.folder)
	out, err := p.run(t, walls, sandbox.Run{Agent: sandbox.Agent{Own: []sandbox.Own{{Path: "$AN_AGENTS_HOME"}, {Path: "~/.agent"}}}}, "/bin/sh", "-c", "echo x >~/.agent/x && cat ~/.agent/x")
	if err != nil || out != "x\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// npm's folder for PATH has links into the packages beside it, which may lie where the walls
// show nothing else.
func TestAProgramOfAPackageIsFoundOnPath(t *testing.T) {
	for _, room := range []string{"/tmp", "/dev/shm"} {
		p := newPlace(t)
		packages := filepath.Join(roomIn(t, room), "node_modules")
		must.Write(t, filepath.Join(packages, "tool", "bin.sh"), "#!/bin/sh\necho the tool\n")
		must.OK(t, os.Chmod(filepath.Join(packages, "tool", "bin.sh"), 0o755))
		must.OK(t, os.Mkdir(filepath.Join(packages, ".bin"), 0o755))
		must.OK(t, os.Symlink("../tool/bin.sh", filepath.Join(packages, ".bin", "tool")))
		t.Setenv("PATH", filepath.Join(packages, ".bin")+":"+os.Getenv("PATH"))
		out, err := p.run(t, raise(t, sandbox.Spec{}, p.folder), sandbox.Run{}, "/bin/sh", "-c", "tool")
		if err != nil || out != "the tool\n" {
			t.Errorf("%s: %v\n%s", room, err, out)
		}
	}
}

// roomIn makes a folder of the test's in one that all users have.
func roomIn(t *testing.T, dir string) string {
	t.Helper()
	room, err := os.MkdirTemp(dir, "ralph-room-")
	must.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(room) })
	return room
}

func TestWithoutWallsNothingIsRaised(t *testing.T) {
	for _, mode := range []string{"", sandbox.Off} {
		walls, err := sandbox.Raise(t.Context(), sandbox.Spec{Mode: mode}, "/nowhere")
		if walls != nil || err != nil {
			t.Errorf("%q: %v, %v", mode, walls, err)
		}
		walls.Close()
	}
}

func TestWhatCantBeWalledIsRefused(t *testing.T) {
	p := newPlace(t)
	must.OK(t, os.MkdirAll(filepath.Join(p.home, ".ssh", "work"), 0o700))
	empty := t.TempDir()
	theirs := filepath.Join(p.folder, "bin")
	found, err := exec.LookPath("bwrap")
	must.OK(t, err)
	must.OK(t, os.Mkdir(theirs, 0o755))
	must.OK(t, os.WriteFile(filepath.Join(theirs, "bwrap"), []byte("#!/bin/sh\n"), 0o755))
	broken := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(broken, "bwrap"), []byte("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"), 0o755))
	tests := []struct {
		name, folder, path, want string
		spec                     sandbox.Spec
	}{
		{"bubblewrap is missing", p.folder, empty, "bubblewrap is not installed; install it (Debian, Ubuntu: apt install bubblewrap", sandbox.Spec{}},
		{"the folder brings one", p.folder, theirs, "the only bwrap in PATH is " + filepath.Join(theirs, "bwrap") + ", where the agent may write", sandbox.Spec{}},
		{"the folder has the system's", filepath.Dir(found), filepath.Dir(found), "the only bwrap in PATH is " + found + ", where the agent may write", sandbox.Spec{}},
		{"the kernel refuses", p.folder, broken + ":" + os.Getenv("PATH"), "namespaces (setting up uid map: Permission denied)", sandbox.Spec{}},
		{"the home folder", p.home, "", "your home folder is in it", sandbox.Spec{}},
		{"above it", filepath.Dir(p.home), "", "your home folder is in it", sandbox.Spec{}},
		{"a hidden folder", filepath.Join(p.home, ".ssh", "work"), "", "doesn't exist inside", sandbox.Spec{}},
		{"all may be written", p.folder, "", "the sandbox can't open " + p.home + ": your home folder is in it", sandbox.Spec{Write: []string{"~"}}},
		{"hosts", p.folder, "", "can't tell hosts apart", sandbox.Spec{Engine: sandbox.Bubblewrap, Hosts: []string{"example.org"}}},
		{"too little memory", p.folder, "", "memory_mb = 64 is too little", sandbox.Spec{MemoryMB: 64}},
		{"processes of the other engine", p.folder, "", "bounds neither processes nor memory", sandbox.Spec{Engine: sandbox.Runtime, Processes: 100}},
		{"another engine", p.folder, "", `no engine "chroot"`, sandbox.Spec{Engine: "chroot"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.path != "" {
				t.Setenv("PATH", tt.path)
			}
			tt.spec.Mode = sandbox.Workspace
			walls, err := sandbox.Raise(t.Context(), tt.spec, tt.folder)
			if refused := (*sandbox.Error)(nil); !errors.As(err, &refused) || refused.Fix == "" || !strings.Contains(err.Error(), tt.want) || walls != nil {
				t.Errorf("got %v, %v; want %q", walls, err, tt.want)
			}
		})
	}
}
