package backends

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"ralph-lsp/internal/proctest"
)

func TestSIGKILLOfOurselvesLeavesNothing(t *testing.T) {
	for _, tt := range []struct {
		agent     string
		transport Transport
	}{
		{"works with a deaf tool", TransportPipes},
		{"works with a deaf tool", TransportPTY},
		{"deaf", TransportPipes},
		{"deaf", TransportPTY},
		{"forks on", TransportPipes},
	} {
		t.Run(tt.agent+" on "+string(tt.transport), func(t *testing.T) {
			cmd, tempDir := startDriver(t, tt.agent, tt.transport)
			mark := EnvLoopID + "=" + loopOf(t)
			if len(proctest.Find(mark)) == 0 {
				t.Fatal("no process bears the mark: this test can't see survivors")
			}
			cmd.Process.Kill()
			cmd.Wait()
			proctest.CheckNone(t, hangs, mark)
			awaitRemoved(t, tempDir)
		})
	}
}

func TestSIGKILLOfOurselvesEndsWhatHides(t *testing.T) {
	cmd, tempDir := startDriver(t, "works with tools that hide", TransportPipes)
	if found := proctest.Find(loopOf(t)); len(found) != 2 {
		t.Fatalf("hidden tools: %v, want 2", found)
	}
	cmd.Process.Kill()
	cmd.Wait()
	proctest.CheckNone(t, hangs, loopOf(t))
	awaitRemoved(t, tempDir)
}

// A shell that replaced itself by this program has left it its jobs.
func TestSIGKILLOfOurselvesLeavesAJobOfTheShellsAlone(t *testing.T) {
	job := loopOf(t) + "-job"
	cmd, tempDir := startDriver(t, "works with a deaf tool", TransportPipes, "JOB="+job)
	defer proctest.Kill(t, job)
	cmd.Process.Kill()
	cmd.Wait()
	proctest.CheckNone(t, hangs, EnvLoopID+"="+loopOf(t))
	awaitRemoved(t, tempDir)
	if len(proctest.Find(job)) != 1 {
		t.Error("the guard ended a process that wasn't the loop's")
	}
}

// awaitRemoved waits until a dead driver's guard has removed the temporary
// folder, which is the last that it does.
func awaitRemoved(t *testing.T, tempDir string) {
	t.Helper()
	for deadline := time.Now().Add(hangs); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(tempDir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is still %s", tempDir)
		}
	}
}

func TestEndLeftovers(t *testing.T) {
	// The agent isn't waited for: its driver is gone, as after a crash.
	p, texts := startRole(t, "works with a deaf tool")
	await(t, texts)
	recorded := []Leftover{{PID: p.PID(), StartMark: p.StartMark()}}
	for _, other := range []struct {
		why, folder, loopID string
		recorded            []Leftover
	}{
		{"another loop", p.spec.Dir, "another loop", []Leftover{{PID: p.PID(), StartMark: "another process"}}},
		{"a copy of the folder", t.TempDir(), p.spec.Scope.LoopID, recorded},
	} {
		if _, err := EndLeftovers(other.folder, other.loopID, other.recorded); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.tree.alive(), p.tree.root) {
			t.Fatalf("an agent of %s was ended", other.why)
		}
	}
	ended, err := EndLeftovers(p.spec.Dir, p.spec.Scope.LoopID, recorded)
	if ended < 2 || err != nil {
		t.Errorf("ended %d, %v", ended, err)
	}
	p.Wait()
	checkNothingLeft(t, p)
}

func TestTheGuardOfADeadOwnerLeavesTheSuccessorAlone(t *testing.T) {
	cmd, tempDir := startDriver(t, "works with a deaf tool", TransportPipes)
	p, texts := startRole(t, "works with a deaf tool") // in the same loop, continued by us
	await(t, texts)
	cmd.Process.Kill()
	cmd.Wait()
	awaitRemoved(t, tempDir)
	if !p.tree.root.alive() {
		t.Error("the guard ended an agent that wasn't its own")
	}
	p.Stop(0)
	p.Wait()
}
