package inside

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// play plays the role, in this test's binary, before a program.
func play(t *testing.T, s Stage, argv ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], s.Args(argv[0], argv)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestAStageIsThenTheProgram(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte(`echo "$1"; ulimit -n`), 0o755); err != nil { // of no shell in particular
		t.Fatal(err)
	}
	var files syscall.Rlimit
	must.OK(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	var there syscall.Stat_t
	must.OK(t, syscall.Lstat(dir, &there))
	here := FileID{dir, uint64(there.Dev), there.Ino}
	other := FileID{dir, uint64(there.Dev), there.Ino + 1}
	group := filepath.Join(dir, "group")
	must.OK(t, os.Mkdir(group, 0o755))
	must.OK(t, os.WriteFile(filepath.Join(group, "cgroup.procs"), nil, 0o600))
	tests := []struct {
		name  string
		stage Stage
		argv  []string
		want  string
		fails bool
	}{
		{"nothing", Stage{}, []string{"/bin/echo", "a", "b c"}, "a b c\n", false},
		{"a script without a shell", Stage{}, []string{script, "a"}, "a\n", false},
		{"what is there", Stage{Places: []FileID{here}}, []string{"/bin/echo", "a"}, "a\n", false},
		{"what was replaced", Stage{Places: []FileID{here, other}}, []string{"/bin/echo", "a"}, dir + " was replaced while the run began", true},
		{"what is gone", Stage{Places: []FileID{{Path: filepath.Join(dir, "gone")}}}, []string{"/bin/echo", "a"}, "was replaced", true},
		{"no program", Stage{}, []string{filepath.Join(dir, "gone")}, "no such file", true},
		{"a control group", Stage{Group: group}, []string{"/bin/cat", filepath.Join(group, "cgroup.procs")}, "0", false},
		{"none", Stage{Group: filepath.Join(dir, "gone")}, []string{"/bin/echo", "a"}, "the control group", true},
		{"memory", Stage{Data: 64 << 20}, []string{"/bin/sh", "-c", "ulimit -d"}, "65536\n", false},
	}
	if os.Geteuid() == 0 { // others need walls, which take new privileges away
		alone := tests[0]
		alone.name, alone.stage, alone.argv = "a namespace", Stage{Filter: true, Alone: true}, []string{"/usr/bin/unshare", "-U", "/bin/echo", "made"}
		alone.want, alone.fails = "not permitted", true
		filtered := tests[0]
		filtered.name, filtered.stage, filtered.argv, filtered.want = "a filter", Stage{Filter: true}, []string{"/bin/grep", "Seccomp:", "/proc/self/status"}, "Seccomp:\t2\n"
		tests = append(tests, alone, filtered)
	}
	for _, tt := range tests {
		out, err := play(t, tt.stage, tt.argv...)
		if !strings.Contains(out, tt.want) || (err != nil) != tt.fails {
			t.Errorf("%s: %v\n%s", tt.name, err, out)
		}
	}
}

// A filter knows each way to call: with the jumps of one that is wrong, the kernel takes none.
func TestFiltersOfAllMachines(t *testing.T) {
	const arm, amd = "arm64", "amd64"
	answer := func(machine string, alone bool, arch, number, first uint32) uint32 {
		var word uint32
		program := filter(alone, machine)
		for at := 0; at < len(program); at++ {
			i := program[at]
			jump := func(is bool) {
				if is {
					at += int(i.yes)
				} else {
					at += int(i.no)
				}
			}
			switch i.code {
			case load:
				word = map[uint32]uint32{0: number, 4: arch, 16: first}[i.k]
			case equal:
				jump(word == i.k)
			case above:
				jump(word >= i.k)
			case bits:
				jump(word&i.k != 0)
			case say:
				return i.k
			}
		}
		t.Fatal("no answer")
		return 0
	}
	no := func(why syscall.Errno) uint32 { return refused | uint32(why) }
	tests := []struct {
		machine             string
		alone               bool
		arch, number, first uint32
		want                uint32
	}{
		{amd, true, 0xc000003e, 1, 0, allowed},
		{amd, true, 0xc000003e, 56, newUser | 17, no(syscall.EPERM)},
		{amd, true, 0xc000003e, 56, 17, allowed},
		{amd, false, 0xc000003e, 56, newUser, allowed},
		{amd, true, 0xc000003e, 272, newUser, no(syscall.EPERM)},
		{amd, true, 0xc000003e, 272, 0x20000, allowed},
		{amd, true, 0xc000003e, 435, 0, no(syscall.ENOSYS)},
		{amd, false, 0xc000003e, 435, 0, allowed},
		{amd, false, 0xc000003e, 250, 0, no(syscall.EPERM)},
		{amd, false, 0xc000003e, x32Bit + 250, 0, no(syscall.ENOSYS)},
		{amd, false, 0x40000003, 288, 0, no(syscall.EPERM)},
		{amd, true, 0x40000003, 310, newUser, no(syscall.EPERM)},
		{amd, true, 0x40000003, 4, 0, allowed},
		{amd, true, 7, 4, 0, no(syscall.ENOSYS)},
		{arm, true, 0xc00000b7, 220, newUser, no(syscall.EPERM)},
		{arm, true, 0x40000028, 337, newUser, no(syscall.EPERM)},
		{arm, false, 0xc00000b7, 219, 0, no(syscall.EPERM)},
		{arm, false, 0xc00000b7, 64, 0, allowed},
	}
	for _, tt := range tests {
		if got := answer(tt.machine, tt.alone, tt.arch, tt.number, tt.first); got != tt.want {
			t.Errorf("%+v: got %#x", tt, got)
		}
	}
}
