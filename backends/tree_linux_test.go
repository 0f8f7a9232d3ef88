package backends

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// orphan starts a child that this process doesn't know, in a group of its own:
// what an agent's tool that cleaned its environment leaves.
func orphan(t *testing.T, group int) stat {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = cleaned("sleeper")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	s, ok := readStat(cmd.Process.Pid)
	if !ok {
		t.Fatal("the child is gone")
	}
	return s
}

func TestWhoseAnOrphanIs(t *testing.T) {
	agent := orphan(t, 0)
	for _, tt := range []struct {
		name  string
		probe bool // the run asks for a version
		edit  func(t *testing.T, tree *tree, orphan *stat)
		want  bool
	}{
		{"young, the only loop", false, func(*testing.T, *tree, *stat) {}, true},
		{"older than the run", false, func(_ *testing.T, tree *tree, _ *stat) { tree.root.start = "99999999999" }, false},
		{"another loop is open", false, func(t *testing.T, _ *tree, _ *stat) { newScope(t) }, false},
		{"a probe is open", false, func(t *testing.T, _ *tree, _ *stat) { newProbeScope(t) }, true},
		{"a loop is open beside the probe", true, func(t *testing.T, _ *tree, _ *stat) { newScope(t) }, false},
		{"another probe is open beside the probe", true, func(t *testing.T, _ *tree, _ *stat) { newProbeScope(t) }, false},
		{"the shell left us its jobs", false, func(*testing.T, *tree, *stat) { spawner.inherited = true }, false},
		{"it is in the agent's group", false, func(t *testing.T, _ *tree, o *stat) { newScope(t); *o = orphan(t, agent.pid) }, true},
		{"it is in the group of a later process with the agent's pid", false, func(t *testing.T, tree *tree, o *stat) {
			*o = orphan(t, agent.pid)
			newScope(t)
			tree.root.start = "1"
		}, false},
		{"it was seen below the agent", false, func(t *testing.T, tree *tree, o *stat) { newScope(t); tree.known[o.proc] = true }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			scope := newScope(t)
			if tt.probe {
				guardRelease(scope)
				scope = newProbeScope(t)
			}
			tree, o := newTree(agent.pid, scope), orphan(t, 0)
			defer func() { spawner.inherited = false }()
			tt.edit(t, tree, &o)
			if got := tree.owns(o); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func newProbeScope(t *testing.T) *Scope {
	t.Helper()
	scope, err := openProbeScope()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scope.Close() })
	return scope
}

func TestAReusedPidHasNoDescendants(t *testing.T) {
	orphan(t, 0)
	self := proc{os.Getpid(), startOf(os.Getpid())}
	if len(descendants(self)) == 0 {
		t.Error("its own descendants aren't found")
	}
	if found := descendants(proc{self.pid, "1"}); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

func TestTheGuardEndsWhatNoLoopCouldClaim(t *testing.T) {
	o := orphan(t, 0)
	w := watch{known: map[proc]bool{o.proc: true, {o.pid, "1"}: true}}
	w.end()
	if o.alive() {
		t.Error("it is alive")
	}
}
