package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/outside"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

const cantRaise = "the sandbox can't be raised"

// findBubblewrap looks for bwrap in PATH, but not where those who are to be walled could
// have put one of theirs.
func findBubblewrap(isTheirs func(path string) bool) (string, error) {
	if runtime.GOOS != "linux" {
		return "", &Error{cantRaise, "bubblewrap is for Linux only", `say engine = "sandbox-runtime" below [sandbox]`}
	}
	return lookFor("bwrap", isTheirs, Error{cantRaise, "bubblewrap is not installed", "install it (Debian, Ubuntu: apt " +
		"install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap)"})
}

// Check says whether walls could be raised here, with an *Error if not: around an empty folder.
func Check(ctx context.Context, engine string) error {
	return inScratch(func(dir string) error {
		walls, err := Raise(ctx, Spec{Mode: Workspace, Engine: engine}, dir)
		walls.Close()
		return err
	})
}

// inScratch does something with a folder that is there as long.
func inScratch(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "ralph-walls-")
	if err != nil {
		return &Error{cantRaise, err.Error(), "set TMPDIR to a folder that can be written to"}
	}
	defer os.RemoveAll(dir)
	return do(dir)
}

// nothing is a program that does nothing, in a folder.
func nothing(ctx context.Context, folder string) (*exec.Cmd, error) {
	program, err := outside.LookPath("true")
	if err != nil {
		return nil, &Error{cantRaise, err.Error(), "put a program true into PATH to try it with"}
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = folder
	return cmd, nil
}

// manyGone is how often walls are tried while what they hide goes meanwhile: sockets do, with the programs that listen.
const manyGone = 20

// try raises the walls around a program that does nothing.
func (w *mounts) try(ctx context.Context) error {
	return inScratch(func(dir string) error {
		for _, isCheck := range []bool{false, true} {
			said, isGone := "", true
			for range manyGone {
				var err error
				if said, isGone, err = tryOnce(ctx, w, Run{TempDir: dir, IsCheck: isCheck}); err != nil {
					return err
				}
				if said == "" || !isGone {
					break
				}
			}
			if said != "" {
				return refusal(Bubblewrap, w.bwrap, strings.TrimPrefix(said, "bwrap: "))
			}
		}
		return nil
	})
}

// tryOnce returns what bubblewrap complains of, and whether something is gone that it was to hide.
func tryOnce(ctx context.Context, w *mounts, run Run) (said string, isGone bool, err error) {
	cmd, err := nothing(ctx, w.folder)
	if err != nil {
		return "", false, err
	}
	around, err := w.wrap(cmd, run)
	if err != nil {
		return "", false, err
	}
	defer around.release()
	said = complaintOf(cmd)
	return said, slices.ContainsFunc(around.hidden, func(path string) bool { return !exists(path) }), nil
}

// complaintOf runs a program to its end, and says why it failed; "" if it didn't.
func complaintOf(cmd *exec.Cmd) string {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if err == nil {
		return ""
	}
	said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	return cmp.Or(said, err.Error())
}

// The files by which Linux says that it keeps users from making namespaces.
const (
	appArmorSwitch = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
	debianSwitch   = "/proc/sys/kernel/unprivileged_userns_clone"
	countSwitch    = "/proc/sys/user/max_user_namespaces"
)

// refusal says why an engine could not, and what helps. bwrap is the program that it makes namespaces with, if any.
func refusal(engine, bwrap, said string) error {
	isKernel := bwrap != "" && (strings.Contains(said, "namespace") || strings.Contains(said, "uid map") ||
		strings.Contains(said, "RTM_NEWADDR") || strings.Contains(said, "Failed to make / slave"))
	switch {
	case isKernel && valueOf(appArmorSwitch) == "1":
		return &Error{cantRaise, "AppArmor keeps bubblewrap from making namespaces (" + said + ")", AppArmorFix(bwrap)}
	case isKernel && valueOf(debianSwitch) == "0":
		return &Error{cantRaise, "the kernel lets only root make namespaces (" + said + ")",
			"sudo sysctl -w kernel.unprivileged_userns_clone=1, and the same line in /etc/sysctl.d/60-userns.conf to keep it"}
	case isKernel && valueOf(countSwitch) == "0":
		return &Error{cantRaise, "the kernel allows no user namespaces (" + said + ")",
			"sudo sysctl -w user.max_user_namespaces=15000, and the same line in /etc/sysctl.d/60-userns.conf to keep it"}
	case isKernel:
		return &Error{cantRaise, "this system lets bubblewrap make no namespaces (" + said + ")",
			"in a container, start that with permission to make namespaces (docker run --security-opt seccomp=unconfined " +
				"--security-opt systempaths=unconfined), or run without a sandbox there"}
	case engine == Runtime:
		return &Error{cantRaise, engine + " says: " + said, "see the requirements of sandbox-runtime"}
	}
	return &Error{cantRaise, engine + " says: " + said, "take the path that it names out of the configuration, or correct it"}
}

// AppArmorFix is what lets bubblewrap work on Ubuntu 24.04 and later, as commands.
func AppArmorFix(bwrap string) string {
	return fmt.Sprintf(`allow it with a profile: printf 'abi <abi/4.0>,\ninclude <tunables/global>\nprofile bwrap %s `+
		`flags=(unconfined) {\n  userns,\n  include if exists <local/bwrap>\n}\n' | sudo tee /etc/apparmor.d/bwrap && sudo `+
		`apparmor_parser -r /etc/apparmor.d/bwrap`, bwrap)
}

func valueOf(file string) string {
	data, _ := regular.Read(file, regular.Short)
	return strings.TrimSpace(string(data))
}
