package reaper

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// watcherProgram is the name under which this program watches over a run: it outlives who
// started it, which tells it of each process on its stdin, and ends them when that closes
// without having said that all are gone.
const watcherProgram = "ralph-lsp-watcher"

const allGone = "gone"

func init() {
	if len(os.Args) == 3 && os.Args[0] == watcherProgram {
		grace, _ := strconv.Atoi(os.Args[2])
		watcherMain(&Tree{Table: System{}, Mark: os.Args[1]}, time.Duration(grace)*time.Millisecond)
		os.Exit(0)
	}
}

func watcherMain(t *Tree, grace time.Duration) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		pid, start, _ := strings.Cut(lines.Text(), " ")
		if pid == allGone {
			return
		}
		if number, err := strconv.Atoi(pid); err == nil {
			t.Add(Proc{number, start})
		}
	}
	t.End(grace)
}

// Guard starts the process that ends the tree when this one is killed. release says that
// nothing of the tree is left.
func (t *Tree) Guard(grace time.Duration) (release func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Args = []string{watcherProgram, t.Mark, strconv.FormatInt(grace.Milliseconds(), 10)}
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setsid: true}
	tell, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("the process that watches over an agent: %w", err)
	}
	t.OnNew = func(p Proc) { fmt.Fprintln(tell, p.PID, p.Start) }
	return func() {
		fmt.Fprintln(tell, allGone)
		tell.Close()
		cmd.Wait()
	}, nil
}
