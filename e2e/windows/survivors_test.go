//go:build smoke

package windows

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
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
		"cancel": func(s *scene) {
			p := s.run("hangs")
			s.works()
			s.now(0, "cancel")
			p.ends(130)
		},
		"cancel, of one that ends when it is asked": func(s *scene) {
			p := s.run("polite")
			s.works()
			s.now(0, "cancel")
			p.ends(130)
			if wine == nil && !exists(filepath.Join(s.dir, "asked politely")) { // Wine 8 hands on no Ctrl-Break
				s.Error("it wasn't asked")
			}
		},
		"cancel, of one that is deaf": func(s *scene) {
			p := s.run("deaf")
			s.works()
			s.now(0, "cancel")
			p.ends(130)
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
		"a loop without a window is cancelled": func(s *scene) {
			s.run("hangs", "--detach").ends(0)
			s.works()
			s.now(0, "cancel")
		},
		"its keeper is killed": func(s *scene) {
			s.run("hangs", "--detach").ends(0)
			s.works()
			kill(s.T, s.keeperOf())
		},
		"a loop that is detached outlives its window": func(s *scene) {
			p := s.run("hangs")
			s.works()
			s.now(0, "detach")
			os.Remove(filepath.Join(s.dir, "at work"))
			kill(s.T, p.cmd.Process.Pid) // as when its window is closed
			s.works()
			s.now(0, "cancel")
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
	two.now(0, "cancel")
	other.ends(130)
	two.survivors()
}

// An agent of npm's is a batch file, whose program gets its arguments as they are. Another batch
// file is refused those that cmd would change.
func TestAnAgentThatIsABatchFile(t *testing.T) {
	s := newScene(t)
	const said = "two\nlines \"and\" 100% ü"
	for name, text := range map[string]string{"shim.cmd": `@"%~dp0\` + s.agent + `" %*`, "other.cmd": "@echo off\r\n"} {
		must.OK(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text+"\r\n"), 0o600))
	}
	args := []string{"run", "Tu es", "--output", "json", "--max-iterations", "1", "--completion-promise", "DONE", "--backend-arg", said}
	s.start("ends", append(args, "--backend", `.\shim.cmd`)...).ends(0)
	got, err := os.ReadFile(filepath.Join(s.dir, "arguments"))
	if want := fmt.Sprintf("%q", []string{said}); err != nil || string(got) != want {
		t.Errorf("it got %s, %v; want %s", got, err, want)
	}
	p := s.start("ends", append(args, "--backend", `.\other.cmd`)...)
	p.ends(1)
	if !strings.Contains(p.said(), "is a batch file") {
		t.Errorf("it says %s", p.said())
	}
	s.survivors()
}

// What a program that reads no more leaves of our output is no failure.
func TestAPipeThatIsClosed(t *testing.T) {
	s := newScene(t)
	r, w, err := os.Pipe()
	must.OK(t, err)
	cmd := s.command("status", "--all")
	r.Close()
	cmd.Stdout = w
	var said strings.Builder
	cmd.Stderr = &said
	err = cmd.Run()
	w.Close()
	if err != nil || said.Len() > 0 {
		t.Errorf("%v: %s", err, said.String())
	}
}
