//go:build e2e

package sidecar

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// kept is a loop that outlives its editor, with the mark that all its processes bear.
type kept struct {
	dir, mark string
}

func (k *kept) editor(t *testing.T) *editor {
	cmd := exec.Command(sidecar, "--stdio")
	cmd.Env = append(os.Environ(), roleEnv+"=stubborn", k.mark)
	return launch(t, cmd, k.dir)
}

// keep starts a loop that is kept, or one that is detached once its agent works.
func keep(t *testing.T, isKept bool) (*kept, *editor) {
	dir := t.TempDir()
	k := &kept{dir, fmt.Sprintf("RALPH_KEEP_TEST=%d-%s", os.Getpid(), filepath.Base(filepath.Dir(dir))+filepath.Base(dir))}
	t.Cleanup(func() { exec.Command(sidecar, "cancel", "-C", dir).Run() })
	e := k.editor(t)
	if isKept {
		e.start(dir, "work --on-close keep")
		k.await(t, "keeper", "deaf")
	} else {
		e.start(dir, "work")
		k.await(t, "deaf")
		e.Must(e.Command("ralph.loop.detach", map[string]any{"folder": "file://" + dir}))
	}
	return k, e
}

// find returns the processes of the loop that are a keeper, a reaper, its agent or a tool.
func (k *kept) find(what string) []proctest.Process {
	plays := proctest.Find(roleEnv + "=" + what)
	return slices.DeleteFunc(proctest.Find(k.mark), func(p proctest.Process) bool {
		switch what {
		case "keeper":
			return !strings.HasPrefix(p.Command, "ralph-lsp-keeper ")
		case "reaper":
			return !strings.Contains(p.Command, "ralph-lsp-reaper")
		}
		return !strings.HasPrefix(p.Command, os.Args[0]) || !slices.Contains(plays, p)
	})
}

// await waits until all of these run.
func (k *kept) await(t *testing.T, all ...string) {
	t.Helper()
	for begin := time.Now(); slices.ContainsFunc(all, func(what string) bool { return len(k.find(what)) == 0 }); proctest.Pause(begin) {
		if time.Since(begin) > patience {
			t.Fatalf("of %q there are only %v", all, proctest.Find(k.mark))
		}
	}
}

func (k *kept) status(t *testing.T) string {
	out, err := exec.Command(sidecar, "status", "--json", "-C", k.dir).Output()
	must.OK(t, err)
	return string(out)
}

// However its editor ends, a kept loop goes on, and so does one that was detached a moment
// before; another editor finds it and ends all of it.
func TestAKeptLoopOutlivesItsEditor(t *testing.T) {
	for _, isKept := range []bool{true, false} {
		for i, way := range ways {
			if !isKept && i%2 == 0 {
				continue // what a kept loop outlives in each way, one that was detached does
			}
			t.Run(fmt.Sprintf("kept from its start %t, %s", isKept, way.name), func(t *testing.T) {
				t.Parallel()
				k, e := keep(t, isKept)
				way.end(e)
				<-e.done
				for begin := time.Now(); ; proctest.Pause(begin) { // the keeper takes the folder when the agents before are gone
					now := k.status(t)
					if strings.Contains(now, `"detached":true`) && strings.Contains(now, `"state":"running"`) {
						break
					}
					if time.Since(begin) > patience {
						t.Fatalf("status: %s", now)
					}
				}
				k.await(t, "keeper", "deaf")
				next := k.editor(t)
				next.Must(next.Command("ralph.loop.cancel", map[string]any{"folder": "file://" + k.dir}))
				next.Close()
				<-next.done
				proctest.CheckNone(t, patience, k.mark)
				if _, err := os.Stat(filepath.Join(k.dir, ".pi", "ralph-loop.local.md")); !os.IsNotExist(err) {
					t.Errorf("the cancelled loop left something: %v", err)
				}
			})
		}
	}
}

// A kept loop's processes may be killed, one or two of them at once: what isn't to be there
// any more goes, and the loop can go on.
func TestAKilledKeeperLeavesNothing(t *testing.T) {
	for _, whom := range [][]string{{"keeper"}, {"reaper"}, {"keeper", "reaper"}, {"stubborn"}} {
		t.Run(strings.Join(whom, " and "), func(t *testing.T) {
			t.Parallel()
			k, e := keep(t, true)
			e.Close()
			<-e.done
			for _, what := range whom {
				for _, p := range k.find(what) {
					syscall.Kill(p.PID, syscall.SIGKILL)
				}
			}
			if whom[0] == "keeper" && len(whom) == 1 {
				proctest.CheckNone(t, patience, k.mark)
				if now := k.status(t); !strings.Contains(now, `"state":"interrupted"`) || strings.Contains(now, `"detached"`) {
					t.Errorf("status: %s", now)
				}
			}
			if out, err := exec.Command(sidecar, "cancel", "-C", k.dir).CombinedOutput(); err != nil {
				t.Errorf("cancel: %v: %s", err, out)
			}
			proctest.CheckNone(t, patience, k.mark)
		})
	}
}

// An installation puts another program into the place of the one that a keeper runs. The loop goes on
// all the same, also when it needs a new reaper and agent, and the new program commands it.
func TestTheProgramIsReplacedBelowAKeeper(t *testing.T) {
	program, dir := filepath.Join(t.TempDir(), "ralph-lsp"), t.TempDir()
	k := &kept{dir, fmt.Sprintf("RALPH_KEEP_TEST=%d-replaced", os.Getpid())}
	t.Cleanup(func() { exec.Command(sidecar, "cancel", "-C", dir).Run() })
	own, err := os.ReadFile(sidecar)
	if err == nil {
		err = os.WriteFile(program, own, 0o700)
	}
	must.OK(t, err)
	say := func(program string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, append(args, "-C", dir)...)
		cmd.Env = append(os.Environ(), roleEnv+"=stubborn", k.mark)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args[0], err, out)
		}
	}
	until := func(what string) {
		t.Helper()
		for begin := time.Now(); ; proctest.Pause(begin) {
			now := k.status(t)
			if strings.Contains(now, what) && strings.Contains(now, `"detached":true`) && len(k.find("deaf")) > 0 {
				return
			}
			if time.Since(begin) > patience {
				t.Fatalf("it isn't %s: %s", what, now)
			}
		}
	}
	say(program, "run", "work", "--detach", "--backend", os.Args[0], "--backend-output", "pi-stream-json", "--completion-promise", "DONE")
	until(`"iteration":1`)
	must.OK(t, errors.Join(os.WriteFile(program+".new", []byte("#!/bin/false\n"), 0o700), os.Rename(program+".new", program)))
	for _, p := range k.find("reaper") {
		syscall.Kill(p.PID, syscall.SIGKILL)
	}
	until(`"iteration":2`)
	say(sidecar, "steer", "use tabs")
	say(sidecar, "next")
	until(`"iteration":3`)
	say(sidecar, "pause")
	say(sidecar, "cancel")
	proctest.CheckNone(t, patience, k.mark)
}
