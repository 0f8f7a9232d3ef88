package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// said is what the agent of BenchmarkRuns says: runs that use no tool would be paced.
const said = `{"type":"tool_execution_start","toolCallId":"t","toolName":"bash","args":{}}
{"type":"tool_execution_end","toolCallId":"t","toolName":"bash","result":{"content":[]},"isError":false}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"hello"}],"stopReason":"stop"}}
{"type":"agent_settled"}
`

// BenchmarkRuns measures a hundred runs of an agent that changes nothing, in processor time next to a shell's loop over
// the same program, and the time from the start of the first until its agent begins next to that of the agent alone.
func BenchmarkRuns(b *testing.B) {
	program, _ := buildBoth(b)
	home, folder := b.TempDir(), b.TempDir()
	b.Setenv("HOME", home)
	b.Setenv("XDG_CONFIG_HOME", "")
	b.Setenv("XDG_STATE_HOME", "")
	fifo, agent := filepath.Join(home, "began"), filepath.Join(home, "agent")
	insist := func(err error) {
		must.OK(b, err)
	}
	insist(os.WriteFile(filepath.Join(home, "said"), []byte(said), 0o600))
	insist(os.WriteFile(agent, fmt.Appendf(nil, "#!/bin/sh\n[ -p %q ] && : >%q\ncat %q\n", fifo, fifo, filepath.Join(home, "said")), 0o700))
	insist(os.MkdirAll(filepath.Join(home, ".config", "ralph-lsp"), 0o700))
	insist(os.WriteFile(filepath.Join(home, ".config", "ralph-lsp", "config.toml"), fmt.Appendf(nil, "[backends.mine]\ncommand = %q\noutput = \"pi-stream-json\"\n[notify]\nkeep_awake = false\n", agent), 0o600))
	insist(os.WriteFile(filepath.Join(folder, "file"), []byte("1\n"), 0o600))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}} {
		insist((&exec.Cmd{Path: found(b, "git"), Args: append([]string{"git"}, args...), Dir: folder}).Run())
	}
	loop := func(runs string) *exec.Cmd {
		cmd := exec.Command(program, "run", "x", "--backend", "mine", "--max-iterations", runs, "--max-unchanged-iterations", "0", "--output", "quiet")
		cmd.Dir = folder
		return cmd
	}
	insist(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) // a loop's own process may outlive its window for a moment
	work := func(cmd *exec.Cmd) time.Duration {
		before := ofChildren()
		_ = cmd.Run() // a loop that ends at a limit fails
		return ofChildren() - before
	}
	begin := func(cmd *exec.Cmd) time.Duration {
		insist(exec.Command("mkfifo", fifo).Run())
		defer os.Remove(fifo)
		start := time.Now()
		insist(cmd.Start())
		file, err := os.Open(fifo) // waits for who writes
		took := time.Since(start)
		insist(err)
		file.Close()
		_ = cmd.Wait()
		return took
	}
	for b.Loop() {
		var hundred, shell, first, alone []time.Duration
		for range 5 {
			hundred = append(hundred, work(loop("100")))
			shell = append(shell, work(exec.Command("sh", "-c", `i=0; while [ $i -lt 100 ]; do "$0" </dev/null >/dev/null; i=$((i+1)); done`, agent)))
		}
		for range starts {
			first = append(first, begin(loop("1")))
			alone = append(alone, begin(exec.Command(agent)))
		}
		b.ReportMetric(ms(median(hundred))/ms(median(shell)), "x-shell/100-runs")
		b.ReportMetric(ms(median(first)), "ms/first-agent")
		b.ReportMetric(ms(median(alone)), "ms/agent-alone")
	}
	b.ReportMetric(0, "ns/op")
}

// ofChildren is what all processes below this one have taken that have ended, once none is left.
func ofChildren() time.Duration {
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); errors.Is(err, unix.ECHILD) {
			break
		}
	}
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_CHILDREN, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func found(b *testing.B, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		b.Skip(err)
	}
	return path
}
