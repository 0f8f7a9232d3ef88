package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// owned is a folder whose loop this test drives.
type owned struct {
	t    *testing.T
	file *loopstate.File
}

func (o owned) lock(startedAt time.Time) *loopstate.Lock {
	o.t.Helper()
	lock, err := o.file.Lock(loopstate.Owner{StartedAt: startedAt, LoopID: "ralph-b"})
	must.OK(o.t, err)
	return lock
}

// patience bounds every wait: only what hangs takes longer.
const patience = proctest.Patience

// cancelled is what CancelFolder returned.
type cancelled struct {
	iteration int
	err       error
}

func beginToCancel(t *testing.T, folder string) <-chan cancelled {
	answers := make(chan cancelled, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		iteration, err := CancelFolder(ctx, folder, "")
		answers <- cancelled{iteration, err}
	}()
	return answers
}

// Whoever cancels a loop whose editor leaves it right then wants it gone, heard or not.
func TestALoopIsCancelledWhoseOwnerLeaves(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	if err == nil {
		err = file.Create(loopstate.State{Active: true, Iteration: 3, Prompt: "Do it", LoopID: "ralph-b"})
	}
	must.OK(t, err)
	lock := owned{t, file}.lock(time.Now()) // it doesn't listen
	answer := beginToCancel(t, folder)
	time.AfterFunc(30*time.Millisecond, func() { lock.Release() })
	if got := <-answer; got.err != nil || got.iteration != 3 {
		t.Errorf("got %+v", got)
	}
	if _, err := file.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its state file is still there: %v", err)
	}
}

// What another process waits for is told by how its last runs went.
func TestTheWaitOfAnotherProcess(t *testing.T) {
	for reason, row := range map[string]loopstate.InARow{
		WaitRateLimit:  {RateLimits: 2, Failures: 3},
		WaitOverloaded: {Overloads: 2, Failures: 3},
		WaitNetwork:    {Unreached: 2, Failures: 3},
		WaitBackoff:    {Failures: 2, Stalls: 1},
		WaitPacing:     {ShortRuns: 3},
		"":             {ShortRuns: 1},
	} {
		s := loopstate.State{Active: true, Iteration: 3, ResumeAt: time.Now().Add(time.Hour), InARow: row}
		want := 2
		if reason == "" {
			want = 0
		}
		if st := StatusOf(s, "", "", true); st.State != StateWaiting || st.Retry.Reason != reason || st.Retry.Attempt != want {
			t.Errorf("%+v shows as %s: %+v", row, st.State, st.Retry)
		}
	}
}

// Who names a loop means that one: another one that is in its folder by now is left alone,
// and so is one that somebody goes on with when it was to be discarded.
func TestAnotherLoopThanTheNamedOneIsLeftAlone(t *testing.T) {
	raised := 9
	for name, do := range map[string]func(folder, id string) error{
		"cancel":  func(folder, id string) error { _, err := CancelFolder(t.Context(), folder, id); return err },
		"discard": DiscardFolder,
		"pause":   func(folder, id string) error { return Other{Folder: folder, LoopID: id}.Pause() },
		"resume":  func(folder, id string) error { return Other{Folder: folder, LoopID: id}.Resume(Patch{}) },
		"steer": func(folder, id string) error {
			_, err := Other{Folder: folder, LoopID: id}.Steer(Steering{Text: "Mind the tests", Once: true})
			return err
		},
		"update": func(folder, id string) error {
			return Other{Folder: folder, LoopID: id}.Update(Patch{Given: limits.Given{MaxIterations: &raised}})
		},
	} {
		for _, driven := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, driven %v", name, driven), func(t *testing.T) {
				folder := t.TempDir()
				file, err := loopstate.Open(folder)
				must.OK(t, err)
				if driven {
					defer owned{t, file}.lock(time.Now()).Release()
				}
				must.OK(t, file.Create(loopstate.State{Active: true, Iteration: 3, Prompt: "Do it", LoopID: "ralph-b"}))
				before, _ := os.ReadFile(file.Path())
				ids := []string{"ralph-a"}
				if name == "discard" && driven {
					ids = append(ids, "ralph-b", "")
				}
				for _, id := range ids {
					if err := do(folder, id); !errors.Is(err, ErrNotRunning) {
						t.Errorf("%q: %v", id, err)
					}
				}
				if now, err := os.ReadFile(file.Path()); err != nil || string(now) != string(before) {
					t.Errorf("the file says %q, %v", now, err)
				}
			})
		}
	}
}

