//go:build smoke

package windows

import (
	"strings"
	"testing"
)

func TestTheDemo(t *testing.T) {
	s := newScene(t)
	p := s.start("none", "demo")
	p.in.Close()
	p.ends(0)
}

func TestNobodySurvives(t *testing.T) {
	for name, do := range map[string]func(s *scene){
		"the agent ends": func(s *scene) {
			s.run("ends").ends(0)
		},
		"the agent fails": func(s *scene) {
			s.run("fails", "--max-failures", "1").ends(1)
		},
		"the agent is killed": func(s *scene) {
			p := s.run("hangs", "--max-iterations", "1")
			s.works()
			kill(s.T, s.itself()) // whose exit code is 0 for Wine
			p.ends(-1)
		},
		"run is killed": func(s *scene) {
			p := s.run("hangs")
			s.works()
			kill(s.T, p.cmd.Process.Pid)
			p.ends(-1)
		},
		"run is killed, and its loop is resumed": func(s *scene) {
			p := s.run("hangs")
			s.works()
			kill(s.T, p.cmd.Process.Pid)
			p.ends(-1)
			if said := s.now(0, "status"); !strings.Contains(said, "interrupted") {
				s.Errorf("status says %s", said)
			}
			s.start("ends", "run", "--continue", "--output", "json").ends(0)
		},
		"the editor closes its pipe": func(s *scene) {
			p := s.sidecar()
			s.works()
			p.in.Close()
			p.ends(1)
		},
		"the editor says goodbye": func(s *scene) {
			p := s.sidecar()
			s.works()
			p.request(3, "shutdown", nil)
			p.request(0, "exit", nil)
			p.ends(0)
		},
		"the sidecar is killed": func(s *scene) {
			p := s.sidecar()
			s.works()
			kill(s.T, p.cmd.Process.Pid)
			p.ends(-1)
		},
		"its keeper is killed": func(s *scene) {
			s.run("hangs", "--detach").ends(0)
			s.works()
			kill(s.T, s.keeperOf())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			do(s)
			s.survivors()
		})
	}
}

// A loop that ends takes nobody along but its own.
func TestTwoLoops(t *testing.T) {
	one, two := newScene(t), newScene(t)
	p, other := one.run("hangs"), two.run("hangs")
	one.works()
	two.works()
	kill(t, p.cmd.Process.Pid)
	one.await(0)
	if left := len(two.alive()); left != family {
		t.Errorf("%d of the other loop's processes live", left)
	}
	kill(t, other.cmd.Process.Pid)
	two.survivors()
}
