package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The engine waits in one place, Inbox.Serve. So something can be said, or its process killed, at each moment at which
// it waits.

// story is a loop that comes to its promise, with all that takes it there.
type story struct {
	configure func(*setup.Config)
	plays     map[string][]run // by the hat or agent; the last one again and again
	checks    []checked
	least     int // moments
}

var stories = map[string]story{
	"hats, a rate limit, a refuted promise": {
		configure: func(c *setup.Config) {
			team(c)
			c.Roles.Hats[0].MaxRuns = 0
		},
		plays: map[string][]run{
			"planner": {publishes("plan.ready: two steps")}, "reviewer": {promise},
			"builder": {fails(stream.KindRateLimit, "429"), publishes("build.done")},
		},
		checks: []checked{refutes, passes},
		least:  30,
	},
	"steps side by side, a reviewer who objects": {
		configure: func(c *setup.Config) {
			critic(c)
			for _, names := range []string{"scout", "a b"} {
				var step []setup.Role
				for _, name := range strings.Fields(names) {
					step = append(step, setup.Role{Hat: hats.Hat{Name: name}, Backend: c.Backend, Args: []string{"--agent", name}})
				}
				c.Roles.Steps = append(c.Roles.Steps, step)
			}
		},
		plays: map[string][]run{
			"scout": {costs(1, "found")}, "a": {fails("", "broke"), promise}, "b": {says("no"), promise}, "strict": {objects, approves},
		},
		checks: []checked{passes},
		least:  30,
	},
}

// cast plays a story.
type cast struct {
	*rig
	mu    sync.Mutex
	plays map[string][]run
	order []string // of those who began; "check" is the command
	up    int      // who is at work
}

func (c *cast) start(spec backends.Spec) (progress.Agent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, started := "check", func() (progress.Agent, error) { return c.agents.startCheck(spec) }
	if spec.Raw == nil {
		if name = slices.Concat([]string{"?"}, spec.Args)[len(spec.Args)]; c.plays[name] == nil {
			_, said, _ := strings.Cut(strings.Join(spec.Ours, " "), `you wear the hat "`)
			name, _, _ = strings.Cut(said, `"`)
		}
		now := c.plays[name][0]
		c.plays[name] = c.plays[name][min(1, len(c.plays[name])-1):]
		p := &played{run: now, spec: spec, stop: make(chan time.Duration, 10), done: make(chan backends.Exit, 1)}
		go p.play()
		started = func() (progress.Agent, error) { return p, nil }
	}
	c.order = append(c.order, name)
	c.up++
	agent, err := started()
	return counted{agent, c}, err
}

// counted is an agent at work, or a command.
type counted struct {
	progress.Agent
	cast *cast
}

func (a counted) Wait() backends.Exit {
	exit := a.Agent.Wait()
	a.cast.mu.Lock()
	defer a.cast.mu.Unlock()
	a.cast.up--
	return exit
}

// tell begins a story, in a folder that may hold a state file. At the nth moment at which its engine waits, happens is
// called on the engine's goroutine.
func (s story) tell(t *testing.T, found *loopstate.State, n int, happens func(c *cast)) (c *cast, moments *int) {
	t.Helper()
	c, moments = &cast{plays: map[string][]run{}}, new(int)
	for name, runs := range s.plays {
		c.plays[name] = slices.Clone(runs)
	}
	c.rig = prepareVerified(t, found, slices.Clone(s.checks), func(cfg *setup.Config) {
		cfg.Verification.Check.When = verify.OnPromise
		s.configure(cfg)
		cfg.Continue = found != nil
	})
	c.ports.start = c.start
	c.moment = func() {
		if *moments++; *moments == n {
			happens(c)
		}
	}
	must.OK(t, c.begin())
	return c, moments
}

// length is how many moments a story has.
func (s story) length(t *testing.T) (n int) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		c, moments := s.tell(t, nil, 0, nil)
		if end := c.Wait(); end.Reason != loop.StopPromise {
			t.Fatalf("it ended by %s: %s\n%s", end.Reason, end.Error, strings.Join(c.log.lines, "\n"))
		}
		n = *moments
	})
	if n < s.least {
		t.Fatalf("%d moments, want %d at least", n, s.least)
	}
	return n
}

// Each command at each moment: nothing hangs, nothing is left at work, iterations begin and end in pairs, and the loop
// ends for the right reason.
func TestEachCommandAtEachMoment(t *testing.T) {
	done := []loop.StopReason{loop.StopPromise}
	for command, tt := range map[string]struct {
		do   func(c *cast) error
		ends []loop.StopReason
		// Of a command that ends no run, the moments at which it is said: a third of them, 1 to 3. Such commands share all.
		third int
	}{
		"cancel":    {do: func(c *cast) error { c.Cancel(); return nil }, ends: []loop.StopReason{loop.StopCancelled}},
		"interrupt": {do: func(c *cast) error { c.Interrupt(); return nil }, ends: []loop.StopReason{loop.StopInterrupted}},
		"cancel after": {
			func(c *cast) error { c.CancelAfterIteration(); return nil }, []loop.StopReason{loop.StopCancelled, loop.StopPromise}, 1,
		},
		"next": {do: func(c *cast) error {
			if _, err := c.Next(); err != loop.ErrNoRun {
				return err
			}
			return nil
		}, ends: done},
		"pause": {func(c *cast) error {
			err := c.Pause()
			time.Sleep(time.Hour)
			c.Resume(loop.Patch{}) // it may be over
			return err
		}, done, 2},
		"update": {func(c *cast) error {
			return c.Update(loop.Patch{Given: limits.Given{MaxIterations: new(40)}})
		}, done, 3},
		"steer": {func(c *cast) error {
			_, err := c.Steer(loop.Steering{Text: "use tabs", Once: true})
			return err
		}, done, 1},
		"an edit": {func(c *cast) error {
			c.file.edit(func(s *loopstate.State) { s.Prompt = "Build that" })
			return nil
		}, done, 2},
	} {
		for name, s := range stories {
			t.Run(command+"/"+name, func(t *testing.T) {
				for n := range s.length(t) {
					if tt.third > 0 && n%3 != tt.third-1 {
						continue
					}
					bubble(t, func(t *testing.T) {
						begun, said := make(chan struct{}), make(chan error, 1)
						ends, told := tt.ends, 0
						c, moments := s.tell(t, nil, n+1, func(c *cast) {
							<-c.begun
							told = len(c.log.lines)
							go func() {
								<-begun
								said <- tt.do(c)
							}()
							synctest.Wait() // it is said, before anything else comes
						})
						close(begun)
						end := c.Wait()
						if *moments <= n { // it had fewer this time, as what an agent says may come at once
							return
						}
						err, where := <-said, fmt.Sprintf("at moment %d", n+1)
						isWork := func(line string) bool {
							return strings.HasPrefix(line, "verify running") || strings.HasPrefix(line, "end")
						}
						if !slices.ContainsFunc(c.log.lines[told:], isWork) && end.Reason == loop.StopPromise { // it was done by then
							if ends = done; err == loop.ErrNotRunning {
								err = nil
							}
						}
						if err != nil || !slices.Contains(ends, end.Reason) || c.up > 0 {
							t.Errorf("%s: it ended by %s (%s), %d are at work, the command: %v\n%s",
								where, end.Reason, end.Error, c.up, err, strings.Join(c.log.lines, "\n"))
						}
						checkPairs(t, c.log.lines)
						if t.Failed() {
							t.Fatal(where)
						}
					})
				}
			})
		}
	}
}
