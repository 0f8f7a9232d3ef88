package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// leftover is an agent that works, in a folder with the record of an owner that
// was killed with its reaper, or lives.
func leftover(t *testing.T, lives bool) (folder string, agent *backends.Process) {
	t.Helper()
	folder = t.TempDir()
	scope, err := backends.OpenScope("ralph-dead")
	must.OK(t, err)
	t.Cleanup(func() { scope.Close() })
	agent, err = backends.Start(backends.Spec{
		Backend: backends.Custom("tail", []string{"-f", os.DevNull}, backends.PromptStdin, decode.FormatText),
		Dir:     folder, Scope: scope,
	})
	must.OK(t, err)
	owner := loopstate.Owner{PID: os.Getpid(), LoopID: "ralph-dead", Standing: loopstate.Standing{Reapers: []loopstate.Reaper{{Mark: scope.Remains().Mark}}}}
	if owner.ProcessStart = "another"; lives {
		if owner.ProcessStart, err = loopstate.ProcessStart(owner.PID); err != nil {
			t.Fatal(err)
		}
	}
	record, err := json.Marshal(owner)
	must.OK(t, err)
	file, err := loopstate.Open(folder)
	must.OK(t, err)
	must.OK(t, file.Create(loopstate.State{Active: true, Iteration: 1, Values: settings.Values{Given: limits.Given{MaxIterations: new(1)}}, Prompt: "x", LoopID: "ralph-dead"}))
	must.OK(t, errors.Join(os.WriteFile(filepath.Join(folder, ".pi", "ralph-loop.local.lock"), record, 0o600), os.WriteFile(recordOf(t, folder), record, 0o600)))
	return folder, agent
}

// recordOf is where the owner of the loop says how that stands.
func recordOf(t *testing.T, folder string) string {
	t.Helper()
	dir, err := registry.Dir(paths.Real(folder), "ralph-dead")
	must.OK(t, err)
	return filepath.Join(dir, registry.OwnerName)
}

// What ended the process that drove a loop is what the loop's status says.
func TestTheStatusSaysThatAProcessHung(t *testing.T) {
	folder, agent := leftover(t, false)
	record, err := os.OpenFile(recordOf(t, folder), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = record.WriteString(`{"hung":"it answered\nnothing"}`)
	}
	must.OK(t, err)
	record.Close()
	if s, err := loop.FolderStatus(folder); err != nil || s.State != loop.StateInterrupted || s.Error != "it answered nothing" {
		t.Errorf("it stands at %s: %q, %v", s.State, s.Error, err)
	}
	agent.Stop(0)
	agent.Wait()
}

func TestWhatADeadOwnerLeftIsEnded(t *testing.T) {
	for name, next := range map[string]func(t *testing.T, folder string){
		"by the next start": func(t *testing.T, folder string) {
			l, err := drive(setup.Config{Folder: folder, Continue: true,
				Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}}, Values: settings.Values{Instruct: new(false)},
				Backend: backends.Custom("/bin/echo", nil, backends.PromptStdin, decode.FormatText)}, setup.Host{}, &timer{})
			must.OK(t, err)
			l.Wait()
		},
		"by a cancel": func(t *testing.T, folder string) {
			must.OK(t, must.Err(loop.CancelFolder(context.Background(), folder, "")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder, agent := leftover(t, false)
			next(t, folder)
			if exit := agent.Wait(); exit.Stopped {
				t.Errorf("got %+v", exit)
			}
		})
		t.Run(name+", but its owner lives elsewhere", func(t *testing.T) {
			folder, agent := leftover(t, true)
			next(t, folder)
			if start, err := loopstate.ProcessStart(agent.PID()); err != nil {
				t.Errorf("it is gone: %s, %v", start, err)
			}
			agent.Stop(0)
			if exit := agent.Wait(); !exit.Stopped {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

// The record leads to the agents before there is one.
func TestTheRecordHasTheMarkFromTheStart(t *testing.T) {
	folder := t.TempDir()
	file, err := loopstate.Open(folder)
	must.OK(t, err)
	l, err := drive(setup.Config{Folder: folder, Prompt: "x", Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}},
		Limits: limits.Default(), Values: settings.Values{Instruct: new(false)},
		Backend: backends.Custom("tail", []string{"-f", os.DevNull}, backends.PromptStdin, decode.FormatText)}, setup.Host{}, &timer{})
	must.OK(t, err)
	owner, held, err := file.Owner()
	if err != nil || !held || len(owner.Reapers) != 1 || owner.Reapers[0].Mark != l.engine.scope.Remains().Mark || len(owner.Agents) > 0 {
		t.Errorf("the record: %+v, %t, %v", owner, held, err)
	}
	l.Cancel()
}
