package backends

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// wallsAround raises walls that let the roles of tests through.
func wallsAround(folder string) (*sandbox.Sandbox, error) {
	return sandbox.Raise(context.Background(), sandbox.Spec{Mode: sandbox.Workspace, Network: true,
		Env: []string{"ROLE", "TOOL", "FILE", "ENDS", "LOOP", "GORACE", "PROBED", "AGENT"}}, folder)
}

// wallEnds are the ways in which walls may end by themselves.
var wallEnds = []struct {
	name string
	end  func(t *testing.T, d *driven)
}{
	{"bubblewrap is killed", func(t *testing.T, d *driven) {
		kill(t, d.bubblewrap(t).PID)
	}},
	{"the first process inside is killed", func(t *testing.T, d *driven) {
		inside := d.bubblewrap(t).Descendants()
		if len(inside) == 0 {
			t.Fatal("nobody is inside")
		}
		kill(t, inside[0].PID)
	}},
}

// bubblewrap is the process that the reaper started.
func (d *driven) bubblewrap(t *testing.T) reaper.Proc {
	t.Helper()
	below := reaper.Find(d.remains.Reaper.PID).Descendants()
	if len(below) == 0 {
		t.Fatal("nothing is below the reaper")
	}
	return below[0]
}

// Behind walls the same holds, and whatever ends the walls ends all inside.
func TestNothingIsLeftBehindWalls(t *testing.T) {
	walltest.Need(t)
	for tool := range tools {
		for _, way := range ends {
			t.Run(tool+"/"+way.name, func(t *testing.T) {
				d := drive(t, tool, way.env, "WALLS=1")
				if way.env == "" {
					awaitProcesses(1, d.file)
				}
				way.end(t, d)
				if left := proctest.AwaitNone(way.within, d.file); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
	for _, way := range wallEnds {
		t.Run(way.name, func(t *testing.T) {
			d := drive(t, "deaf", "WALLS=1")
			awaitProcesses(1, d.file)
			way.end(t, d)
			said := d.line(t)
			if !strings.HasPrefix(said, "over") { // why comes first, unless the sweep was faster and the agent ended well
				said = d.line(t)
			}
			if said != "over <nil>" {
				t.Errorf("the run ends with %q", said)
			}
			proctest.CheckNone(t, 0, d.file)
		})
	}
}

// behindWalls puts a run behind walls around its folder.
func behindWalls(t *testing.T, edit ...func(*Spec)) func(*Spec) {
	t.Helper()
	walltest.Need(t)
	return func(s *Spec) {
		walls, err := wallsAround(s.Dir)
		must.OK(t, err)
		t.Cleanup(walls.Close)
		s.Scope.Walls = walls
		for _, e := range edit {
			e(s)
		}
	}
}

// An agent that is asked to end has its say: the end of the walls would take its word.
func TestAnAgentBehindWallsIsAskedToEnd(t *testing.T) {
	p, texts := startRole(t, "polite", behindWalls(t, func(s *Spec) { s.Backend.Interrupt = true }))
	await(t, texts)
	p.Stop(hangs)
	if got := await(t, texts); got != "asked to end" {
		t.Errorf("it says %q", got)
	}
	if exit := p.Wait(); !exit.Stopped || exit.Code != 0 || exit.Survivor != nil {
		t.Errorf("got %+v", exit)
	}
}

func TestTheEndBehindWallsIsTold(t *testing.T) {
	for role, want := range map[string]struct {
		code   int
		signal string
		text   string
	}{"ok": {0, "", "done"}, "fails": {3, "", ""}, "kills itself": {-1, "killed", ""}} {
		t.Run(role, func(t *testing.T) {
			p, _ := startRole(t, role, behindWalls(t))
			exit := p.Wait()
			if exit.Code != want.code || exit.Signal != want.signal || exit.Result.Text != want.text {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

func TestWhatARunNeedsIsBehindItsWalls(t *testing.T) {
	onBoth(t, func(t *testing.T, connect func(*Spec)) {
		p, _ := startRole(t, "echo", connect, behindWalls(t))
		if exit := p.Wait(); exit.Result.Text != "5 bytes: do it" && exit.Result.Text != "6 bytes: do it" {
			t.Errorf("the prompt: %+v", exit)
		}
	})
	t.Run("caches are kept, and not those of other runs", func(t *testing.T) {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		folder := t.TempDir()
		for _, run := range []struct {
			prompt, want string
			edit         func(*Spec)
		}{
			{"one", "kept: ", func(*Spec) {}},
			{"two", "kept: ", behindWalls(t)},
			{"three", "kept: two", behindWalls(t)},
			{"four", "kept: one", func(*Spec) {}},
		} {
			p, _ := startRole(t, "caches", func(s *Spec) {
				s.Dir, s.Prompt, s.Backend.Kept = folder, run.prompt, []string{"a-cache"}
			}, run.edit)
			if exit := p.Wait(); exit.Result.Text != run.want {
				t.Errorf("%s: %+v", run.prompt, exit)
			}
		}
	})
	t.Run("variables", func(t *testing.T) {
		for _, name := range []string{"AN_API_KEY", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"} {
			t.Setenv(name, "x")
		}
		p, _ := startRole(t, "environment", behindWalls(t, func(s *Spec) {
			s.Backend.Inside.Env, s.Backend.Env = []string{"AN_API_*"}, []string{"DEFAULT_OF_OURS=1"}
		}))
		lines := strings.Split(p.Wait().Result.Text, "\n")
		for want, isThere := range map[string]bool{"AN_API_KEY=x": true, "DEFAULT_OF_OURS=1": true, "AWS_SECRET_ACCESS_KEY=x": false, "SSH_AUTH_SOCK=x": false, EnvIteration + "=7": true} {
			if slices.Contains(lines, want) != isThere {
				t.Errorf("%s: want %t in %q", want, isThere, lines)
			}
		}
	})
}