// An undo would take the files away that a check of them reads.
func TestNobodyChangesFilesUnderAnAgentOrACheck(t *testing.T) {
	for name, tt := range map[string]struct {
		state loopstate.State
		want  string
	}{
		"between iterations":        {loopstate.State{Iteration: 3}, ""},
		"an iteration":              {loopstate.State{Iteration: 3, Begun: true}, "iteration 3 is at work in the folder"},
		"a check":                   {loopstate.State{Iteration: 4, Verification: loopstate.Verification{Checking: true}}, "the work of iteration 3 is being verified in the folder"},
		"a check that told nothing": {loopstate.State{Iteration: 4, Verification: loopstate.Verification{Checking: true, Unchecked: "took too long"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, err := loopstate.Open(dir)
			if err == nil {
				tt.state.Prompt, tt.state.Active, tt.state.LoopID = "Do it", true, "ralph-b"
				err = file.Create(tt.state)
			}
			must.OK(t, err)
			if err := checkAtWork(dir); err != nil {
				t.Errorf("nobody drives it: %v", err)
			}
			lock := owned{t, file}.lock(time.Now())
			defer lock.Release()
			if got := ErrText(checkAtWork(dir)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTheStatusOfAnotherProcessSaysThatItVerifies(t *testing.T) {
	for name, tt := range map[string]struct {
		state   loopstate.State
		want    State
		tool    string
		pausing bool
	}{
		"at work":          {loopstate.State{Active: true, Begun: true}, StateRunning, "", false},
		"verifying":        {loopstate.State{Active: true, Verification: loopstate.Verification{Checking: true}}, StateRunning, "verifying", false},
		"about to pause":   {loopstate.State{Verification: loopstate.Verification{Checking: true}}, StateRunning, "verifying", true},
		"waits for a word": {loopstate.State{Verification: loopstate.Verification{Checking: true, Unchecked: "took too long"}}, StatePaused, "", false},
	} {
		tt.state.Iteration = 3
		got := StatusOf(tt.state, "", "", true)
		tool := ""
		if got.Tool != nil {
			tool = got.Tool.Call.Name
		}
		if got.State != tt.want || tool != tt.tool || got.Pausing != tt.pausing {
			t.Errorf("%s: %s, %q, pausing %v", name, got.State, tool, got.Pausing)
		}
	}
}

// An agent that outlived who drove its loop is named, and whoever discards the loop ends it.
func TestAnAgentThatIsLeftRunningIsNamedAndEnded(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	if err == nil {
		err = file.Create(loopstate.State{Active: true, Iteration: 3, Prompt: "Do it", LoopID: "ralph-left"})
	}
	must.OK(t, err)
	agent := exec.Command("sort") // every system has one that waits for its input
	in, err := agent.StdinPipe()
	if err == nil {
		err = agent.Start()
	}
	must.OK(t, err)
	defer in.Close()
	ended := make(chan error, 1)
	go func() { ended <- agent.Wait() }()
	start, err := loopstate.ProcessStart(agent.Process.Pid)
	must.OK(t, err)
	record, err := json.Marshal(loopstate.Owner{PID: os.Getpid(), ProcessStart: "another", LoopID: "ralph-left", Standing: loopstate.Standing{Agents: []loopstate.Agent{
		{PID: os.Getpid(), ProcessStart: "another, which had this number"}, {PID: agent.Process.Pid, ProcessStart: path.Base(start)}}}}) // without the boot, as agents have it
	dir, _ := registry.Dir(file.Folder(), "ralph-left")
	kept := filepath.Join(dir, registry.OwnerName)
	if err = errors.Join(err, os.WriteFile(filepath.Join(folder, ".pi", "ralph-loop.local.lock"), record, 0o600), os.WriteFile(kept, record, 0o600)); err != nil {
		t.Fatal(err)
	}
	st, err := FolderStatus(folder)
	if err != nil || st.Owner != nil || !slices.Equal(st.LeftRunning, []int{agent.Process.Pid}) {
		t.Errorf("left running: %v, by %v, %v; want %d", st.LeftRunning, st.Owner, err, agent.Process.Pid)
	}
	// Who writes into the folder ends nothing by that.
	must.OK(t, os.Rename(kept, kept+".away"))
	if st, err := FolderStatus(folder); err != nil || len(st.LeftRunning) > 0 {
		t.Errorf("by the lock's file alone, left running: %v, %v", st.LeftRunning, err)
	}
	must.OK(t, os.Rename(kept+".away", kept))
	if err := DiscardFolder(folder, "ralph-left"); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("it runs on")
	}
}
