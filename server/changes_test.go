package server

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// reviewed is a client in whose folder a loop has run that wrote a line into
// log.txt in each of its iterations, and a file of its own.
func reviewed(t *testing.T, capabilities string) (c *dialled, dir, id string) {
	t.Helper()
	dir = t.TempDir()
	must.Write(t, filepath.Join(dir, "log.txt"), "begun\n")
	c = dial(t, optedIn, dir)
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "writes"), "maxIterations": 2}))
	c.status(dir, inState("ended"))
	if capabilities != optedIn { // the morning after
		c.hangUp()
		c = dial(t, capabilities, dir)
	}
	return c, dir, started.LoopID
}

// changed are what a client is told that changed: a line per file.
func (c *dialled) changed(p wire.ChangesParams) (files []string, all answers.ChangesResult) {
	c.t.Helper()
	all = result[answers.ChangesResult](c, c.Command(wire.CommandChanges, p))
	for _, f := range all.Files {
		line := fmt.Sprintf("%s %s %s", f.Status, f.Path, f.Text)
		if f.Kept {
			line += " kept"
		}
		files = append(files, line)
	}
	return files, all
}

// file is the text of a file as it was.
func (c *dialled) file(p answers.FileParams) string {
	c.t.Helper()
	got := result[answers.FileResult](c, c.Command(wire.CommandFile, p))
	switch {
	case got.Absent:
		return "absent"
	case got.Text == nil:
		return fmt.Sprintf("bytes %q", got.Base64)
	}
	return *got.Text
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return "absent"
	}
	return string(data)
}

