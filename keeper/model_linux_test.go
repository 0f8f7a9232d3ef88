package keeper

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

// model is what a user knows of a loop: who owns it, what was asked of it.
type model struct {
	*testing.T
	rand *rand.Rand
	cfg  setup.Config
	*between
	windows []*window

	isDetached, isPaused bool
	iterations           int      // the limit
	said                 []string // guidance
	did                  []string
}

// window is one that looks on.
type window struct {
	*follower
	owns bool
	from string // the cursor behind which it is told
}

// begins begins the loop, or goes on with it, in a window that owns it.
func (m *model) begins() {
	m.Helper()
	from := "" // its window is told what comes from now on
	if len(m.windows) > 0 {
		proctest.Until(m, "nobody drives it", func() bool {
			_, owned, err := loop.OwnerIn(m.cfg.Folder)
			return !owned && err == nil
		})
		before, err := journal.Open(m.windows[0].LoopID())
		if err == nil {
			from, err = before.End()
		}
		if err != nil {
			m.Fatal(err)
		}
	}
	m.windows = []*window{{starts(m.T, m.cfg, client.Hello{Owns: true}), true, from}}
	m.isDetached, m.isPaused = false, false
	m.cfg.Continue = true
}

func (m *model) any() *window { return m.windows[m.rand.IntN(len(m.windows))] }

// comes has another window come.
func (m *model) comes(owns bool, cursor string) {
	m.windows = append(m.windows, &window{m.dial(m.T, client.Hello{Owns: owns, Cursor: cursor}), owns, cursor})
	m.isDetached = m.isDetached && !owns
}

// asks has a window ask for something, and says how the loop stands behind that.
func (m *model) asks(q loop.Request) loop.Status {
	m.Helper()
	w := m.any()
	if _, err := w.Do(q); err != nil {
		m.Fatalf("%q: %v", m.did, err)
	}
	return w.Status()
}

// moves are what may happen. Each holds what is known at once.
var moves = map[string]func(m *model){
	"a window comes":       func(m *model) { m.comes(false, "") },
	"one comes in between": func(m *model) { m.comes(false, m.any().Cursor()) },
	"one takes the loop":   func(m *model) { m.comes(true, "") },
	"one leaves": func(m *model) {
		at := m.rand.IntN(len(m.windows))
		w := m.windows[at]
		isOrphaned := w.owns && !m.isDetached && !slices.ContainsFunc(m.windows, func(other *window) bool { return other != w && other.owns })
		if !isOrphaned && len(m.windows) == 1 {
			return
		}
		w.Close()
		m.ended(w)
		if others := slices.Delete(slices.Clone(m.windows), at, at+1); !isOrphaned {
			m.windows = others
		} else {
			m.ended(others...)
			m.begins()
		}
	},
	"pause": func(m *model) {
		m.isPaused = true
		if now := m.asks(loop.Request{Do: loop.DoPause}); !now.Pausing && now.State != loop.StatePaused {
			m.Errorf("%q: it is %+v", m.did, now.State)
		}
	},
	"resume": func(m *model) {
		m.isPaused = false
		if now := m.asks(loop.Request{Do: caller.Resume}); now.Pausing {
			m.Errorf("%q: it pauses", m.did)
		}
	},
	"next": func(m *model) {
		if w := m.any(); w.Status().State == loop.StateRunning {
			_, _ = w.Do(loop.Request{Do: caller.Next}) // there may be no run just now
		}
	},
	"limit": func(m *model) {
		m.iterations++
		patch := loop.Patch{Given: limits.Given{MaxIterations: &m.iterations}}
		if now := m.asks(loop.Request{Do: caller.Update, Patch: patch}); now.Limits.MaxIterations != m.iterations {
			m.Errorf("%q: %d iterations, want %d", m.did, now.Limits.MaxIterations, m.iterations)
		}
	},
	"steer": func(m *model) {
		m.said = append(m.said, fmt.Sprintf("word-%d-", len(m.said)))
		m.asks(loop.Request{Do: caller.Steer, Steering: loop.Steering{Text: m.said[len(m.said)-1]}})
	},
	"detach": func(m *model) {
		m.asks(loop.Request{Do: caller.Detach})
		m.isDetached = true
		for _, w := range m.windows {
			w.owns = false
		}
	},
	"its process is killed": func(m *model) {
		id := m.windows[0].LoopID()
		owner, _, _ := loop.OwnerIn(m.cfg.Folder)
		if err := syscall.Kill(owner.PID, syscall.SIGKILL); err != nil {
			m.Fatal(err)
		}
		for _, w := range m.windows {
			<-w.done
			if _, err := w.End(); err == nil || !strings.Contains(err.Error(), "it was killed") {
				m.Errorf("%q: it says %v", m.did, err)
			}
		}
		proctest.CheckNone(m, proctest.Patience, caller.EnvLoopID+"="+id)
		m.ended(m.windows...)
		m.begins()
	},
}

// ended holds that windows which are over, or have left, were told each event once, in order.
func (m *model) ended(windows ...*window) {
	m.Helper()
	for _, w := range windows {
		<-w.done
		want := story(m.T, w.LoopID(), w.from)
		if n := len(w.heard); w.HasLeft() && n <= len(want) {
			want = want[:n]
		}
		if diff := cmp.Diff(want, w.heard); diff != "" {
			m.Errorf("%q: a window behind %q is told otherwise than the journal:\n%s", m.did, w.from, diff)
		}
	}
}

// Whatever comes to a loop, and in whatever order: it stands as its user wants it, each window is told each event once, in
// order, nothing that was said is lost, and nothing is left behind.
func TestWhateverComesToALoop(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	var names []string
	for name := range moves {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			cfg := talking(t)
			m := &model{T: t, rand: rand.New(rand.NewPCG(seed, 0)), cfg: cfg, between: lay(t, cfg.Folder), iterations: 1000}
			m.begins()
			for range 30 {
				name := names[m.rand.IntN(len(names))]
				m.did = append(m.did, name)
				moves[name](m)
			}
			id := m.any().LoopID()
			m.asks(loop.Request{Do: loop.DoInterrupt})
			m.ended(m.windows...)
			all := strings.Join(story(t, id, ""), "\n")
			for _, word := range m.said {
				if !strings.Contains(all, word) {
					t.Errorf("%q: %s is lost", m.did, word)
				}
			}
			if _, s, err := loop.StateIn(cfg.Folder); err != nil || s.Limits().MaxIterations != m.iterations {
				t.Errorf("%q: %d iterations are kept, want %d (%v)", m.did, s.Limits().MaxIterations, m.iterations, err)
			}
			proctest.CheckNone(t, proctest.Patience, caller.EnvLoopID+"="+id)
		})
	}
}
