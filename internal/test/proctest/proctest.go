// Package proctest finds processes by what only they have, for tests that
// promise to leave none behind. It reads /proc, so that a look is cheap enough
// to measure milliseconds with.
package proctest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pollInterval is the shortest time between two looks.
const pollInterval = 5 * time.Millisecond

// Pause waits until it is worth to look again at what only the system knows, which tells nobody but the
// parent: the longer since it began, the longer. A look at all processes takes milliseconds of a processor.
func Pause(since time.Time) {
	time.Sleep(min(max(time.Since(since)/5, pollInterval), 250*time.Millisecond))
}

// Patience bounds every wait of a test for something that must happen: only what hangs takes longer, whatever else the
// machine does.
const Patience = 5 * time.Minute

// Until waits for what only the system, or a loop at its own pace, makes true. Only a hang reaches its end.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); Pause(begun) {
		if time.Since(begun) > Patience {
			t.Fatalf("not yet: %s", what)
		}
	}
}

// Process is a living process.
type Process struct {
	PID     int
	Command string // its arguments with spaces between
}

// String has the state as well, as ps shows it: who is left may have been stopped.
func (p Process) String() string {
	state := "?"
	if _, rest, ok := bytes.Cut(read(p.PID, "stat"), []byte(") ")); ok {
		state = string(rest[:1])
	}
	return fmt.Sprintf("%d %s (%.120s)", p.PID, state, p.Command)
}

// Find returns the living processes, this one apart, that have one of the
// marks. A mark is NAME=value, a variable of their environment, or else a whole
// argument; zombies have neither. Nothing looser would do: other programs of
// the machine may say any word, and what is found may be killed. It panics
// where there is no /proc.
func Find(marks ...string) []Process {
	var variables, arguments []string
	for _, mark := range marks {
		if strings.Contains(mark, "=") {
			variables = append(variables, mark)
		} else {
			arguments = append(arguments, mark)
		}
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		panic(fmt.Sprintf("listing processes: %v", err))
	}
	var found []Process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if hasOne(pid, "environ", variables) || hasOne(pid, "cmdline", arguments) {
			command := bytes.ReplaceAll(read(pid, "cmdline"), []byte{0}, []byte{' '})
			found = append(found, Process{pid, string(bytes.TrimSpace(command))})
		}
	}
	return found
}

// hasOne says whether a file of a process's has one of the strings.
func hasOne(pid int, file string, wanted []string) bool {
	if len(wanted) == 0 {
		return false
	}
	content, begun := read(pid, file), time.Now()
	for tries := 0; tries < 5 && len(content) == 0 && hasProgram(pid); tries++ {
		// It has none, or is in an exec, which hides its arguments, too; the next exec may follow at once.
		for len(read(pid, "cmdline")) == 0 && hasProgram(pid) && time.Since(begun) < time.Second {
			time.Sleep(100 * time.Microsecond)
		}
		content = read(pid, file)
	}
	list := append([]byte{0}, content...)
	for _, s := range wanted {
		if bytes.Contains(list, []byte("\x00"+s+"\x00")) {
			return true
		}
	}
	return false
}

// hasProgram says whether a process runs one: zombies and the kernel's own don't.
func hasProgram(pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil
}

// read returns what a process's file has: strings, each with a zero byte behind
// it. It is empty for a process that is gone, or another user's.
func read(pid int, file string) []byte {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	return data
}

// AwaitNone waits until no process has any of the marks, and returns those that
// still do when the time is over.
func AwaitNone(within time.Duration, marks ...string) (left []Process) {
	for begun := time.Now(); ; Pause(begun) {
		left = Find(marks...)
		if len(left) == 0 || time.Since(begun) > within {
			return left
		}
	}
}

// CheckNone waits as AwaitNone does. Processes that are left fail the test, and
// are killed.
func CheckNone(t testing.TB, within time.Duration, marks ...string) {
	t.Helper()
	if left := AwaitNone(within, marks...); len(left) > 0 {
		t.Errorf("left after %v: %v", within, left)
		Kill(t, marks...)
	}
}

// Kill kills what a failed test has left behind, and logs it.
func Kill(t testing.TB, marks ...string) {
	t.Helper()
	for _, left := range Find(marks...) {
		t.Logf("killing %v", left)
		if p, err := os.FindProcess(left.PID); err == nil {
			p.Kill()
		}
	}
}

// AtEnd runs a program when the test ends, and when the test's process is killed: it waits
// for the end of a pipe that only this process holds. It has no mark of the test's processes.
func AtEnd(t testing.TB, program string, args ...string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `trap "" HUP INT TERM; cat >/dev/null; exec "$@"`, "sh", program}, args...)...)
	held, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		held.Close()
		cmd.Wait() // what it ends may be gone already
	})
}

// Children are the processes that a process has started and that still run.
func Children(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		data, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(data)) {
			child, _ := strconv.Atoi(word)
			children = append(children, child)
		}
	}
	return children
}
