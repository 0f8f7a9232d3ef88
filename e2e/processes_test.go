//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"
)

const (
	goneWithin   = 3 * time.Second // every process of a loop, after its end
	pollInterval = 20 * time.Millisecond
)

// process is a living process.
type process struct {
	pid     int
	command string
}

func (p process) String() string { return fmt.Sprintf("%d (%.120s)", p.pid, p.command) }

// processes returns the living processes that have one of the marks, each
// unique to a test's run, as a variable of their environment or as an argument.
// Zombies have neither. Nothing looser would do: other programs of the machine
// may say any word in their command lines, and what is found may be killed.
func processes(marks ...string) []process {
	all, err := gopsutil.Processes()
	if err != nil {
		panic(fmt.Sprintf("listing processes: %v", err))
	}
	var found []process
	for _, p := range all {
		if int(p.Pid) == os.Getpid() {
			continue
		}
		// A process may end at any time, and then has neither.
		args, _ := p.CmdlineSlice()
		environ, _ := p.Environ()
		isMarked := func(mark string) bool {
			return slices.Contains(args, mark) || slices.Contains(environ, mark)
		}
		if slices.ContainsFunc(marks, isMarked) {
			found = append(found, process{int(p.Pid), strings.Join(args, " ")})
		}
	}
	return found
}

// awaitProcesses waits until n processes of the program's have the text in their
// command lines.
func awaitProcesses(p *program, n int, text string) {
	p.t.Helper()
	poll(p, patience, func() string {
		found := 0
		for _, ours := range processes(p.mark) {
			if strings.Contains(ours.command, text) {
				found++
			}
		}
		if found < n {
			return fmt.Sprintf("%d processes with %s, want %d", found, text, n)
		}
		return ""
	})
}

// awaitGone waits until no process has any of the marks.
func awaitGone(p *program, marks ...string) {
	p.t.Helper()
	poll(p, goneWithin, func() string {
		if left := processes(marks...); len(left) > 0 {
			return fmt.Sprintf("left: %v", left)
		}
		return ""
	})
}

// poll asks again and again until there is no complaint any more. It is for
// what only the operating system knows; for all else there are channels.
func poll(p *program, limit time.Duration, complaint func() string) {
	p.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		said := complaint()
		if said == "" {
			return
		}
		if time.Now().After(deadline) {
			p.fatalf("after %s: %s", limit, said)
		}
		time.Sleep(pollInterval)
	}
}

// endAll kills what a failed test has left behind.
func endAll(t *testing.T, mark string) {
	for _, left := range processes(mark) {
		t.Logf("killing %s", left)
		if p, err := os.FindProcess(left.pid); err == nil {
			p.Kill()
		}
	}
}
