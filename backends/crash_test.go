package backends

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"
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
			if len(marked(EnvLoopID, "ralph-driver")) == 0 {
				t.Fatal("no process bears the mark: this test can't see survivors")
			}
			cmd.Process.Kill()
			cmd.Wait()
			deadline := time.Now().Add(3 * time.Second)
			for len(marked(EnvLoopID, "ralph-driver")) > 0 {
				if time.Now().After(deadline) {
					t.Fatalf("alive after 3 s: %v", marked(EnvLoopID, "ralph-driver"))
				}
				time.Sleep(10 * time.Millisecond)
			}
			for { // the guard removes the folder last
				if _, err := os.Stat(tempDir); errors.Is(err, fs.ErrNotExist) {
					return
				}
				if time.Now().After(deadline.Add(time.Second)) {
					t.Fatalf("%s was left behind", tempDir)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

func TestEndLeftovers(t *testing.T) {
	// The agent isn't waited for: its driver is gone, as after a crash.
	p, texts := startRole(t, "works with a deaf tool")
	await(t, texts)
	if _, err := EndLeftovers("another loop", []Leftover{{PID: p.PID(), StartMark: "another process"}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.tree.alive(), p.tree.root) {
		t.Fatal("an agent of another loop was ended")
	}
	ended, err := EndLeftovers(p.spec.Scope.LoopID, []Leftover{{PID: p.PID(), StartMark: p.StartMark()}})
	if ended < 2 || err != nil {
		t.Errorf("ended %d, %v", ended, err)
	}
	p.Wait()
	checkNothingLeft(t, p)
}

func TestTheGuardOfADeadOwnerLeavesTheSuccessorAlone(t *testing.T) {
	cmd, tempDir := startDriver(t, "works with a deaf tool", TransportPipes)
	scope, err := OpenScope("ralph-driver") // the same loop, continued by us
	if err != nil {
		t.Fatal(err)
	}
	defer scope.Close()
	p, texts := startRole(t, "works with a deaf tool", func(s *Spec) { s.Scope = scope })
	await(t, texts)
	cmd.Process.Kill()
	cmd.Wait()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(tempDir); errors.Is(err, fs.ErrNotExist) {
			break // the guard is done
		}
		if time.Now().After(deadline) {
			t.Fatal("the guard goes on for 5 s")
		}
	}
	if !p.tree.root.alive() {
		t.Error("the guard ended an agent that wasn't its own")
	}
	p.Stop(0)
	p.Wait()
}
