//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// editor is an editor that has the world's repository open, beside a folder of its own.
type editor struct {
	*lsptest.Client
	w   *world
	cmd *exec.Cmd
}

// edit starts ralph-fleet as an editor does.
func (w *world) edit(folders ...string) *editor {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(programs, "ralph-fleet"), "--stdio", "--bus", "nats://"+w.addr, "--log", filepath.Join(w.dir, "sidecar.log"))
	cmd.Env = append(os.Environ(), w.mark, roleEnv+"=agent", logEnv+"="+w.log, "RALPH_TOKEN="+token, "XDG_STATE_HOME="+filepath.Join(w.dir, "state"))
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	e := &editor{lsptest.New(w.t, in, out, patience), w, cmd}
	w.t.Cleanup(func() {
		e.Close() // as a crashed editor does
		cmd.Wait()
	})
	e.Initialize(json.RawMessage(`{"experimental":{"ralph":{"version":2,"updates":true,"permissions":true}}}`), folders...)
	return e
}

// card is a loop in the editor's status.
type card struct {
	LoopID, Folder, Title, State, Text, Host, Origin string
	Can                                              []string
	Questions                                        []struct{ ID, Title string }
	Offers                                           []struct{ Command string }
}

// sees waits until the editor's last status has a loop as it should be.
func (e *editor) sees(what, title string, is func(card) bool) (found card) {
	e.w.t.Helper()
	e.Until(what, func(heard []lsptest.Message) bool {
		for _, m := range slices.Backward(heard) {
			if m.Method != "ralph/status" {
				continue
			}
			var status struct{ Loops []card }
			if err := json.Unmarshal(m.Params, &status); err != nil {
				e.w.t.Error(err)
			}
			i := slices.IndexFunc(status.Loops, func(c card) bool { return c.Title == title && is(c) })
			if i >= 0 {
				found = status.Loops[i]
			}
			return i >= 0
		}
		return false
	})
	return found
}

// log reads a loop's log from its beginning.
func (e *editor) log(id string) string {
	e.w.t.Helper()
	var all strings.Builder
	for cursor, more := "", true; more; {
		var page struct {
			Updates []json.RawMessage
			Cursor  string
			More    bool
		}
		answer := e.Must(e.Command("ralph.loop.read", map[string]any{"loopId": id, "after": cursor, "limit": 3}))
		if err := json.Unmarshal(answer, &page); err != nil {
			e.w.t.Fatal(err)
		}
		for _, u := range page.Updates {
			all.Write(append(u, '\n'))
		}
		cursor, more = page.Cursor, page.More
	}
	return all.String()
}

// An editor has the loops of the fleet among its own.
func TestAnEditorHasTheLoopsOfTheFleet(t *testing.T) {
	w := newWorld(t)
	here := filepath.Join(w.dir, "here")
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	e := w.edit(w.repo, here)
	w.worker("first", 2, w.addr, long)
	w.submit("one", "runs=3")
	w.submit("two", "runs=9 nap=1h detach")
	named := func(c card) map[string]any { return map[string]any{"loopId": c.LoopID, "folder": c.Folder} }

	one := e.sees("the end of one", "one", func(c card) bool { return c.State == "ended" })
	if one.Host != "first" || one.Origin != "file://"+w.repo || len(one.Offers) != 1 || one.Offers[0].Command != "ralph.loop.fetch" {
		t.Errorf("one is %+v", one)
	}
	if log := e.log(one.LoopID); strings.Count(log, `"phase":"begin"`) != 3 || !strings.Contains(log, "run 2") || strings.Contains(log, `"once"`) {
		t.Errorf("its log is\n%s", log)
	}
	if changes := string(e.Must(e.Command("ralph.loop.changes", named(one)))); !strings.Contains(changes, `"path":"count"`) || strings.Count(changes, `"iteration":`) != 3 {
		t.Errorf("it changed %s", changes)
	}
	file := named(one)
	file["path"], file["iteration"] = "count", 2
	if text := string(e.Must(e.Command("ralph.loop.file", file))); !strings.Contains(text, `"2\n"`) {
		t.Errorf("behind iteration 2 count is %s", text)
	}
	if got := string(e.Must(e.Command("ralph.loop.fetch", named(one)))); !strings.Contains(got, `"branch":"ralph/one"`) || w.git("-C", w.repo, "show", "ralph/one:count") != "3" {
		t.Errorf("fetched %s", got)
	}
	if m := e.Command("ralph.loop.undo", map[string]any{"loopId": one.LoopID, "iteration": 1}); m.Error == nil || !strings.Contains(m.Error.Message, "fetch its branch") {
		t.Errorf("an undo is answered with %+v", m)
	}

	// A loop of this machine beside them.
	e.Must(e.Command("ralph.loop.start", map[string]any{"folder": "file://" + here, "prompt": "name=local runs=2", "backend": os.Args[0], "completionPromise": "DONE"}))
	e.sees("the end of the local one", "name=local runs=2", func(c card) bool { return c.State == "ended" && c.Host == "" })

	two := e.sees("two at work", "two", func(c card) bool { return slices.Contains(c.Can, "next") })
	e.Must(e.Command("ralph.loop.steer", map[string]any{"loopId": two.LoopID, "text": "the magic word"}))
	e.Must(e.Command("ralph.loop.pause", named(two)))
	e.sees("that it is to pause", "two", func(c card) bool { return slices.Contains(c.Can, "resume") })
	w.until("a tool", w.hasDone("detached two 1"))

	kill(t, w.bus)
	e.sees("that the bus is away", "two", func(c card) bool { return strings.Contains(c.Text, "the bus is away") })
	if m := e.Command("ralph.loop.pause", named(two)); m.Error == nil || !strings.Contains(string(m.Error.Data), "bus_away") {
		t.Errorf("a command without a bus is answered with %+v", m)
	}
	w.serve()
	e.sees("the bus again", "two", func(c card) bool { return !strings.Contains(c.Text, "the bus is away") })

	if m := e.Command("ralph.loop.cancel", named(two)); m.Error != nil { // its worker may take long to find the bus again
		if !strings.Contains(m.Error.Message, "hasn't answered yet") {
			t.Errorf("cancelled with %+v", m.Error)
		}
	} else if left := ofWorld(proctest.Find(roleEnv+"=deaf"), w); len(left) > 0 {
		t.Errorf("left when the cancel was answered: %v", left)
	}
	e.sees("its end", "two", func(c card) bool { return c.State == "ended" })
}

// What the agent of a loop asks on its worker is asked here, and answered once.
func TestAnEditorAnswersForTheFleet(t *testing.T) {
	w := newWorld(t)
	e := w.edit(w.repo)
	e.Answer("ralph/permission", func(json.RawMessage) any { return json.RawMessage(`{"answer":"deny","text":"not today"}`) })
	w.worker("first", 1, w.addr, long)
	w.submitsAsker("one")
	asked := e.Hears("ralph/permission", "Bash git push")
	if !strings.Contains(string(asked.Params), `"loopId":"f`) || strings.Contains(string(asked.Params), "/first/") {
		t.Errorf("asked %s", asked.Params)
	}
	end := e.sees("its end", "one", func(c card) bool { return c.State == "ended" })
	if log := e.log(end.LoopID); !strings.Contains(log, "not today") {
		t.Errorf("its log is\n%s", log)
	}
	if n := len(slices.DeleteFunc(e.Heard(), func(m lsptest.Message) bool { return m.Method != "ralph/permission" })); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