func same[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A loop is reviewed in the morning: by an editor that was started anew, by the
// loop's id and by its folder.
func TestALoopIsReviewedAfterARestart(t *testing.T) {
	t.Parallel()
	for _, restart := range []string{optedIn, strings.Replace(optedIn, `"updates":true`, `"updates":false`, 1)} {
		c, dir, id := reviewed(t, restart)
		for _, loop := range []wire.LoopParams{{}, {LoopID: id}, {Folder: wire.FileURI(dir)}, {LoopID: id, Folder: wire.FileURI(dir)}} {
			files, all := c.changed(wire.ChangesParams{LoopParams: loop})
			same(t, "all files", files, "added 1.txt +1 -0", "added 2.txt +1 -0", "modified log.txt +2 -0")
			if all.Text != "3 files, +4 -0" || all.LoopID != id || all.Folder != wire.FileURI(dir) || all.Class != wire.ClassInfo || all.To != nil {
				t.Errorf("got %+v", all)
			}
			if its := all.Iterations; len(its) != 2 || its[1].Iteration != 2 || its[1].Text != "2 files, +2 -0" || its[1].Added != 2 {
				t.Errorf("iterations %+v", its)
			}
			if got := c.file(answers.FileParams{LoopParams: loop, Path: "log.txt", Iteration: new(1)}); got != "begun\nline 1\n" {
				t.Errorf("after iteration 1 log.txt is %q", got)
			}
		}
		files, all := c.changed(wire.ChangesParams{From: 1, To: new(2), Paths: []string{"log.txt"}})
		same(t, "iteration 2 in log.txt", files, "modified log.txt +1 -0")
		if all.From != 1 || *all.To != 2 || all.Files[0].URI != wire.FileURI(filepath.Join(dir, "log.txt")) {
			t.Errorf("got %+v", all)
		}
		_, all = c.changed(wire.ChangesParams{From: 0, To: new(1), Places: true})
		same(t, "a new file's place", all.Files[0].Places, answers.ChangedPlace{Line: 1, Text: "+1 -0 1"})
		same(t, "a changed file's place", all.Files[1].Places, answers.ChangedPlace{Line: 2, Text: "+1 -0 line 1"})
		files, all = c.changed(wire.ChangesParams{From: 1e9})
		same(t, "behind all iterations", files)
		if all.Text != "nothing changed" {
			t.Errorf("got %+v", all)
		}
		for want, p := range map[string]answers.FileParams{
			"absent":                  {Path: "1.txt", Iteration: new(0)},
			"begun\n":                 {Path: "log.txt"},
			"begun\nline 1\n":         {Path: "log.txt", Before: new(2)},
			"begun\nline 1\nline 2\n": {Path: "log.txt", Iteration: new(1000000000)},
		} {
			if got := c.file(p); got != want {
				t.Errorf("%+v: %q, want %q", p, got, want)
			}
		}
	}
}

func TestAnUndoAndItsRedo(t *testing.T) {
	t.Parallel()
	c, dir, id := reviewed(t, optedIn)
	log := filepath.Join(dir, "log.txt")
	undo := func(p answers.UndoParams) answers.UndoResult {
		t.Helper()
		return result[answers.UndoResult](c, c.Command(wire.CommandUndo, p))
	}
	dry := undo(answers.UndoParams{Iteration: 1, DryRun: true})
	same(t, "a dry run", dry.Undone, "1.txt")
	if len(dry.Refused) != 1 || dry.Refused[0].Path != "log.txt" || dry.Text != "1 file would be undone; 1 is left as it is" || dry.Class != wire.ClassWarning || dry.Offers != nil {
		t.Errorf("got %+v", dry)
	}
	if got := readFile(t, filepath.Join(dir, "1.txt")); got != "1\n" {
		t.Errorf("1.txt is %q", got)
	}
	done := undo(answers.UndoParams{LoopParams: wire.LoopParams{LoopID: id}, Since: 2})
	same(t, "an undo", done.Undone, "2.txt", "log.txt")
	if done.Text != "2 files undone" || done.Class != wire.ClassOK || readFile(t, log) != "begun\nline 1\n" || len(done.Offers) != 1 {
		t.Errorf("got %+v, log.txt is %q", done, readFile(t, log))
	}
	dry = result[answers.UndoResult](c, c.Command(wire.CommandRedo, answers.RedoParams{DryRun: true}))
	if same(t, "a redo's dry run", dry.Undone, "2.txt", "log.txt"); dry.Text != "2 files would be redone" || readFile(t, log) != "begun\nline 1\n" {
		t.Errorf("got %+v, log.txt is %q", dry, readFile(t, log))
	}
	redone := result[answers.UndoResult](c, c.Command(done.Offers[0].Command, done.Offers[0].Arguments[0]))
	same(t, "its redo", redone.Undone, "2.txt", "log.txt")
	if redone.Text != "2 files redone" || readFile(t, log) != "begun\nline 1\nline 2\n" {
		t.Errorf("got %+v, log.txt is %q", redone, readFile(t, log))
	}
	again := result[answers.UndoResult](c, c.Command(wire.CommandRedo, wire.LoopParams{}))
	if len(again.Undone) != 0 || again.Text != "there is no undo to take back" || again.Class != wire.ClassInfo {
		t.Errorf("got %+v", again)
	}
	none := undo(answers.UndoParams{Iteration: 1e9})
	if len(none.Undone) != 0 || none.Text != "there is nothing to take back" {
		t.Errorf("got %+v", none)
	}
}

// What is kept is so for all who look, until the loop changes it again.
func TestWhatIsKeptStaysKept(t *testing.T) {
	t.Parallel()
	c, dir, _ := reviewed(t, optedIn)
	keep := func(p answers.KeepParams) answers.KeepResult {
		t.Helper()
		return result[answers.KeepResult](c, c.Command(wire.CommandKeep, p))
	}
	kept := keep(answers.KeepParams{Paths: []string{"log.txt", "2.txt"}})
	if same(t, "kept", kept.Kept, "2.txt", "log.txt"); kept.Text != "2 files kept" {
		t.Errorf("got %+v", kept)
	}
	other := dial(t, optedIn, dir)
	files, all := other.changed(wire.ChangesParams{})
	same(t, "elsewhere", files, "added 1.txt +1 -0", "added 2.txt +1 -0 kept", "modified log.txt +2 -0 kept")
	if all.Reviewed != 2 {
		t.Errorf("%d are reviewed", all.Reviewed)
	}
	const base = "begun\nline 1\nline 2\n"
	if got := other.file(answers.FileParams{Path: "log.txt"}); got != base {
		t.Errorf("the base of a review is %q", got)
	}
	part := answers.KeepParams{Paths: []string{"1.txt"}, Text: new("half\n")}
	if got := keep(part); got.Text != "one change kept" || len(got.Kept) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := other.file(answers.FileParams{Path: "1.txt"}); got != "half\n" {
		t.Errorf("the base of a review is %q", got)
	}
	part.Text = new(readFile(t, filepath.Join(dir, "1.txt")))
	same(t, "kept by its last change", keep(part).Kept, "1.txt")
	keep(answers.KeepParams{Kept: new(false), Paths: []string{"1.txt"}})
	for _, p := range []answers.KeepParams{{Text: new("")}, {Text: new(""), Paths: []string{"a", "b"}}, {Text: new(""), Paths: part.Paths, Iteration: new(1)}, {Text: new(""), Paths: part.Paths, Kept: new(false)}, {Text: new(""), Paths: []string{"untouched"}}} {
		if r := c.Command(wire.CommandKeep, p); r.Error == nil {
			t.Errorf("%+v: %+v", p, r)
		}
	}
	if got := keep(answers.KeepParams{Kept: new(false), Paths: []string{"2.txt"}}); got.Text != "1 file to review again" {
		t.Errorf("got %+v", got)
	}
	c.Must(c.Command(wire.CommandResume, wire.ResumeParams{Text: "--max-iterations 3"}))
	c.status(dir, func(l wire.LoopStatus) bool { return l.State == "ended" && l.Iteration == 3 })
	files, _ = other.changed(wire.ChangesParams{})
	same(t, "after another iteration", files, "added 1.txt +1 -0", "added 2.txt +1 -0", "added 3.txt +1 -0", "modified log.txt +3 -0")
	if got := other.file(answers.FileParams{Path: "log.txt"}); got != base {
		t.Errorf("the base of a review is %q", got)
	}
}

// While an agent works nothing is undone, and the offer pauses it.
func TestNothingIsUndoneUnderAnAgentsHands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := dial(t, optedIn, dir)
	owner.Must(owner.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits")}))
	owner.status(dir, inState("running"))
	owner.Hears("ralph/update", "working")
	other := dial(t, optedIn, dir) // another process may undo as well
	for _, c := range []*dialled{owner, other} {
		for _, m := range []json.RawMessage{json.RawMessage(`{"iteration":1}`), json.RawMessage(`{"since":1}`)} {
			if got := c.Command(wire.CommandUndo, m); reason(t, got) != wire.ReasonAtWork || !strings.Contains(string(got.Error.Data), `"iteration":1`) {
				t.Errorf("%s: %s", got.Error.Message, got.Error.Data)
			}
		}
		if got := c.Command(wire.CommandRedo, wire.LoopParams{}); reason(t, got) != wire.ReasonAtWork {
			t.Errorf("a redo: %s", got.Error.Data)
		}
		// What the agent has done until now is its own, whoever looks.
		if got := c.Command(wire.CommandUndo, answers.UndoParams{Iteration: 1, DryRun: true}); reason(t, got) != wire.ReasonAtWork {
			t.Errorf("a dry run: %s", got.Error.Data)
		}
	}
	var data struct{ Offers []wire.Command }
	if err := json.Unmarshal(other.Command(wire.CommandUndo, answers.UndoParams{Iteration: 1}).Error.Data, &data); err != nil || len(data.Offers) != 1 {
		t.Fatalf("offers %+v, %v", data, err)
	}
	other.Must(other.Command(data.Offers[0].Command, data.Offers[0].Arguments[0]))
	must.Write(t, filepath.Join(dir, "go"), "")
	owner.status(dir, inState("paused"))
	other.Must(other.Command(wire.CommandUndo, answers.UndoParams{Iteration: 1}))
	if got := readFile(t, filepath.Join(dir, "go")); got != "absent" {
		t.Errorf("go is %q", got)
	}
}

func TestWhatCannotBeReviewed(t *testing.T) {
	t.Parallel()
	_, dir, id := reviewed(t, optedIn)
	c := dial(t, strings.Replace(optedIn, `"version":2`, `"version":2,"trusted":true`, 1), dir)
	empty := t.TempDir()
	off := t.TempDir()
	must.Write(t, filepath.Join(off, "ralph.toml"), "[changes]\nkeep = \"0\"\n")
	in := func(folder string) wire.LoopParams { return wire.LoopParams{Folder: wire.FileURI(folder)} }
	for name, tt := range map[string]struct {
		command  string
		argument any
		reason   string
		text     string
	}{
		"no loop was here": {wire.CommandChanges, in(empty), wire.ReasonNoSnapshots, "no snapshots are kept of a loop here"},
		"switched off":     {wire.CommandChanges, in(off), wire.ReasonNoSnapshots, `changes.keep is "0"`},
		"another's loop":   {wire.CommandChanges, wire.LoopParams{Folder: wire.FileURI(empty), LoopID: id}, wire.ReasonNoSnapshots, ""},
		"unknown loop":     {wire.CommandFile, map[string]any{"loopId": "../../" + id, "path": "log.txt"}, wire.ReasonNoSnapshots, ""},
		"no such folder":   {wire.CommandUndo, map[string]any{"folder": wire.FileURI(empty) + "/x", "since": 1}, wire.ReasonNoSnapshots, ""},
		"before the loop":  {wire.CommandChanges, map[string]any{"from": -1}, "", "from is -1"},
		"backwards":        {wire.CommandChanges, map[string]any{"from": 2, "to": 1}, "", "to is 1"},
		"outside":          {wire.CommandChanges, map[string]any{"paths": []string{"../x"}}, "", "not in the loop's folder"},
		"half a quote":     {wire.CommandChanges, map[string]any{"paths": []string{`"x`}}, "", "quote"},
		"the root":         {wire.CommandFile, answers.FileParams{Path: "/etc/passwd"}, "", "not in the loop's folder"},
		"no path":          {wire.CommandFile, answers.FileParams{}, "", "not in the loop's folder"},
		"iteration -1":     {wire.CommandFile, map[string]any{"path": "log.txt", "iteration": -1}, "", "iteration is -1"},
		"before 0":         {wire.CommandFile, map[string]any{"path": "log.txt", "before": 0}, "", "before is 0"},
		"both":             {wire.CommandFile, map[string]any{"path": "log.txt", "before": 1, "iteration": 1}, "", "not both"},
		"undo of what":     {wire.CommandUndo, map[string]any{}, "", "say which iteration"},
		"undo of both":     {wire.CommandUndo, map[string]any{"iteration": 1, "since": 1}, "", "not both"},
		"undo of -1":       {wire.CommandUndo, map[string]any{"iteration": -1}, "", "counted from 1"},
		"undo outside":     {wire.CommandUndo, map[string]any{"iteration": 1, "paths": []string{"a/../../x"}}, "", "not in the loop's folder"},
		"keep of -1":       {wire.CommandKeep, map[string]any{"iteration": -1}, "", "iteration is -1"},
		"keep outside":     {wire.CommandKeep, map[string]any{"paths": []string{"/"}}, "", "not in the loop's folder"},
	} {
		m := c.Command(tt.command, tt.argument)
		var data struct{ Key string }
		json.Unmarshal(m.Error.Data, &data)
		if (tt.reason == "") != (data.Key != "") || data.Key != "" && !strings.Contains(string(lsptest.JSON(tt.argument)), `"`+data.Key+`":`) && data.Key != "iteration" {
			t.Errorf("%s: the key %q of %+v", name, data.Key, tt.argument)
		}
		if got := reason(t, m); got != tt.reason || !strings.Contains(m.Error.Message, tt.text) || (tt.reason == "") != (m.Error.Code == rpc.CodeInvalidParams) {
			t.Errorf("%s: %d %q %s", name, m.Error.Code, got, m.Error.Message)
		}
	}
	if got := c.file(answers.FileParams{Path: ".git/config"}); got != "absent" {
		t.Errorf(".git/config is %q", got)
	}
}

// A name with any bytes comes back as it went out.
func TestANameWithAnyBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	odd, quote := "caf\xe9 \"\\\n.txt", `"quoted"`
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "waits")
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agent, "maxIterations": 1}))
	c.Hears("ralph/update", "working")
	must.Write(t, filepath.Join(dir, odd), "odd\n")
	must.Write(t, filepath.Join(dir, quote), "quote\n")
	must.Write(t, filepath.Join(dir, "go"), "")
	c.status(dir, inState("ended"))
	_, all := c.changed(wire.ChangesParams{})
	for _, f := range all.Files {
		name, err := answers.PathFrom(f.Path)
		if path, uriErr := wire.PathOf(f.URI); err != nil || uriErr != nil || path != filepath.Join(dir, name) {
			t.Errorf("%q is %q (%v), its URI %s", f.Path, name, err, f.URI)
		}
		want := map[string]string{odd: "odd\n", quote: "quote\n", "go": ""}[name]
		if got := c.file(answers.FileParams{Path: f.Path, Iteration: new(1)}); got != want {
			t.Errorf("%s: %q", f.Path, got)
		}
		kept := result[answers.KeepResult](c, c.Command(wire.CommandKeep, answers.KeepParams{Paths: []string{f.Path}}))
		same(t, "kept", kept.Kept, f.Path)
		undone := result[answers.UndoResult](c, c.Command(wire.CommandUndo, answers.UndoParams{Iteration: 1, Paths: []string{f.Path}}))
		if same(t, "undone", undone.Undone, f.Path); readFile(t, filepath.Join(dir, name)) != "absent" {
			t.Errorf("%q is still there", name)
		}
	}
	if len(all.Files) != 3 {
		t.Errorf("got %+v", all.Files)
	}
}

func TestWithoutGitNothingIsReviewed(t *testing.T) {
	c, _, _ := reviewed(t, optedIn)
	t.Setenv("PATH", t.TempDir())
	if _, err := exec.LookPath("git"); err == nil {
		t.Fatal("there is a git")
	}
	m := c.Command(wire.CommandChanges, wire.ChangesParams{})
	if reason(t, m) != wire.ReasonNoSnapshots || !strings.Contains(m.Error.Message, "git is not installed") {
		t.Errorf("got %s", m.Error.Message)
	}
}
