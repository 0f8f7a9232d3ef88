//go:build unix

package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// shell is an agent that is a script, and takes its prompt so.
func shell(name, script string, how backends.PromptMode) setup.Role {
	return setup.Role{Hat: hats.Hat{Name: name}, Backend: backends.Custom("/bin/sh", []string{"-c", script, name}, how, decode.FormatText)}
}

// whenDone calls a function when the call with that id has its result.
type whenDone struct {
	watcher
	id   string
	then func()
}

func (w *whenDone) Handle(e stream.Event) {
	w.watcher.Handle(e)
	if result, ok := e.(stream.ToolResult); ok && result.ID == w.id {
		w.then()
	}
}

func realSteps(t *testing.T, folder string, steps ...[]setup.Role) setup.Config {
	c := setup.Config{
		Folder: folder, Prompt: "Count", Roles: setup.Roles{Steps: steps}, Backend: steps[0][0].Backend, Values: settings.Values{Instruct: new(false)},
		Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}}, Limits: limits.Default(),
	}
	c.Limits.MaxIterations, c.Limits.MaxFailures = 1, 1
	return c
}

func TestAResultOfAMegabyteTravels(t *testing.T) {
	count := shell("counter", "wc -c; echo LOOP_COMPLETE", backends.PromptStdin)
	count.Task = "{previous}"
	large := shell("writer", "cat >/dev/null; head -c 1000000 /dev/zero | tr '\\0' 'a'", backends.PromptStdin)
	var w watcher
	l, err := drive(realSteps(t, t.TempDir(), []setup.Role{large}, []setup.Role{count}), setup.Host{}, &w)
	must.OK(t, err)
	if end := l.Wait(); end.Reason != loop.StopPromise || strings.Fields(w.ends[0].Text)[0] != "1000000" {
		t.Errorf("%+v\n%.200s\n%s", end, w.ends[0].Text, strings.Join(w.lines, "\n"))
	}
	// An agent that takes its prompt as an argument can't be given that.
	argument := shell("arguer", "echo $#", backends.PromptArg)
	if l, err = drive(realSteps(t, t.TempDir(), []setup.Role{large}, []setup.Role{argument}), setup.Host{}, &w); err != nil {
		t.Fatal(err)
	}
	if end := l.Wait(); !strings.HasPrefix(end.Error, "step 2 of 2 (arguer): starting ") || !strings.Contains(end.Error, "is too long for an argument") {
		t.Errorf("%+v", end)
	}
}

// The end of one ends nothing of those beside it, and each can be found if this process dies.
func TestAgentsAtOnceHaveProcessesOfTheirOwn(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	must.OK(t, err)
	pipe := filepath.Join(folder, "go")
	waits := shell("slow", "cat >/dev/null; mkfifo go; read line <go; echo $line", backends.PromptStdin)
	waits.ReadOnly = true
	quick := shell("quick", "cat >/dev/null; until [ -p go ]; do sleep 0.01; done; echo quick; echo LOOP_COMPLETE", backends.PromptStdin)
	var owner loopstate.Owner
	var working []string // as another process sees it
	w := &whenDone{id: "step-1-1-1", then: func() {
		owner, _, _ = file.Owner()
		status, err := loop.FolderStatus(folder)
		for _, a := range status.Agents.Outermost() {
			sub, _ := a.Call.Subagent()
			working = append(working, fmt.Sprintf("%s %d/%d", sub.Agent, sub.Step, sub.Of))
		}
		if err != nil {
			t.Error(err)
		}
		go func() { // it opens when the other reads
			if f, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil {
				f.WriteString("slow\n")
				f.Close()
			}
		}()
	}}
	l, err := drive(realSteps(t, folder, []setup.Role{quick, waits}), setup.Host{}, w)
	must.OK(t, err)
	l.Wait()
	if got := w.ends[0]; got.Outcome != loop.OutcomeOK || got.Text != "## quick\n\nquick\nLOOP_COMPLETE\n\n## slow\n\nslow" {
		t.Errorf("got %+v", got)
	}
	if status, err := loop.FolderStatus(folder); !slices.Equal(working, []string{"slow 1/1"}) || len(status.Agents) > 0 {
		t.Errorf("at work were %q, at the end %+v, %v", working, status.Agents, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if len(owner.Reapers) != 2 || owner.Reapers[0].Mark == owner.Reapers[1].Mark {
		t.Errorf("the record: %+v", owner)
	}
}
