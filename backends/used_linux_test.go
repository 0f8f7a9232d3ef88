package backends

import (
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// toCompute is of a processor, and several times what starting a program takes.
const toCompute = 500 * time.Millisecond

func init() {
	roles["computer"] = compute
	roles["has somebody compute"] = func() {
		spawn("computer", nil)
		say("begun")
		time.Sleep(time.Hour)
	}
	roles["had somebody compute"] = func() {
		if err := spawn("computer", nil).Wait(); err != nil {
			panic(err)
		}
		say("over")
		time.Sleep(time.Hour)
	}
	roles["computes itself"] = func() {
		compute()
		say("over")
		time.Sleep(time.Hour)
	}
}

// compute computes for toCompute, however long that takes.
func compute() {
	for used := time.Duration(0); used < toCompute; {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			panic(err)
		}
		used = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
}

// What an agent has started is seen to compute, while it does and when it has; the agent itself isn't.
func TestWhatAnAgentHasStartedComputes(t *testing.T) {
	for place, edit := range map[string]func(t *testing.T) func(*Spec){
		"free":         func(*testing.T) func(*Spec) { return func(*Spec) {} },
		"behind walls": func(t *testing.T) func(*Spec) { return behindWalls(t) },
	} {
		t.Run(place, func(t *testing.T) {
			for role, want := range map[string]bool{"has somebody compute": true, "had somebody compute": true, "computes itself": false} {
				t.Run(role, func(t *testing.T) {
					p, texts := startRole(t, role, edit(t))
					await(t, texts)
					if want {
						proctest.Until(t, "it is seen to compute", func() bool { return p.Used() >= toCompute/2 })
					} else if used := p.Used(); used >= toCompute/2 {
						t.Errorf("it is seen to have computed for %s", used)
					}
					p.Stop(0)
					p.Wait()
					if used := p.Used(); used != 0 {
						t.Errorf("it is gone, and has used %s", used)
					}
				})
			}
		})
	}
}
