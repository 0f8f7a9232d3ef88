package engine

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/proof"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// The row has each gate, in its order.
func TestEachGateIsInTheRow(t *testing.T) {
	var row []verify.Gate
	for _, g := range gates {
		row = append(row, g.Name)
	}
	if !slices.Equal(row, verify.Gates()) {
		t.Errorf("the row is %v, the gates are %v", row, verify.Gates())
	}
}

// script replaces gates, for the length of a test, by what they are to answer, and
// notes which were asked.
func script(t *testing.T, answers map[verify.Gate][]verify.Result) (asked *[]verify.Gate) {
	t.Helper()
	asked = &[]verify.Gate{}
	real := gates
	t.Cleanup(func() { gates = real })
	gates = slices.Clone(real)
	for i, g := range gates {
		gates[i].ask = func(l *verification, q *checkedRun) verify.Result {
			*asked = append(*asked, g.Name)
			if rest := answers[g.Name]; len(rest) > 0 {
				answers[g.Name] = rest[1:]
				return rest[0]
			}
			return verify.Result{State: verify.Verified, Why: "passed"}
		}
	}
	return asked
}

func withAllGates(c *setup.Config) {
	c.Verify.Diagnostics, c.Verify.Protect, c.Verify.Reviewer = verify.DiagnosticsNoNew, []string{"*_test.go"}, "critic"
}

const (
	checkCommand = verify.CommandGate
	diagnostics  = verify.DiagnosticsGate
	protect      = verify.ProtectGate
	reviewer     = verify.ReviewerGate
)

func TestAPromisePassesEachGateInOrder(t *testing.T) {
	no := []verify.Result{{State: verify.Refuted, Why: "said no"}}
	for _, g := range verify.Gates() {
		t.Run(string(g), func(t *testing.T) {
			asked := script(t, map[verify.Gate][]verify.Result{g: no})
			bubble(t, func(t *testing.T) {
				r := verified(t, nil, withAllGates, promise)
				r.over(loop.StopPromise, 2)
				subject := r.cfg.Verify.Subject(g)
				if !strings.Contains(strings.ReplaceAll(r.told(1), "`", ""), subject+" said no.") {
					t.Errorf("the next run isn't told: %s", r.told(1))
				}
				if !r.log.has("verify refuted: " + subject + " said no") {
					t.Errorf("nobody is told\n%s", strings.Join(r.log.lines, "\n"))
				}
			})
			all := verify.Gates()
			want := slices.Concat(all[:slices.Index(all, g)+1], all)
			if !slices.Equal(*asked, want) {
				t.Errorf("asked %v, want %v", *asked, want)
			}
		})
	}
}

// Who tries again needn't wait again for what has passed; who accepts answers one
// question, and no other.
func TestTheUsersWordIsForOneGate(t *testing.T) {
	unsure := []verify.Result{proof.Unchecked("can't tell"), proof.Unchecked("can't tell yet")}
	asked := script(t, map[verify.Gate][]verify.Result{protect: unsure, reviewer: unsure})
	bubble(t, func(t *testing.T) {
		r := verified(t, nil, withAllGates, promise)
		for i, step := range []struct {
			why string
			say loop.Patch
		}{
			{"protected files can't tell", loop.Patch{}},
			{"protected files can't tell yet", loop.Patch{Accept: true}},
			{"the reviewer critic can't tell", loop.Patch{Accept: true}},
		} {
			time.Sleep(time.Minute)
			synctest.Wait()
			if st := r.Status(); st.State != loop.StatePaused || st.Unchecked != step.why {
				t.Fatalf("step %d: %s, %q\n%s", i, st.State, st.Unchecked, strings.Join(r.log.lines, "\n"))
			}
			r.Resume(step.say)
		}
		r.over(loop.StopPromise, 1)
		if n := r.log.count("warning: accepted, although it could not be verified"); n != 2 {
			t.Errorf("told %d times what was accepted\n%s", n, strings.Join(r.log.lines, "\n"))
		}
	})
	if want := []verify.Gate{checkCommand, diagnostics, protect, protect, reviewer}; !slices.Equal(*asked, want) {
		t.Errorf("asked %v, want %v", *asked, want)
	}
}

// Where no promise waits, only what costs nothing but time is asked.
func TestWhoPromisesNothingIsNotReviewed(t *testing.T) {
	asked := script(t, map[verify.Gate][]verify.Result{diagnostics: {proof.Unchecked("can't tell")}})
	bubble(t, func(t *testing.T) {
		r := verified(t, nil, func(c *setup.Config) {
			withAllGates(c)
			c.Verify.When, c.Limits.MaxIterations = verify.OnEach, 2
		}, says("not yet"))
		r.over(loop.StopMaxIterations, 2)
	})
	if want := []verify.Gate{checkCommand, diagnostics, checkCommand, diagnostics}; !slices.Equal(*asked, want) {
		t.Errorf("asked %v, want %v", *asked, want)
	}
}

func TestUntilPassesEachGateToo(t *testing.T) {
	asked := script(t, map[verify.Gate][]verify.Result{checkCommand: {{State: verify.Refuted, Why: "failed"}}, reviewer: {{State: verify.Refuted, Why: "objects"}}})
	bubble(t, func(t *testing.T) {
		r := verified(t, nil, func(c *setup.Config) {
			withAllGates(c)
			c.Promise, c.Verify.When = "", verify.OnUntil
		}, says("working"))
		r.over(loop.StopPromise, 2)
	})
	if n := len(*asked); n != 9 {
		t.Errorf("asked %v", *asked)
	}
}
