package server

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// left makes an interrupted loop in a folder and lets its file say why it ended.
func left(why loop.StopReason) func(*testing.T, string) *dialled {
	return func(t *testing.T, dir string) *dialled {
		first := dial(t, optedIn, dir)
		first.Must(first.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: agentThat(t, "never")}}))
		first.status(dir, inState("running"))
		first.hangUp()
		awaitNobody(t, dir)
		if why.Failed() {
			file, err := loopstate.Open(dir)
			must.OK(t, err)
			must.OK(t, must.Err(file.Update(func(s *loopstate.State) error {
				s.Active, s.StopReason = false, string(why)
				return nil
			})))
		}
		return dial(t, optedIn, dir)
	}
}

// ended starts a loop that comes to its end.
func ended(role string, bounds limits.Given) func(*testing.T, string) *dialled {
	return func(t *testing.T, dir string) *dialled {
		c := dial(t, optedIn, dir)
		c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Trust: true, Choices: wire.Choices{
			Backend: agentThat(t, role), Values: settings.Values{Given: bounds}}}))
		return c
	}
}

// endsBy makes loops that stopped for reasons about which something can be done, but for those that are left.
var endsBy = map[loop.StopReason]func(t *testing.T, dir string) *dialled{
	loop.StopMaxIterations: ended("echoes", limits.Given{MaxIterations: new(1)}),
	loop.StopMaxTime:       ended("never", limits.Given{MaxDuration: new(limits.Duration(300 * time.Millisecond))}),
	loop.StopMaxCost: func(t *testing.T, dir string) *dialled {
		must.Write(t, filepath.Join(dir, "ralph.toml"), own(agentThat(t, "costs"))+"output = \"pi-stream-json\"\n")
		c := dial(t, optedIn, dir)
		c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Trust: true, Choices: wire.Choices{
			Values: settings.Values{Given: limits.Given{MaxCostUSD: new(0.25)}}}}))
		return c
	},
	loop.StopBackendError: func(t *testing.T, dir string) *dialled {
		program := filepath.Join(dir, "agent")
		must.OK(t, os.WriteFile(program, []byte("no program"), 0o700))
		c := dial(t, optedIn, dir)
		c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "x", Choices: wire.Choices{Backend: program}}))
		return c
	},
	loop.StopBadStateFile: func(t *testing.T, dir string) *dialled {
		c := ended("waits", limits.Given{})(t, dir)
		c.status(dir, inState("running"))
		must.Write(t, filepath.Join(dir, filepath.FromSlash(loopstate.Name)), "---\nactive: [\n---\n\nx\n")
		must.Write(t, filepath.Join(dir, "go"), "")
		return c
	},
}

// isTrue says whether what a remedy promises has come true.
var isTrue = map[loop.Remedy]func(c *dialled, dir string, offer wire.Command, answer json.RawMessage){
	loop.RemedyRaise: func(c *dialled, dir string, offer wire.Command, _ json.RawMessage) {
		words := strings.TrimSuffix(strings.TrimPrefix(offer.Title, "Raise to "), " and Go On")
		c.status(dir, func(l wire.LoopStatus) bool {
			return slices.ContainsFunc(l.LimitTexts, func(text string) bool { return strings.HasPrefix(text, words) })
		})
	},
	loop.RemedyResume: func(c *dialled, dir string, _ wire.Command, _ json.RawMessage) {
		c.status(dir, func(l wire.LoopStatus) bool { return l.Live && l.Owned })
	},
	loop.RemedyLift: func(c *dialled, dir string, _ wire.Command, _ json.RawMessage) {
		c.status(dir, func(l wire.LoopStatus) bool {
			return l.Live && l.Owned && !slices.ContainsFunc(l.LimitTexts, func(text string) bool { return strings.HasSuffix(text, "without progress") })
		})
	},
	loop.RemedyDiscard: func(c *dialled, dir string, _ wire.Command, _ json.RawMessage) {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(loopstate.Name))); !errors.Is(err, fs.ErrNotExist) {
			c.t.Errorf("the state file is still there, %v", err)
		}
		c.statusWithout(dir)
	},
	loop.RemedyDoctor: func(c *dialled, _ string, _ wire.Command, answer json.RawMessage) {
		if !strings.Contains(string(answer), `"checks":[{`) {
			c.t.Errorf("the doctor says %s", answer)
		}
	},
	loop.RemedyOpenFile: func(c *dialled, dir string, _ wire.Command, _ json.RawMessage) {
		c.Hears("window/showDocument", wire.FileURI(filepath.Join(dir, filepath.FromSlash(loopstate.Name))))
	},
}

// Each offer is a command that does what it says in the state in which it is made.
func TestOffersDoWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, ending := range loop.Endings() {
		if ending.Reason == loop.StopOnce { // it is left as one that was interrupted, and nothing says otherwise
			continue
		}
		for i, remedy := range ending.Remedies {
			t.Run(string(ending.Reason)+"/"+string(remedy), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				endBy := endsBy[ending.Reason]
				if ending.State.Left() {
					endBy = left(ending.Reason)
				}
				if endBy == nil || isTrue[remedy] == nil {
					t.Fatal("this test has forgotten the reason or the remedy")
				}
				c := endBy(t, dir)
				c.Answer("window/showDocument", func(json.RawMessage) any { return map[string]any{"success": true} })
				l := c.status(dir, func(l wire.LoopStatus) bool { return l.StopReason == string(ending.Reason) })
				if len(l.Offers) != len(ending.Remedies) || l.State != string(ending.State) || l.Class != ending.Class {
					t.Fatalf("got %+v", l)
				}
				if ending.Reason == loop.StopBackendError && remedy == loop.RemedyResume { // it was mended
					must.Write(t, filepath.Join(dir, "agent"), "#!/bin/sh\nexec sleep 600\n")
				}
				isTrue[remedy](c, dir, l.Offers[i], c.Must(c.Command(l.Offers[i].Command, l.Offers[i].Arguments[0])))
			})
		}
	}
}

// A late answer ends no loop that somebody goes on with by now.
func TestALateDiscardTouchesNoLoopThatRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := left(loop.StopInterrupted)(t, dir)
	offers := c.status(dir, inState("interrupted")).Offers
	other := dial(t, optedIn, dir)
	other.Must(other.Command(wire.CommandResume, wire.ResumeParams{LoopParams: wire.LoopParams{Folder: wire.FileURI(dir)}}))
	other.status(dir, inState("running"))
	c.Must(c.Command(offers[1].Command, offers[1].Arguments[0]))
	if got := other.status(dir, inState("running")); !got.Owned {
		t.Errorf("got %+v", got)
	}
	other.Must(other.Command(wire.CommandPause, struct{}{})) // it is there
}

// Whoever cancels a loop that has just ended by itself doesn't want it to go on: it is out of its
// folder at once, or a moment later.
func TestACancelOfALoopThatHasJustEnded(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := t.TempDir()
		c := ended("echoes", limits.Given{MaxIterations: new(1)})(t, dir)
		c.Hears("ralph/update", `"_ralph/end"`)
		if got := result[wire.LoopResult](c, c.Command(wire.CommandCancel, wire.CancelParams{LoopParams: wire.LoopParams{Folder: wire.FileURI(dir)}})); !strings.Contains(got.Text, "is cancelled") {
			t.Errorf("it is answered with %+v", got)
		}
		c.statusWithout(dir)
		c.hangUp()
	}
}
