package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

func TestEachGateCanBeAsked(t *testing.T) {
	for _, g := range verify.Gates() {
		if gates[g] == nil {
			t.Errorf("nobody asks %s", g)
		}
	}
}

// script replaces gates, for the length of a test, by what they are to answer, and
// notes which were asked.
func script(t *testing.T, answers map[verify.Gate][]verify.Result) (asked *[]verify.Gate) {
	t.Helper()
	asked = &[]verify.Gate{}
	real := maps.Clone(gates)
	t.Cleanup(func() { gates = real })
	for g := range real {
		gates[g] = func(*inspection, []string) verify.Result {
			*asked = append(*asked, g)
			if rest := answers[g]; len(rest) > 0 {
				answers[g] = rest[1:]
				return rest[0]
			}
			return verify.Result{State: verify.Verified, Why: "passed"}
		}
	}
	return asked
}

func withAllGates(c *setup.Config) {
	c.Verification.Check.Diagnostics, c.Verification.Check.Protect, c.Verification.Check.Reviewer = verify.DiagnosticsNoNew, []string{"*_test.go"}, "critic"
}

const (
	checkCommand  = verify.CommandGate
	checkEditor   = verify.DiagnosticsGate
	checkProtect  = verify.ProtectGate
	checkReviewer = verify.ReviewerGate
)

// Who tries again needn't wait again for what has passed; who accepts answers one
// question, and no other.
func TestTheUsersWordIsForOneGate(t *testing.T) {
	unsure := []verify.Result{verification.Unchecked("can't tell"), verification.Unchecked("can't tell yet")}
	asked := script(t, map[verify.Gate][]verify.Result{checkProtect: unsure, checkReviewer: unsure})
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
	if want := []verify.Gate{checkCommand, checkEditor, checkProtect, checkProtect, checkReviewer}; !slices.Equal(*asked, want) {
		t.Errorf("asked %v, want %v", *asked, want)
	}
}

// gatesTold keeps what observers are told of gates.
type gatesTold struct {
	loop.Observer
	told []string
}

func (o *gatesTold) HandleLoop(e loop.Event) {
	if v, ok := e.(loop.Verify); ok {
		line := fmt.Sprintf("%s %s", v.Gate, v.State)
		if v.Output != "" {
			line += " " + strings.TrimSpace(v.Output)
		}
		if v.ExitCode != nil {
			line += fmt.Sprintf(", exit code %d", *v.ExitCode)
		}
		if v.Duration > 0 {
			line += fmt.Sprintf(", %v", time.Duration(v.Duration))
		}
		if v.Cost.Known {
			line += fmt.Sprintf(", $%v", v.Cost.USD)
		}
		o.told = append(o.told, line)
	}
	o.Observer.HandleLoop(e)
}

// Output is told while a command runs, once for each time that there is more; the loop runs meanwhile, and is resumed with it.
func TestWhatIsToldOfAGate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		check := checked{prints: "half done", lasts: 4500 * time.Millisecond}
		r := prepareVerified(t, nil, []checked{check}, critic, promise, costs(0.01, "Looked at all of it.\n\n<promise>APPROVED</promise>"))
		seen := &gatesTold{Observer: r.obs}
		r.obs = seen
		check.during = func() {
			file, _ := r.file.Load()
			if now := r.Status(); now.State != loop.StateRunning || !file.Checking || file.Promised != "DONE" {
				t.Errorf("while it runs the loop is %s, and goes on with %+v", now.State, file.Verification)
			}
		}
		r.agents.checks = []checked{check}
		must.OK(t, r.begin())
		r.over(loop.StopPromise, 2)
		want := []string{"command running", "command running half done", "command verified half done, exit code 0, 4.5s",
			"reviewer running", "reviewer verified, 1.001s, $0.01"}
		if !slices.Equal(seen.told, want) {
			t.Errorf("told %q\nwant %q", seen.told, want)
		}
	})
}
