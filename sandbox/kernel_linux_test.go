package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/sandbox/inside"
)

// listWritable prints which parts of the machine could be written. It only asks: opening alone
// does something with some devices.
func listWritable() {
	for _, root := range []string{"/proc", "/sys", "/dev"} {
		filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			name, _ := strings.CutPrefix(path, "/proc/")
			switch {
			case err != nil:
				return nil
			case root == "/proc" && name != "" && name[0] >= '0' && name[0] <= '9', path == "/dev/pts", path == "/dev/shm":
				return filepath.SkipDir // processes, of which only ours are there, and places of this run's own
			case entry.Type()&(fs.ModeSymlink|fs.ModeNamedPipe|fs.ModeSocket) != 0 || entry.IsDir():
				return nil
			}
			if unix.Access(path, unix.W_OK) == nil {
				fmt.Println(path)
			}
			return nil
		})
	}
}

// Nothing of the kernel's is to be had but the devices that everybody needs. Root is who
// could: file permissions keep it from nothing there, with or without privileges.
func TestTheMachineItselfIsReadOnly(t *testing.T) {
	walltest.Both(t, func(t *testing.T) {
		p := newPlace(t)
		var had []string
		for _, isWalled := range []bool{false, true} {
			cmd := exec.Command(os.Args[0])
			cmd.Dir, cmd.Env = p.folder, append(os.Environ(), "ATTACK=listWritable")
			if isWalled {
				settle, err := raise(t, sandbox.Spec{Env: []string{"ATTACK"}}, p.folder).Wrap(cmd, sandbox.Run{TempDir: t.TempDir()})
				must.OK(t, err)
				defer settle()
			}
			out, err := cmd.Output()
			must.OK(t, err)
			had = strings.Fields(string(out))
			if !isWalled && os.Geteuid() == 0 && !strings.Contains(string(out), "/proc/sys/kernel/core_pattern\n") {
				t.Error("root can't have it without walls either, so this shows nothing")
			}
		}
		allowed := regexp.MustCompile(`^/dev/(null|zero|full|random|urandom|tty)$`)
		if os.Geteuid() != 0 { // settings of namespaces of its own; and questions, whose asker is told of load
			allowed = regexp.MustCompile(allowed.String() + `|^/proc/(sys/fs/mqueue/|sys/kernel/(auto_msgmni|msgm|sem$|shm|ns_last_pid|pid_max)|pressure/)`)
		}
		for _, path := range had {
			if !allowed.MatchString(path) {
				t.Errorf("%s can be written", path)
			}
		}
	})
}

// Where the kernel can't close abstract sockets, each start behind walls with a network says so.
func TestOpenSocketsAreTold(t *testing.T) {
	walled := sandbox.Spec{Mode: sandbox.Workspace, Network: true}
	if told := sandbox.OpenSockets(walled); (told == "") != inside.CanScopeSockets() {
		t.Errorf("told %q", told)
	}
	sandbox.WithoutScopes(t)
	if told := sandbox.OpenSockets(walled); !strings.HasPrefix(told, "this kernel can't close abstract unix sockets (Linux 6.12 and newer can, with Landlock)") {
		t.Errorf("told %q", told)
	}
	for _, spec := range []sandbox.Spec{{Network: true}, {Mode: sandbox.Workspace}, {Mode: sandbox.Workspace, Network: true, Engine: sandbox.Runtime}} {
		if told := sandbox.OpenSockets(spec); told != "" {
			t.Errorf("%+v: told %q", spec, told)
		}
	}
}
