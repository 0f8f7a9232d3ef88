package proctest

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Kills is how often a test kills a program at any moment: as often as usual, or as RALPH_TEST_KILLS says.
func Kills(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("RALPH_TEST_KILLS")); err == nil {
		return n
	}
	return usual
}

// KillAnywhere runs the test binary with arguments and kills it at any moment: within a time behind any of its lines, and
// with all that it has started, if that is wanted. said gets all that it had said. It returns how many children were
// killed. What the program complains of fails the test.
func KillAnywhere(t testing.TB, within time.Duration, withChildren bool, said func(line string), args ...string) (children int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for rand.IntN(5) > 1 && lines.Scan() {
		said(lines.Text())
	}
	time.Sleep(rand.N(within))
	var below []int
	if withChildren {
		below = Children(cmd.Process.Pid)
	}
	cmd.Process.Kill()
	for _, pid := range below {
		if child, err := os.FindProcess(pid); err == nil && child.Signal(syscall.SIGKILL) == nil {
			children++
		}
	}
	for lines.Scan() {
		said(lines.Text())
	}
	if cmd.Wait(); complaint.Len() > 0 { // that it was killed is no news
		t.Fatal(complaint.String())
	}
	return children
}
